import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Pod } from '../src/api/core/pod.ts';
import { Service } from '../src/api/core/service.ts';
import { Lease } from '../src/runtime/builtin.ts';
import { may } from '../src/runtime/right.ts';
import { rulesOfRights } from './rules-of-rights.ts';

test('what several need of an object is said once, and what is allowed of several the same way is one rule', () => {
  const rights = [
    ...may('watch list', [Service]),
    ...may('patch', [Pod], 'status'),
    ...may('list', [Pod]),
    ...may('watch', [Pod, Service]),
  ];
  assert.deepEqual(rulesOfRights(rights), [
    { verbs: ['list', 'watch'], apiGroups: [''], resources: ['pods', 'services'] },
    { verbs: ['patch'], apiGroups: [''], resources: ['pods/status'] },
  ]);
});

test('what is allowed with one name is not allowed with others', () => {
  const rights = [
    ...may('create', [Lease]),
    ...may('get update', [Lease]).map((right) => ({ ...right, names: ['a'] })),
  ];
  const lease = { apiGroups: ['coordination.k8s.io'], resources: ['leases'] };
  assert.deepEqual(rulesOfRights(rights), [
    { verbs: ['create'], ...lease },
    { verbs: ['get', 'update'], ...lease, resourceNames: ['a'] },
  ]);
});
