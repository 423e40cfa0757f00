import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { JsonObject } from '../../../api/json.ts';
import type { Attempt } from '../access.ts';
import { targetsOf } from './grants.ts';
import { coversUrl, type PolicyRule, uncovered } from './policy-rule.ts';
import { RoleBook, subjectKeys } from './role-book.ts';

const some = <T>(...values: T[]) => fc.subarray(values, { minLength: 1 });
const rules: fc.Arbitrary<PolicyRule> = fc.record(
  {
    verbs: some('get', 'list', 'delete', '*'),
    apiGroups: some('', 'apps', '*'),
    resources: some('pods', 'pods/log', '*/scale', 'deployments', '*'),
    resourceNames: some('a', 'b'),
  },
  { requiredKeys: ['verbs', 'apiGroups', 'resources'] },
);
const attempts: fc.Arbitrary<Attempt> = fc.record({
  verb: fc.constantFrom('get', 'list', 'delete', 'watch'),
  group: fc.constantFrom('', 'apps', 'batch'),
  resource: fc.constantFrom('pods', 'deployments', 'jobs'),
  subresource: fc.constantFrom('', 'log', 'scale'),
  namespace: fc.constantFrom('', 'one', 'two'),
  name: fc.constantFrom('', 'a', 'c'),
});

/** One rule, by the words of the documentation. */
function allows(rule: PolicyRule, { verb, group, resource, subresource, name }: Attempt): boolean {
  const whole = subresource === '' ? resource : `${resource}/${subresource}`;
  const matches = (list: readonly string[] | undefined, ...texts: string[]) =>
    list?.some((each) => each === '*' || texts.includes(each)) === true;
  return (
    matches(rule.verbs, verb) &&
    matches(rule.apiGroups, group) &&
    matches(rule.resources, whole, ...(subresource === '' ? [] : [`*/${subresource}`])) &&
    (rule.resourceNames === undefined || rule.resourceNames.includes(name))
  );
}

const SUBJECTS: JsonObject[] = [
  { kind: 'User', name: 'alice' },
  { kind: 'Group', name: 'dev' },
  { kind: 'ServiceAccount', name: 'robot' },
  { kind: 'ServiceAccount', name: 'robot', namespace: 'two' },
];
const alice = { username: 'alice', groups: ['dev', 'system:authenticated'] };
const robot = { username: 'system:serviceaccount:two:robot', groups: [] };

interface Write {
  what: 'role' | 'binding';
  namespace: string;
  name: string;
  object: JsonObject | undefined;
}
const places = { namespace: fc.constantFrom('', 'one', 'two'), name: fc.constantFrom('r', 's') };
const writes: fc.Arbitrary<Write> = fc.oneof(
  fc.record({
    what: fc.constant('role' as const),
    ...places,
    object: fc.option(fc.record({ rules: fc.array(rules, { maxLength: 3 }) }) as unknown as fc.Arbitrary<JsonObject>, {
      nil: undefined,
    }),
  }),
  fc.record({
    what: fc.constant('binding' as const),
    ...places,
    object: fc.option(
      fc.record({
        roleRef: fc.record({ kind: fc.constantFrom('Role', 'ClusterRole'), name: places.name }),
        subjects: fc.subarray(SUBJECTS),
      }) as unknown as fc.Arbitrary<JsonObject>,
      { nil: undefined },
    ),
  }),
);

/** The union of all rules by all bindings, looked through one by one. */
function allowedBy(kept: ReadonlyMap<string, Write>, user: typeof alice, attempt: Attempt): boolean {
  for (const { what, namespace, object } of kept.values()) {
    if (what !== 'binding' || object === undefined) continue;
    if (namespace !== '' && namespace !== attempt.namespace) continue;
    const subjects = object['subjects'] as { kind: string; name: string; namespace?: string }[];
    const isSubject = subjects.some(({ kind, name, namespace: home = namespace }) =>
      kind === 'User'
        ? user.username === name
        : kind === 'Group'
          ? user.groups.includes(name)
          : home !== '' && user.username === `system:serviceaccount:${home}:${name}`,
    );
    if (!isSubject) continue;
    const { kind, name } = object['roleRef'] as { kind: string; name: string };
    const role = kept.get(`role ${kind === 'Role' ? namespace : ''}/${name}`)?.object;
    if ((role?.['rules'] as PolicyRule[] | undefined)?.some((rule) => allows(rule, attempt)) === true) return true;
  }
  return false;
}

describe('roles and bindings', () => {
  test('allow the union of all rules that are bound to somebody, whatever was written before', () => {
    fc.assert(
      fc.property(fc.array(writes, { maxLength: 12 }), fc.array(attempts, { maxLength: 8 }), (history, tried) => {
        const book = new RoleBook();
        const kept = new Map<string, Write>();
        for (const write of history) {
          kept.set(`${write.what} ${write.namespace}/${write.name}`, write);
          if (write.what === 'role') book.setRole(write.namespace, write.name, write.object);
          else book.setBinding(write.namespace, write.name, write.object);
        }
        for (const attempt of tried) {
          for (const user of [alice, robot]) {
            const bindings = [...book.bindingsOf(subjectKeys(user), attempt.namespace)];
            const allowed = bindings.some(
              ({ role }) => book.grantsOf(role.namespace, role.name)?.allow(attempt, targetsOf(attempt)) === true,
            );
            assert.equal(allowed, allowedBy(kept, user, attempt));
          }
        }
      }),
      { numRuns: 500 },
    );
  });

  test('cost nobody for what others are granted', () => {
    const book = new RoleBook();
    const rules = [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }];
    for (let i = 0; i < 5_000; i++) {
      book.setRole(`ns-${i}`, 'r', { rules });
      const subjects = [{ kind: 'ServiceAccount', name: 'robot' }];
      book.setBinding(`ns-${i}`, 'b', { roleRef: { kind: 'Role', name: 'r' }, subjects });
    }
    const subjects = subjectKeys({ username: 'system:serviceaccount:ns-77:robot', groups: ['a', 'b', 'c'] });
    assert.equal([...book.bindingsOf(subjects, 'ns-77')].length, 1);
    assert.equal([...book.bindingsOf(subjects, 'ns-78')].length, 0);
  });
});

describe('what somebody holds', () => {
  test('covers a rule exactly when it allows all that the rule allows', () => {
    fc.assert(
      fc.property(
        fc.array(rules, { maxLength: 4 }),
        rules,
        fc.array(attempts, { maxLength: 20 }),
        (held, wanted, tried) => {
          if (uncovered(held, [wanted]).length > 0) return;
          for (const attempt of tried.filter((each) => allows(wanted, each))) {
            assert.ok(held.some((rule) => allows(rule, attempt)));
          }
        },
      ),
      { numRuns: 2_000 },
    );
  });

  test('need not cover it with one rule alone', () => {
    const held = ['get', 'list'].map((verb) => ({ verbs: [verb], apiGroups: [''], resources: ['pods'] }));
    assert.deepEqual(uncovered(held, [{ verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] }]), []);
    assert.deepEqual(uncovered(held, [{ verbs: ['get', 'watch'], apiGroups: [''], resources: ['pods'] }]), [
      { verbs: ['watch'], apiGroups: [''], resources: ['pods'] },
    ]);
  });

  test('for some names is less than for all', () => {
    const rule = { verbs: ['get'], apiGroups: [''], resources: ['secrets'] };
    const one = { ...rule, resourceNames: ['a'] };
    assert.equal(uncovered([one], [rule]).length, 1);
    assert.equal(uncovered([rule], [one]).length, 0);
  });

  test('is compared in time with a rule of billions of combinations', () => {
    const many = Array.from({ length: 2_000 }, (_, i) => `x${i}`);
    const held = many.map((verb) => ({ verbs: [verb], apiGroups: many, resources: ['x'] }));
    const began = performance.now();
    assert.ok(uncovered(held, [{ verbs: many, apiGroups: many, resources: many }]).length > 0);
    assert.ok(performance.now() - began < 10_000);
  });

  test('knows patterns of paths', () => {
    assert.ok(coversUrl('*', '/anything'));
    assert.ok(coversUrl('/apis/*', '/apis/apps'));
    assert.ok(coversUrl('/apis/*', '/apis/apps/*'));
    assert.ok(!coversUrl('/apis/*', '/apis'));
    assert.ok(!coversUrl('/apis/apps', '/apis/*'));
  });
});
