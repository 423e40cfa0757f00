import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { JsonObject } from '../../src/api/json.ts';
import { at, configMap, EngineInTest, eventually, MAPS } from './engine-in-test.ts';

// In an engine of its own: with other owned objects around, a collector that forgets its last one would not show.
describe('deletion in the foreground', () => {
  let api: EngineInTest;
  before(async () => {
    api = await EngineInTest.start();
  });
  after(() => api.stop());

  const isGone = (name: string) =>
    eventually(
      () => api.get(`${MAPS}/${name}`),
      ({ status }) => status === 404,
    );

  /** Two objects, the second blocking the deletion of the first. */
  async function blockedOwner(owner: string, child: string, held: JsonObject = {}): Promise<void> {
    const { body } = await api.post(MAPS, configMap(owner));
    const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: owner, uid: at(body, 'metadata.uid') ?? '' };
    const ownerReferences = [{ ...reference, blockOwnerDeletion: true }];
    assert.equal((await api.post(MAPS, configMap(child, {}, { ownerReferences, ...held }))).status, 201);
  }

  test('ends when the only object that anybody owns has gone', async () => {
    await blockedOwner('owner', 'child');
    await api.delete(`${MAPS}/owner`, { propagationPolicy: 'Foreground' });
    await isGone('owner');
    await isGone('child');
  });

  test('ends when the object that blocks it is given free', async () => {
    await blockedOwner('generous', 'freed', { finalizers: ['test.example/hold'] });
    await api.delete(`${MAPS}/generous`, { propagationPolicy: 'Foreground' });
    await eventually(
      () => api.get(`${MAPS}/freed`),
      ({ body }) => at(body, 'metadata.deletionTimestamp') !== undefined,
    );
    assert.equal((await api.get(`${MAPS}/generous`)).status, 200);
    await api.patch(`${MAPS}/freed`, 'merge', { metadata: { ownerReferences: null } });
    await isGone('generous');
    assert.equal((await api.get(`${MAPS}/freed`)).status, 200);
  });
});
