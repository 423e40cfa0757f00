import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../../api/json.ts';
import { clusterRoleBindings, roleBindings } from './role-bindings.ts';
import { clusterRoles, roles } from './roles.ts';

const faults = (kind: typeof roles, object: JsonObject, old?: JsonObject): string[] =>
  kind.validate(object, old).map(({ field }) => field);
const binding = (roleRef: JsonObject, ...subjects: JsonObject[]): JsonObject => {
  const object = { metadata: { name: 'x' }, roleRef, subjects };
  roleBindings.defaults(object);
  return object;
};

describe('a role', () => {
  it('says with every rule what may be done, and to what', () => {
    const rules = [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }, {}];
    assert.deepEqual(faults(roles, { rules }), ['rules[1].verbs', 'rules[1].apiGroups', 'rules[1].resources']);
  });

  it('speaks of paths only where it is good for the whole cluster', () => {
    const rules = [{ verbs: ['get'], nonResourceURLs: ['/metrics'] }];
    assert.deepEqual(faults(roles, { rules }), ['rules[0].nonResourceURLs']);
    assert.deepEqual(faults(clusterRoles, { rules }), []);
    const mixed = [{ verbs: ['get'], nonResourceURLs: ['/metrics'], resources: ['pods'] }];
    assert.deepEqual(faults(clusterRoles, { rules: mixed }), ['rules[0].nonResourceURLs']);
  });

  it('that is made of others says of which', () => {
    const aggregationRule = { clusterRoleSelectors: [] };
    assert.deepEqual(faults(clusterRoles, { aggregationRule }), ['aggregationRule.clusterRoleSelectors']);
  });
});

describe('a binding', () => {
  it('fills in the group of roles and of people', () => {
    const object = binding({ kind: 'Role', name: 'r' }, { kind: 'User', name: 'alice' });
    assert.deepEqual(faults(roleBindings, object), []);
    assert.deepEqual(object['subjects'], [{ kind: 'User', name: 'alice', apiGroup: 'rbac.authorization.k8s.io' }]);
  });

  it('names subjects that there can be', () => {
    const role = { kind: 'ClusterRole', name: 'r' };
    const account = { kind: 'ServiceAccount', name: 'a' };
    assert.deepEqual(faults(roleBindings, binding(role, account)), []);
    assert.deepEqual(faults(clusterRoleBindings, binding(role, account)), ['subjects[0].namespace']);
    assert.deepEqual(faults(roleBindings, binding(role, { kind: 'Robot', name: 'r' })), ['subjects[0].kind']);
    assert.deepEqual(faults(roleBindings, binding(role, { kind: 'Group' })), ['subjects[0].name']);
    assert.deepEqual(faults(clusterRoleBindings, binding({ kind: 'Role', name: 'r' })), ['roleRef.kind']);
  });

  it('grants the same role for as long as it lives', () => {
    const before = binding({ kind: 'Role', name: 'weak' });
    assert.deepEqual(faults(roleBindings, binding({ kind: 'Role', name: 'strong' }), before), ['roleRef']);
  });

  it('shows its role, and its subjects where there is room', () => {
    const object = binding(
      { kind: 'Role', name: 'r' },
      { kind: 'User', name: 'alice' },
      { kind: 'User', name: 'bob' },
      { kind: 'ServiceAccount', name: 'a', namespace: 'n' },
    );
    const cells = roleBindings.columns.map((column) => column.cell(object, new Date(0)));
    assert.deepEqual(cells, ['x', 'Role/r', '<unknown>', 'alice, bob', '', 'n/a']);
  });
});
