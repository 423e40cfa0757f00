import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { JsonObject } from '../../src/api/json.ts';
import { at, configMap, EngineInTest, eventually, MAPS } from './engine-in-test.ts';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const ROLES = `${RBAC}/namespaces/default/roles`;
const BINDINGS = `${RBAC}/namespaces/default/rolebindings`;
const CLUSTER_ROLES = `${RBAC}/clusterroles`;

const person = (username: string, ...groups: string[]) => ({ username, groups: [...groups, 'system:authenticated'] });
const rule = (verbs: string[], resources: string[], more: JsonObject = {}): JsonObject => ({
  verbs,
  apiGroups: [''],
  resources,
  ...more,
});
const role = (name: string, rules: JsonObject[], more: JsonObject = {}): JsonObject => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'Role',
  metadata: { name },
  rules,
  ...more,
});
const clusterRole = (
  name: string,
  rules: JsonObject[],
  labels: JsonObject = {},
  more: JsonObject = {},
): JsonObject => ({
  ...role(name, rules),
  kind: 'ClusterRole',
  metadata: { name, labels },
  ...more,
});
const binding = (name: string, kind: string, of: string, user: string): JsonObject => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'RoleBinding',
  metadata: { name },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name: of },
  subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
});

describe('roles', () => {
  let api: EngineInTest;
  before(async () => {
    api = await EngineInTest.start();
  });
  after(() => api.stop());

  const made = async (path: string, object: JsonObject) => {
    const answer = await api.post(path, object);
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
  };
  const status = async (username: string, method: 'GET' | 'POST' | 'DELETE', path: string, body?: JsonObject) =>
    (await api.as(person(username)).request({ method, path, ...(body === undefined ? {} : { body }) })).status;

  /** Of the objects that there are when a watch begins. */
  const namesSeen = async (username: string, path: string): Promise<string[]> => {
    const names: string[] = [];
    const begin = `${path}&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`;
    const stream = api.as(person(username)).stream({ method: 'GET', path: begin, signal: AbortSignal.timeout(10_000) });
    for await (const event of stream) {
      if (event['type'] === 'BOOKMARK') break;
      names.push(String(at(event, 'object.metadata.name')));
    }
    return names;
  };

  test('let people do what they say, where they are bound, from the moment that they are', async () => {
    await made(ROLES, role('reader', [rule(['get', 'list'], ['configmaps'])]));
    assert.equal(await status('ann', 'GET', MAPS), 403);
    await made(BINDINGS, binding('ann-reads', 'Role', 'reader', 'ann'));
    assert.equal(await status('ann', 'GET', MAPS), 200);
    assert.equal(await status('ann', 'POST', MAPS, configMap('x')), 403);
    assert.equal(await status('ann', 'GET', '/api/v1/namespaces/kube-system/configmaps'), 403);
    assert.equal(await status('ann', 'GET', '/api/v1/configmaps'), 403);
    await api.delete(`${BINDINGS}/ann-reads`);
    assert.equal(await status('ann', 'GET', MAPS), 403);
  });

  test('that let somebody change things let him make none, by whichever way of changing makes them', async () => {
    const leases = '/apis/coordination.k8s.io/v1/namespaces/default/leases';
    const groups = { apiGroups: ['', 'coordination.k8s.io'] };
    await made(ROLES, role('changer', [rule(['patch', 'update'], ['configmaps', 'leases'], groups)]));
    await made(BINDINGS, binding('pat-changes', 'Role', 'changer', 'pat'));
    const pat = api.as(person('pat'));
    const contentType = 'application/apply-patch+yaml';
    const apply = (name: string) =>
      pat.request({ method: 'PATCH', path: `${MAPS}/${name}?fieldManager=pat`, contentType, body: configMap(name) });
    const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'new' }, spec: {} };
    const put = () => pat.request({ method: 'PUT', path: `${leases}/new`, body: lease });
    const refused = await apply('unmade');
    assert.equal(refused.status, 403);
    assert.equal(
      refused.body['message'],
      'configmaps "unmade" is forbidden: User "pat" cannot create resource "configmaps" in API group "" in the namespace "default"',
    );
    assert.equal((await put()).status, 403);
    assert.equal((await api.get(`${MAPS}/unmade`)).status, 404);
    await made(MAPS, configMap('there'));
    assert.equal((await apply('there')).status, 200);
    await made(ROLES, role('maker-of-things', [rule(['create'], ['configmaps', 'leases'], groups)]));
    await made(BINDINGS, binding('pat-makes', 'Role', 'maker-of-things', 'pat'));
    assert.equal((await apply('unmade')).status, 201);
    assert.equal((await put()).status, 201);
  });

  test('can be for single names, which a list or watch may select', async () => {
    await made(ROLES, role('one-map', [rule(['get', 'list', 'watch'], ['configmaps'], { resourceNames: ['mine'] })]));
    await made(BINDINGS, binding('bob-reads', 'Role', 'one-map', 'bob'));
    await made(MAPS, configMap('mine'));
    assert.equal(await status('bob', 'GET', `${MAPS}/mine`), 200);
    assert.equal(await status('bob', 'GET', `${MAPS}/kube-root-ca.crt`), 403);
    assert.equal(await status('bob', 'GET', MAPS), 403);
    assert.equal(await status('bob', 'GET', `${MAPS}?fieldSelector=metadata.name%3Dmine`), 200);
    assert.equal(await status('bob', 'GET', `${MAPS}?fieldSelector=metadata.name%3Dother`), 403);
    // Neither does who may follow one name see others by selecting them beside it.
    const selectors = ['', 'metadata.name!%3Dmine', 'metadata.name%3Dkube-root-ca.crt', 'metadata.namespace%3Ddefault'];
    for (const start of [`${MAPS}/mine?watch=true`, `/api/v1/watch/namespaces/default/configmaps/mine?x=y`]) {
      const seen = selectors.map((selector) => namesSeen('bob', `${start}&fieldSelector=${selector}`));
      assert.deepEqual(await Promise.all(seen), [['mine'], [], [], ['mine']], start);
    }
  });

  test('of the cluster are good for one namespace when they are bound there', async () => {
    await made(BINDINGS, binding('cid-edits', 'ClusterRole', 'edit', 'cid'));
    assert.equal(await status('cid', 'POST', MAPS, configMap('of-cid')), 201);
    assert.equal(await status('cid', 'GET', '/api/v1/namespaces/default/secrets'), 200);
    assert.equal(await status('cid', 'GET', '/api/v1/namespaces/default'), 200);
    assert.equal(await status('cid', 'GET', '/api/v1/namespaces/kube-system'), 403);
    assert.equal(await status('cid', 'GET', ROLES), 403);
    assert.equal(await status('cid', 'GET', '/api/v1/nodes'), 403);
  });

  test('that are made of others follow them', async () => {
    const view = () => api.get(`${CLUSTER_ROLES}/view`).then(({ body }) => JSON.stringify(body['rules']));
    assert.match(await view(), /"configmaps"/);
    assert.doesNotMatch(await view(), /"secrets"/);
    const labels = { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' };
    await made(CLUSTER_ROLES, clusterRole('see-gadgets', [rule(['get'], ['gadgets'])], labels));
    await eventually(view, (rules) => rules.includes('"gadgets"'));
    // `admin` is made of `edit`, which is made of `view`.
    await eventually(
      () => api.get(`${CLUSTER_ROLES}/admin`).then(({ body }) => JSON.stringify(body['rules'])),
      (rules) => rules.includes('"gadgets"'),
    );
    await api.delete(`${CLUSTER_ROLES}/see-gadgets`);
    await eventually(view, (rules) => !rules.includes('"gadgets"'));
  });

  test('cannot be given by who does not hold what they allow', async () => {
    await made(BINDINGS, binding('dora-administers', 'ClusterRole', 'admin', 'dora'));
    const dora = api.as(person('dora'));
    const post = (path: string, body: JsonObject) => dora.request({ method: 'POST', path, body });
    assert.equal((await post(ROLES, role('held', [rule(['get'], ['secrets'])]))).status, 201);
    const refused = await post(ROLES, role('too-much', [rule(['get', 'approve'], ['secrets'])]));
    assert.equal(refused.status, 403);
    assert.equal(
      refused.body['message'],
      'roles.rbac.authorization.k8s.io "too-much" is forbidden: user "dora" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[""], Resources:["secrets"], Verbs:["approve"]}',
    );
    assert.equal((await post(BINDINGS, binding('friend', 'ClusterRole', 'view', 'eve'))).status, 201);
    assert.equal((await post(BINDINGS, binding('owner', 'ClusterRole', 'cluster-admin', 'eve'))).status, 403);
    assert.equal((await post(BINDINGS, binding('nothing', 'ClusterRole', 'nowhere', 'eve'))).status, 404);
    const path = `${ROLES}/held`;
    const change = (rules: JsonObject[]) => dora.request({ method: 'PUT', path, body: role('held', rules) });
    assert.equal((await change([rule(['*'], ['*'])])).status, 403);
    assert.equal((await change([rule(['list'], ['secrets'])])).status, 200);
  });

  test('can be given beyond that by who may escalate or bind', async () => {
    await made(
      CLUSTER_ROLES,
      clusterRole('maker', [
        { verbs: ['create', 'escalate'], apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles'] },
        { verbs: ['create'], apiGroups: ['rbac.authorization.k8s.io'], resources: ['rolebindings'] },
        {
          verbs: ['bind'],
          apiGroups: ['rbac.authorization.k8s.io'],
          resources: ['clusterroles'],
          resourceNames: ['edit'],
        },
      ]),
    );
    await made(BINDINGS, binding('fred-makes', 'ClusterRole', 'maker', 'fred'));
    assert.equal(await status('fred', 'POST', ROLES, role('anything', [rule(['*'], ['*'])])), 201);
    assert.equal(await status('fred', 'POST', BINDINGS, binding('editors', 'ClusterRole', 'edit', 'gus')), 201);
    assert.equal(await status('fred', 'POST', BINDINGS, binding('viewers', 'ClusterRole', 'view', 'gus')), 403);
  });

  test('can let somebody speak for others, and only for those', async () => {
    const ask = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview' };
    const question = (verb: string, name: string): JsonObject => ({
      ...ask,
      spec: { user: 'hal', resourceAttributes: { verb, resource: 'users', name } },
    });
    await made(CLUSTER_ROLES, clusterRole('as-ian', [rule(['impersonate'], ['users'], { resourceNames: ['ian'] })]));
    await made(`${RBAC}/clusterrolebindings`, {
      ...binding('hal', 'ClusterRole', 'as-ian', 'hal'),
      kind: 'ClusterRoleBinding',
    });
    const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
    const yes = await api.post(path, question('impersonate', 'ian'));
    assert.equal(at(yes.body, 'status.allowed'), true);
    assert.equal(at(yes.body, 'status.reason'), 'RBAC: allowed by ClusterRoleBinding "hal" of ClusterRole "as-ian"');
    assert.equal(at((await api.post(path, question('impersonate', 'jon'))).body, 'status.allowed'), false);
    assert.equal((await api.post(path, { ...ask, spec: {} })).status, 422);
  });

  test('of the cluster that somebody deleted or cut down come back with the next start, unless they say otherwise', async () => {
    const own = await EngineInTest.start();
    const patched = await own.patch(`${CLUSTER_ROLES}/system:basic-user`, 'merge', { rules: [] });
    assert.equal(patched.status, 200);
    await own.delete(`${RBAC}/clusterrolebindings/system:discovery`);
    const annotations = { 'rbac.authorization.kubernetes.io/autoupdate': 'false' };
    await own.patch(`${CLUSTER_ROLES}/system:monitoring`, 'merge', { metadata: { annotations }, rules: [] });
    await own.engine.close();
    const again = await EngineInTest.start({ directory: own.directory });
    const rules = async (name: string) => (await again.get(`${CLUSTER_ROLES}/${name}`)).body['rules'] ?? [];
    assert.notDeepEqual(await rules('system:basic-user'), []);
    assert.deepEqual(await rules('system:monitoring'), []);
    assert.equal((await again.get(`${RBAC}/clusterrolebindings/system:discovery`)).status, 200);
    await again.stop();
  });
});
