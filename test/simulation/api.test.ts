import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { ApiError } from '../../src/api/status.ts';
import { Client } from '../../src/runtime/client.ts';
import { Unreachable } from '../../src/runtime/transport.ts';
import { storm } from './faults.ts';
import { Net, net, Port, port, world } from './world.ts';

const refusedWith = (code: number) => (error: unknown) => error instanceof ApiError && error.code === code;
const inDefault = (name: string) => ({ namespace: 'default', name });

describe('the simulated server', () => {
  it('gives every change a version of its own, and none to a write that changes nothing', async () => {
    const { client } = world();
    const first = await client.create(Net, net('a'));
    const same = await client.update(Net, first);
    const second = await client.update(Net, { ...first, spec: { size: 2 } });
    assert.equal(same.metadata.resourceVersion, first.metadata.resourceVersion);
    assert.notEqual(second.metadata.resourceVersion, first.metadata.resourceVersion);
    assert.deepEqual([first.metadata.generation, second.metadata.generation], [1, 2]);
  });

  it('refuses a write that was made from an older version', async () => {
    const { client } = world();
    const first = await client.create(Net, net('a'));
    await client.update(Net, { ...first, spec: { size: 2 } });
    await assert.rejects(client.update(Net, { ...first, spec: { size: 3 } }), refusedWith(409));
    const merge = { metadata: { resourceVersion: first.metadata.resourceVersion }, spec: { size: 3 } };
    await assert.rejects(client.patch(Net, inDefault('a'), { merge }), refusedWith(409));
  });

  it('keeps the status apart from everything else', async () => {
    const { client } = world();
    const created = await client.create(Net, net('a'));
    const told = await client.updateStatus(Net, { ...created, spec: { size: 9 }, status: { state: 'up' } });
    assert.deepEqual([told.spec.size, told.status?.state, told.metadata.generation], [1, 'up', 1]);
    const changed = await client.update(Net, { ...told, spec: { size: 2 }, status: { state: 'down' } });
    assert.deepEqual([changed.spec.size, changed.status?.state, changed.metadata.generation], [2, 'up', 2]);
  });

  it('keeps an object that is being deleted until its last finalizer is gone', async () => {
    const { client, api } = world();
    const { metadata, spec } = net('a');
    await client.create(Net, { metadata: { ...metadata, finalizers: ['x/y'] }, spec });
    await client.delete(Net, inDefault('a'));
    const dying = await client.get(Net, 'a', 'default');
    assert.notEqual(dying?.metadata.deletionTimestamp, undefined);
    await client.patch(Net, inDefault('a'), { merge: { metadata: { finalizers: null } } });
    assert.deepEqual(api.objects(Net), []);
  });

  it('lets several appliers share an object and refuses to take a field from another', async () => {
    const { client, api } = world();
    const other = new Client({ transport: api.transport(), fieldManager: 'other' });
    await client.apply(Net, { metadata: inDefault('a'), spec: { size: 1, pool: 'p' } });
    await other.apply(Net, { metadata: { ...inDefault('a'), labels: { l: '1' } } });
    await assert.rejects(other.apply(Net, { metadata: inDefault('a'), spec: { size: 2 } }), refusedWith(409));
    await client.apply(Net, { metadata: inDefault('a'), spec: { size: 1 } });
    const [found] = api.objects(Net);
    assert.deepEqual([found?.spec, found?.metadata.labels], [{ size: 1 }, { l: '1' }]);
  });

  it('collects what is left without an owner, in the foreground if asked', async () => {
    const { client, api } = world();
    const owner = await client.create(Net, net('a'));
    const { apiVersion, kind, metadata } = owner;
    const { metadata: portMeta, spec } = port('p', 'a');
    const ownerReferences = [{ apiVersion, kind, name: 'a', uid: metadata.uid, controller: true }];
    await client.create(Port, { metadata: { ...portMeta, ownerReferences }, spec });
    await client.delete(Net, inDefault('a'), { propagation: 'Foreground' });
    assert.equal(api.objects(Net).length, 1);
    api.collectGarbage();
    assert.deepEqual([api.objects(Net), api.objects(Port)], [[], []]);
  });

  it('answers in pages', async () => {
    const { client, api } = world();
    for (let i = 0; i < 501; i += 1) await client.create(Net, net(`n${String(i).padStart(3, '0')}`));
    assert.equal((await client.list(Net)).length, 501);
    assert.equal(api.requests.get('list nets'), 2);
  });

  it('does the same things in the same order for the same seed', async () => {
    const run = async (seed: number): Promise<string> => {
      const { clock, clientWith, api } = world({ seed });
      const steps: string[] = [];
      const clients = [clientWith(storm), clientWith(storm), clientWith(storm)];
      const work = clients.map(async (client, i) => {
        for (let n = 0; n < 10; n += 1) {
          await client.apply(Net, net(`n${n % 3}`, { size: i }), { force: true }).then(
            (done) => steps.push(`${clock.uptime()} ${i} ${done.metadata.resourceVersion}`),
            (error) => steps.push(`${clock.uptime()} ${i} ${error}`),
          );
        }
      });
      await clock.run(Promise.all(work));
      return `${steps.join('\n')}\n${JSON.stringify(api.objects(Net))}`;
    };
    assert.equal(await run(7), await run(7));
    assert.notEqual(await run(7), await run(8));
  });

  it('breaks what is under way when it stops, though it may have been done', async () => {
    const { clock, clientWith, api } = world();
    const client = clientWith({ delay: [100, 100] });
    const creating = client.create(Net, net('a'));
    const failing = assert.rejects(creating, Unreachable);
    await clock.advance(150);
    api.stop();
    await clock.advance(100);
    await failing;
    api.start();
    assert.equal(api.objects(Net).length, 1);
  });

  it('keeps nothing of a client that was killed, so that stories can be told without end', async () => {
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    const killed = ((): WeakRef<object> => {
      const transport = world().api.transport({});
      transport.kill();
      void new Client({ transport, fieldManager: 'killed' }).list(Net);
      return new WeakRef(transport);
    })();
    for (let i = 0; i < 20 && killed.deref() !== undefined; i += 1) {
      await new Promise(setImmediate);
      collectGarbage();
    }
    assert.equal(killed.deref(), undefined);
  });
});
