import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApiObject } from '../api/object.ts';
import { done, wait } from '../runtime/outcome.ts';
import { byNamespace } from './by-namespace.ts';

const object = (namespace: string, name: string): ApiObject => ({
  apiVersion: 'v1',
  kind: 'Thing',
  metadata: { namespace, name, uid: name, resourceVersion: '1', creationTimestamp: '' },
});

test('what fails in one namespace is no matter of the others, and each object has its own outcome', async () => {
  const objects = [object('east', 'a'), object('west', 'b'), object('east', 'c')];
  const outcomes = await byNamespace(objects, async (namespace, group) => {
    if (namespace === 'west') throw new Error('no record');
    return group.map(({ metadata }) => (metadata.name === 'c' ? wait() : done()));
  });
  assert.deepEqual(
    outcomes.map(({ end }) => end),
    ['done', 'failed', 'wait'],
  );
});
