import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Net, Port } from '../../test/simulation/world.ts';
import type { ApiObject } from '../api/object.ts';
import { controllerOf, ownedBy } from './owner.ts';

const object = (metadata: Partial<ApiObject['metadata']>): ApiObject => ({
  apiVersion: 'sim.netloom.test/v1',
  kind: 'Net',
  metadata: { name: 'a', uid: 'u', resourceVersion: '1', creationTimestamp: '', ...metadata },
});

it('a child names its controller, in whatever version it was owned', () => {
  const owner = object({ namespace: 'default' });
  const child = object({ name: 'c', namespace: 'default', ownerReferences: [ownedBy(owner)] });
  assert.deepEqual(controllerOf(child, Net), { namespace: 'default', name: 'a' });
  assert.deepEqual(controllerOf(child, { ...Net, version: 'v2' }), { namespace: 'default', name: 'a' });
  assert.deepEqual(controllerOf(child, { ...Net, namespaced: false }), { namespace: '', name: 'a' });
});

it('an owner that is no controller, or of another kind or group, is not taken for it', () => {
  const owner = object({ namespace: 'default' });
  const reference = ownedBy(owner);
  const child = (change: object) => object({ ownerReferences: [{ ...reference, ...change }] });
  assert.equal(controllerOf(child({ controller: false }), Net), undefined);
  assert.equal(controllerOf(child({}), Port), undefined);
  assert.equal(controllerOf(child({ apiVersion: 'other/v1' }), Net), undefined);
  assert.equal(controllerOf(child({ apiVersion: 'v1' }), Net), undefined);
  assert.equal(controllerOf(object({}), Net), undefined);
});
