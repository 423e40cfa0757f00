import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Net, net, world } from '../../test/simulation/world.ts';
import { isConflict } from './client.ts';
import { addFinalizer, removeFinalizers } from './finalizers.ts';

const ref = { namespace: 'default', name: 'a' };
const withFinalizers = (finalizers: string[]) => ({ ...net('a'), metadata: { ...ref, finalizers } });

describe('finalizers', () => {
  it('are added beside those of others, in place of former names', async () => {
    const { client, api } = world();
    const object = await client.create(Net, withFinalizers(['theirs', 'IPSet']));
    const finalizer = { name: 'openstack.org/ipset', former: ['IPSet'] };
    const added = await addFinalizer(client, Net, object, finalizer);
    assert.deepEqual(added.metadata.finalizers, ['theirs', 'openstack.org/ipset']);
    await addFinalizer(client, Net, added, finalizer);
    assert.equal(api.requests.get('patch nets'), 1);
  });

  it('are not added over a change that was not seen', async () => {
    const { client } = world();
    const object = await client.create(Net, net('a'));
    await client.patch(Net, ref, { merge: { metadata: { finalizers: ['theirs'] } } });
    await assert.rejects(addFinalizer(client, Net, object, { name: 'ours' }), isConflict);
  });

  it('come off whatever else happens to the object, and nobody else loses one', async () => {
    const { client } = world();
    const object = await client.create(Net, withFinalizers(['ours', 'OURS']));
    await client.patch(Net, ref, { merge: { metadata: { finalizers: ['ours', 'OURS', 'theirs'] } } });
    await removeFinalizers(client, Net, object, ['ours', 'OURS']);
    assert.deepEqual((await client.get(Net, 'a', 'default'))?.metadata.finalizers, ['theirs']);
  });

  it('are not looked for on an object that is gone, or on another one of its name', async () => {
    const { client } = world();
    const object = await client.create(Net, withFinalizers(['ours']));
    await removeFinalizers(client, Net, object, ['ours']);
    await client.delete(Net, ref);
    await removeFinalizers(client, Net, object, ['ours']);
    await client.create(Net, withFinalizers(['ours']));
    await removeFinalizers(client, Net, object, ['ours']);
    assert.deepEqual((await client.get(Net, 'a', 'default'))?.metadata.finalizers, ['ours']);
  });
});
