import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Net, net, world } from '../../test/simulation/world.ts';
import { isConflict } from './client.ts';
import { isObserved, nextStatus, saysStatus, writeStatus } from './status.ts';

describe('writing a status', () => {
  it('writes what differs, and asks nothing of the server when nothing does', async () => {
    const { client, api } = world();
    const object = await client.create(Net, net('a'));
    const first = await writeStatus(client, Net, object, { state: 'up', observedGeneration: 1 });
    const second = await writeStatus(client, Net, first, { state: 'up', observedGeneration: 1 });
    assert.deepEqual(second.status, { state: 'up', observedGeneration: 1 });
    assert.equal(api.requests.get('patch nets'), 1);
    const third = await writeStatus(client, Net, second, { state: 'down' });
    assert.deepEqual(third.status, { state: 'down' });
  });

  it('takes a field that the server says is null for one that is not there, and writes nothing', async () => {
    const { client, api } = world();
    const object = await client.create(Net, net('a'));
    const addresses: { ip: string; until?: null }[] = [{ ip: '10.0.0.1', until: null }];
    const told = { ...object, status: { state: 'up', addresses } };
    const same = { state: 'up', addresses: [{ ip: '10.0.0.1' }] };
    assert.equal(saysStatus(told, same), true);
    assert.equal(await writeStatus(client, Net, told, same), told);
    assert.equal(api.requests.get('patch nets'), undefined);
    assert.equal(saysStatus(told, { ...same, state: 'down' }), false);
  });

  it('is refused when the object was changed since it was read', async () => {
    const { client } = world();
    const object = await client.create(Net, net('a'));
    await client.update(Net, { ...object, spec: { size: 2 } });
    await assert.rejects(writeStatus(client, Net, object, { state: 'up' }), isConflict);
  });

  it('leaves the fields of others alone that were written to the same version', async () => {
    const { client } = world();
    const object = await client.create(Net, net('a'));
    const told = await client.applyStatus(
      Net,
      { namespace: 'default', name: 'a' },
      { state: 'up', observedGeneration: 7 },
    );
    assert.equal(
      (await writeStatus(client, Net, told, { state: 'down', observedGeneration: 7 })).status?.observedGeneration,
      7,
    );
    assert.equal(object.status, undefined);
  });

  it('marks a status as being about the object as it is now', async () => {
    const { client } = world();
    const object = await client.create(Net, net('a'));
    const told = await writeStatus(client, Net, object, nextStatus(object, { state: 'up' }));
    assert.deepEqual(told.status, { state: 'up', observedGeneration: 1 });
    assert.equal(isObserved(told), true);
    assert.equal(isObserved(await client.update(Net, { ...told, spec: { size: 2 } })), false);
  });
});
