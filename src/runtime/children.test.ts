import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Net, net, Port, port, world } from '../../test/simulation/world.ts';
import { Children } from './children.ts';
import { Informers } from './informers.ts';

const inDefault = (name: string) => ({ namespace: 'default', name });

async function withChildren() {
  const all = world();
  const informers = new Informers({ client: all.client, system: all.clock, log: all.log, freeze: true });
  const caches = { of: informers.of.bind(informers) } as const;
  informers.of(Port);
  const children = new Children({ client: all.client, caches: { of: (kind) => caches.of(kind).cache } });
  const owner = await all.client.create(Net, net('owner'));
  await all.clock.advance(0);
  const applies = (): number => all.api.requests.get('patch ports') ?? 0;
  return { ...all, children, owner, applies, stop: () => informers.stop() };
}

describe('children', () => {
  it('are applied under their owner, and not again while nothing changes', async () => {
    const { children, owner, applies, api, clock, stop } = await withChildren();
    for (let i = 0; i < 3; i += 1) {
      await children.apply(Port, port('p', 'x'), owner);
      await clock.advance(0);
    }
    assert.equal(applies(), 1);
    const [reference] = api.objects(Port)[0]?.metadata.ownerReferences ?? [];
    assert.deepEqual([reference?.uid, reference?.controller], [owner.metadata.uid, true]);
    await stop();
  });

  it('are applied again when other words are wanted, when somebody changed them, and when they are gone', async () => {
    const { children, owner, applies, api, clock, client, stop } = await withChildren();
    const keep = async (net: string): Promise<string | undefined> => {
      await clock.advance(0);
      await children.apply(Port, port('p', net), owner);
      await clock.advance(0);
      return api.objects(Port)[0]?.spec.net;
    };
    assert.equal(await keep('x'), 'x');
    assert.equal(await keep('y'), 'y');
    const found = (await client.get(Port, 'p', 'default')) ?? assert.fail('gone');
    await client.update(Port, { ...found, spec: { net: 'z' } });
    assert.equal(await keep('y'), 'y');
    await client.delete(Port, inDefault('p'));
    assert.equal(await keep('y'), 'y');
    assert.equal(applies(), 4);
    await stop();
  });

  it('cannot be owned across namespaces', async () => {
    const { children, owner, stop } = await withChildren();
    const elsewhere = { metadata: { name: 'p', namespace: 'other' }, spec: { net: 'x' } };
    await assert.rejects(
      children.apply(Port, elsewhere, owner),
      /ports.sim.netloom.test other\/p cannot be owned by Net default\/owner/,
    );
    await stop();
  });
});
