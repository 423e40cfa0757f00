import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { enrol } from '../../src/agent/enrol.ts';
import { IdentityFiles } from '../../src/agent/identity-files.ts';
import { obtain } from '../../src/agent/signing.ts';
import type { JsonObject } from '../../src/api/json.ts';
import { Client } from '../../src/runtime/client.ts';
import { HttpTransport } from '../../src/runtime/http-transport.ts';
import { readKubeconfig } from '../../src/runtime/kubeconfig.ts';
import { system } from '../../src/runtime/system.ts';
import type { ApiRequest } from '../../src/runtime/transport.ts';
import { at, configMap, EngineInTest } from './engine-in-test.ts';

const CORE = '/api/v1/namespaces/default';
const PODS = `${CORE}/pods`;
const NODES = '/api/v1/nodes';
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';

const pod = (name: string, nodeName: string, spec: JsonObject = {}, metadata: JsonObject = {}): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, ...metadata },
  spec: { nodeName, automountServiceAccountToken: false, containers: [{ name: 'c', image: 'none' }], ...spec },
});
const secret = (name: string): JsonObject => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name } });
const lease = (name: string): JsonObject => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name },
  spec: { holderIdentity: name },
});
const node = (name: string, metadata: JsonObject = {}, spec: JsonObject = {}): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, ...metadata },
  spec,
});

/** Two hosts with certificates of their own; h1 is the one that asks. */
describe('what a node may do', () => {
  let api: EngineInTest;
  let folder: string;
  let host: HttpTransport;
  before(async () => {
    api = await EngineInTest.start();
    folder = await mkdtemp(join(tmpdir(), 'netloom-nodes-'));
    const { server, ca = '' } = await readKubeconfig(join(api.directory, 'kubeconfig'));
    const client = new Client({ transport: api.transport, fieldManager: 'test' });
    const way = { server, ca, insecure: false };
    await enrol({ client, way, name: 'h1', addresses: ['127.0.0.1'], stateDirectory: folder, system });
    host = new HttpTransport({ connection: await readKubeconfig(new IdentityFiles(folder).kubeconfig), system });
    await made(await ask('POST', NODES, node('h1')));
    await made(await api.post(NODES, node('h2')));
    for (const name of ['used', 'elsewhere', 'unused', 'in-env', 'pull'])
      await api.post(`${CORE}/secrets`, secret(name));
    for (const name of ['used', 'elsewhere', 'from']) await api.post(`${CORE}/configmaps`, configMap(name));
    const volumes = [
      { name: 's', secret: { secretName: 'used' } },
      { name: 'p', projected: { sources: [{ configMap: { name: 'used' } }] } },
    ];
    const env = [{ name: 'E', valueFrom: { secretKeyRef: { name: 'in-env', key: 'k' } } }];
    const container = { name: 'c', image: 'none', env, envFrom: [{ configMapRef: { name: 'from' } }] };
    const spec = { volumes, containers: [container], imagePullSecrets: [{ name: 'pull' }] };
    await made(await api.post(PODS, pod('mine', 'h1', spec)));
    const there = [{ name: 's', secret: { secretName: 'elsewhere' } }];
    await made(await api.post(PODS, pod('other', 'h2', { volumes: there })));
  });
  after(async () => {
    host.close();
    await api.stop();
    await rm(folder, { recursive: true });
  });

  const made = (answer: { status: number; body: JsonObject }) =>
    assert.ok(answer.status < 300, JSON.stringify(answer.body));
  const ask = (method: ApiRequest['method'], path: string, body?: JsonObject) =>
    host.request({ method, path, ...(body === undefined ? {} : { body }) });
  const patch = (path: string, body: JsonObject) =>
    host.request({ method: 'PATCH', path, body, contentType: 'application/merge-patch+json' });
  const refuses = async (answer: Promise<{ status: number; body: JsonObject }>, message: string) => {
    const { status, body } = await answer;
    assert.equal(body['message'], message);
    assert.equal(status, 403);
  };
  const denied = (verb: string, resource: string, name: string, why: string): string => {
    const place = resource === 'nodes' ? 'at the cluster scope' : 'in the namespace "default"';
    const what = name === '' ? resource : `${resource} "${name}"`;
    return `${what} is forbidden: User "system:node:h1" cannot ${verb} resource "${resource}" in API group "" ${place}${why}`;
  };
  const UNRELATED = ": no relationship found between node 'h1' and this object";

  test('reads the Secrets and ConfigMaps that its pods name, and no others', async () => {
    for (const path of ['secrets/used', 'secrets/in-env', 'secrets/pull', 'configmaps/used', 'configmaps/from']) {
      assert.equal((await ask('GET', `${CORE}/${path}`)).status, 200, path);
    }
    await refuses(ask('GET', `${CORE}/secrets/unused`), denied('get', 'secrets', 'unused', UNRELATED));
    await refuses(ask('GET', `${CORE}/secrets/elsewhere`), denied('get', 'secrets', 'elsewhere', UNRELATED));
    await refuses(ask('GET', `${CORE}/configmaps/elsewhere`), denied('get', 'configmaps', 'elsewhere', UNRELATED));
    await refuses(ask('GET', `${CORE}/secrets`), denied('list', 'secrets', '', ': No Object name found'));
    const one = (name: string) => `${CORE}/secrets?fieldSelector=${encodeURIComponent(`metadata.name=${name}`)}`;
    assert.equal((await ask('GET', one('used'))).status, 200);
    await refuses(ask('GET', one('unused')), denied('list', 'secrets', 'unused', UNRELATED));
    await refuses(
      ask('PUT', `${CORE}/secrets/used`, secret('used')),
      denied('update', 'secrets', 'used', ': can only read resources of this type'),
    );
  });

  test('reads them as long as a pod of its own names them', async () => {
    const volumes = [{ name: 's', secret: { secretName: 'unused' } }];
    for (const name of ['short', 'long']) await made(await api.post(PODS, pod(name, 'h1', { volumes })));
    assert.equal((await ask('GET', `${CORE}/secrets/unused`)).status, 200);
    const now = { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0 };
    await api.delete(`${PODS}/short`, now);
    assert.equal((await ask('GET', `${CORE}/secrets/unused`)).status, 200);
    await api.delete(`${PODS}/long`, now);
    assert.equal((await ask('GET', `${CORE}/secrets/unused`)).status, 403);
  });

  test('sees its own pods, and follows only those', async () => {
    assert.equal((await ask('GET', `${PODS}/mine`)).status, 200);
    await refuses(ask('GET', `${PODS}/other`), denied('get', 'pods', 'other', UNRELATED));
    const of = (name: string) => `/api/v1/pods?fieldSelector=${encodeURIComponent(`spec.nodeName=${name}`)}`;
    assert.equal((await ask('GET', of('h1'))).status, 200);
    assert.equal((await ask('GET', of('h2'))).status, 403);
    await refuses(
      ask('GET', PODS),
      denied('list', 'pods', '', ': can only list/watch pods with spec.nodeName field selector'),
    );
    assert.equal((await ask('GET', `${PODS}?watch=true`)).status, 403);
  });

  test('says how its own pods are, and ends them', async () => {
    const status = { status: { phase: 'Running' } };
    made(await patch(`${PODS}/mine/status`, status));
    assert.equal(at((await api.get(`${PODS}/mine`)).body, 'status.phase'), 'Running');
    await refuses(
      patch(`${PODS}/other/status`, status),
      'pods "other" is forbidden: node "h1" can only update pod status for pods with spec.nodeName set to itself',
    );
    await refuses(
      patch(`${PODS}/mine/status`, { metadata: { labels: { app: 'web' } } }),
      'pods "mine" is forbidden: node "h1" cannot update labels through pod status',
    );
    await refuses(
      ask('DELETE', `${PODS}/other`),
      'pods "other" is forbidden: node "h1" can only delete pods with spec.nodeName set to itself',
    );
    assert.equal((await patch(`${PODS}/mine`, { metadata: { labels: { app: 'web' } } })).status, 403);
    await made(await api.post(PODS, pod('ending', 'h1')));
    made(await ask('DELETE', `${PODS}/ending`, { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0 }));
    assert.equal((await api.get(`${PODS}/ending`)).status, 404);
  });

  test('makes no pods, but for showing what it runs by itself, which then gives it nothing', async () => {
    await refuses(
      ask('POST', PODS, pod('new', 'h1')),
      'pods "new" is forbidden: pod does not have "kubernetes.io/config.mirror" annotation, node "h1" can only create mirror pods',
    );
    const mirror = { annotations: { 'kubernetes.io/config.mirror': 'x' } };
    await refuses(
      ask('POST', PODS, pod('m', 'h2', {}, mirror)),
      'pods "m" is forbidden: node "h1" can only create pods with spec.nodeName set to itself',
    );
    const ofSecret = { volumes: [{ name: 's', secret: { secretName: 'unused' } }] };
    const ofClaim = { volumes: [{ name: 'd', persistentVolumeClaim: { claimName: 'disk' } }] };
    const owned = (...owners: JsonObject[]) => ({ ...mirror, ownerReferences: owners });
    const uid = String(at((await api.get(`${NODES}/h1`)).body, 'metadata.uid'));
    const own = { apiVersion: 'v1', kind: 'Node', name: 'h1', uid, controller: true };
    const anOwner = 'can only create pods with an owner reference set to itself';
    const tries: [JsonObject, JsonObject, string][] = [
      [mirror, {}, anOwner],
      [owned({ ...own, name: 'h2' }), {}, anOwner],
      [
        owned({ ...own, controller: false }),
        {},
        'can only create pods with a controller owner reference set to itself',
      ],
      [
        owned(own, { ...own, uid: 'x', controller: false }),
        {},
        'can only create pods with a single owner reference set to itself',
      ],
      [owned({ ...own, blockOwnerDeletion: true }), {}, 'must not set blockOwnerDeletion on an owner reference'],
      [owned(own), ofSecret, 'can not create pods that reference secrets'],
      [owned(own), ofClaim, 'can not create pods that reference persistentvolumeclaims'],
    ];
    for (const [metadata, spec, why] of tries) {
      await refuses(ask('POST', PODS, pod('m', 'h1', spec, metadata)), `pods "m" is forbidden: node "h1" ${why}`);
    }
    made(await ask('POST', PODS, pod('m', 'h1', {}, owned(own))));
    assert.equal((await ask('GET', `${CORE}/secrets/unused`)).status, 403);
  });

  test('tells what happens in its own name, and leaves alone what others have told', async () => {
    const events = `${CORE}/events`;
    const event = (name: string, more: JsonObject): JsonObject => ({
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name, namespace: 'default' },
      involvedObject: { apiVersion: 'v1', kind: 'Pod', name: 'mine', namespace: 'default' },
      type: 'Warning',
      reason: 'Test',
      ...more,
    });
    const by = (host: string): JsonObject => ({ source: { component: 'kubelet', host }, reportingInstance: host });
    made(await ask('POST', events, event('by-h1', by('h1'))));
    made(await patch(`${events}/by-h1`, { count: 2 }));
    await made(await api.post(events, event('by-h2', by('h2'))));
    const whose = 'can only write objects of kind Event that belong to itself, and this one is for';
    await refuses(ask('POST', events, event('x', by('h2'))), `events "x" is forbidden: node "h1" ${whose} host "h2"`);
    await refuses(ask('POST', events, event('x', {})), `events "x" is forbidden: node "h1" ${whose} no host`);
    const half = { source: { host: 'h1' }, reportingInstance: 'h2' };
    assert.equal((await ask('POST', events, event('x', half))).status, 403);
    for (const body of [{ message: 'all is well' }, by('h1')]) {
      assert.equal((await patch(`${events}/by-h2`, body)).status, 403);
    }
    const newer = '/apis/events.k8s.io/v1/namespaces/default/events';
    assert.equal((await patch(`${newer}/by-h2`, { note: 'all is well' })).status, 403);
    assert.equal(
      (await patch(`${newer}/by-h2`, { deprecatedSource: { host: 'h1' }, reportingInstance: 'h1' })).status,
      403,
    );
    assert.equal((await patch(`${events}/by-h1`, by('h2'))).status, 403);
  });

  test('writes its own Node, but not what steers pods to it or packets', async () => {
    made(await patch(`${NODES}/h1/status`, { status: { capacity: { cpu: '2' } } }));
    made(await patch(`${NODES}/h1`, { metadata: { labels: { 'netloom.io/feature-x': 'true', rack: 'a' } } }));
    for (const [path, body] of [
      [`${NODES}/h2/status`, { status: { capacity: { cpu: '2' } } }],
      [`${NODES}/h2`, { metadata: { labels: { rack: 'a' } } }],
    ] as const) {
      await refuses(patch(path, body), 'nodes "h2" is forbidden: node "h1" is not allowed to modify node "h2"');
    }
    await refuses(
      ask('POST', NODES, node('h3')),
      'nodes "h3" is forbidden: node "h1" is not allowed to modify node "h3"',
    );
    const change = (body: JsonObject) => patch(`${NODES}/h1`, body);
    const taints = [{ key: 'a', effect: 'NoSchedule' }];
    await refuses(change({ spec: { taints } }), 'nodes "h1" is forbidden: node "h1" is not allowed to modify taints');
    await refuses(
      change({ spec: { podCIDR: '0.0.0.0/0' } }),
      'nodes "h1" is forbidden: node "h1" is not allowed to modify spec',
    );
    for (const label of ['node-role.kubernetes.io/control-plane', 'node-restriction.kubernetes.io/x', 'a.k8s.io/y']) {
      const { status, body } = await change({ metadata: { labels: { [label]: '' } } });
      assert.equal(status, 403);
      assert.match(String(body['message']), new RegExp(`is not allowed to modify labels: ${label}`));
    }
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name: 'h2', uid: 'x' }];
    assert.equal((await change({ metadata: { ownerReferences } })).status, 403);
    await refuses(ask('DELETE', `${NODES}/h1`), denied('delete', 'nodes', 'h1', ''));
  });

  test('registers itself without choosing its range or another role', async () => {
    await api.delete(`${NODES}/h1`);
    await refuses(
      ask('POST', NODES, node('h1', {}, { podCIDR: '10.0.0.0/8' })),
      'nodes "h1" is forbidden: node "h1" is not allowed to set spec.podCIDR',
    );
    await refuses(
      ask('POST', NODES, node('h1', { labels: { 'node-role.kubernetes.io/x': '' } })),
      'nodes "h1" is forbidden: node "h1" is not allowed to set the following labels: node-role.kubernetes.io/x',
    );
    made(await ask('POST', NODES, node('h1', {}, { taints: [{ key: 'new', effect: 'NoSchedule' }] })));
  });

  test('shows that it is alive by its own Lease', async () => {
    await made(await api.post(LEASES, lease('h2')));
    made(await ask('POST', LEASES, lease('h1')));
    made(await patch(`${LEASES}/h1`, { spec: { holderIdentity: 'h1' } }));
    const group = 'API group "coordination.k8s.io" in the namespace "kube-node-lease"';
    await refuses(
      patch(`${LEASES}/h2`, { spec: { holderIdentity: 'h1' } }),
      `leases.coordination.k8s.io "h2" is forbidden: User "system:node:h1" cannot patch resource "leases" in ${group}: can only access node lease with the same name as the requesting node`,
    );
    await refuses(
      ask('POST', LEASES, lease('h3')),
      'leases.coordination.k8s.io "h3" is forbidden: can only access node lease with the same name as the requesting node',
    );
    const elsewhere = LEASES.replace('kube-node-lease', 'default');
    assert.equal((await ask('POST', elsewhere, lease('h1'))).status, 403);
  });

  test('reads what all hosts need, and writes none of it', async () => {
    const slices = '/apis/discovery.k8s.io/v1/endpointslices';
    for (const path of ['/api/v1/services', slices, NODES, '/api/v1/namespaces']) {
      assert.equal((await ask('GET', path)).status, 200, path);
    }
    assert.equal((await ask('GET', '/api/v1/secrets')).status, 403);
    assert.equal((await ask('GET', '/apis/rbac.authorization.k8s.io/v1/clusterroles')).status, 403);
    assert.equal((await ask('POST', `${CORE}/configmaps`, configMap('x'))).status, 403);
    const bind = { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'other' }, target: { name: 'h1' } };
    assert.equal((await ask('POST', `${PODS}/other/binding`, bind)).status, 403);
    assert.equal((await ask('GET', `${PODS}/mine/log`)).status, 403);
  });

  test('evicts its own pods, and leaves no trace on those of others', async () => {
    const eviction = (name: string) => ({ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name } });
    const before = at((await api.get(`${PODS}/other`)).body, 'metadata.resourceVersion');
    await refuses(
      ask('POST', `${PODS}/other/eviction`, eviction('other')),
      'pods "other" is forbidden: node "h1" can only evict pods with spec.nodeName set to itself',
    );
    assert.equal(at((await api.get(`${PODS}/other`)).body, 'metadata.resourceVersion'), before);
    await made(await api.post(PODS, pod('leaving', 'h1')));
    made(await ask('POST', `${PODS}/leaving/eviction`, eviction('leaving')));
  });

  test('changes nothing of a pod but its status, whichever way it writes', async () => {
    const { body: before } = await api.get(`${PODS}/mine`);
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name: 'h1', uid: 'x' }];
    const tries: [string, JsonObject][] = [
      ['its owners', { metadata: { ownerReferences } }],
      ['its name', { metadata: { name: 'other' } }],
      ['its host', { spec: { nodeName: 'h2' } }],
      ['what it runs', { spec: { containers: [{ name: 'c', image: 'evil' }] } }],
      ['what it reads', { spec: { volumes: [{ name: 'v', secret: { secretName: 'elsewhere' } }] } }],
    ];
    for (const [, body] of tries) await patch(`${PODS}/mine/status`, body);
    for (const [what, body] of tries) assert.equal((await patch(`${PODS}/mine`, body)).status, 403, what);
    const { body: after } = await api.get(`${PODS}/mine`);
    assert.deepEqual(after['spec'], before['spec']);
    assert.equal(at(after, 'metadata.ownerReferences'), undefined);
    assert.ok((await ask('PUT', `${PODS}/mine/ephemeralcontainers`, before)).status >= 400);
    assert.equal((await ask('GET', `${CORE}/secrets/elsewhere`)).status, 403);
  });

  test('does nothing to many objects at once, nor to others by a name of its own', async () => {
    for (const path of ['pods', 'secrets', 'configmaps', 'services', 'events', 'serviceaccounts']) {
      assert.equal((await ask('DELETE', `${CORE}/${path}`)).status, 403, path);
    }
    assert.equal((await ask('DELETE', NODES)).status, 403);
    assert.equal((await ask('DELETE', LEASES)).status, 403);
    const stolen = { ...node('h1'), metadata: { name: 'h2', labels: { a: 'b' } } };
    for (const path of ['h1', 'h2']) {
      const { status } = await ask('PUT', `${NODES}/${path}`, stolen);
      assert.ok(status === 400 || status === 403, `${path} ${status}`);
    }
    const apply = { path: `${NODES}/h2?fieldManager=x&force=true`, contentType: 'application/apply-patch+yaml' };
    assert.equal(
      (await host.request({ method: 'PATCH', ...apply, body: node('h2', { labels: { a: 'b' } }) })).status,
      403,
    );
    assert.equal(at((await api.get(`${NODES}/h2`)).body, 'metadata.labels.a'), undefined);
  });

  test('gets tokens for its own pods alone, and certificates as nobody but itself', async () => {
    const account = `${CORE}/serviceaccounts/default/token`;
    const uid = async (name: string) => String(at((await api.get(`${PODS}/${name}`)).body, 'metadata.uid'));
    const request = (name: string, uid: string): JsonObject => ({
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid } },
    });
    const wishes = [{ serviceAccountToken: { path: 't' } }, { serviceAccountToken: { path: 'v', audience: 'vault' } }];
    await made(await api.post(PODS, pod('asking', 'h1', { volumes: [{ name: 't', projected: { sources: wishes } }] })));
    const forVault = async (name: string, ...audiences: string[]): Promise<JsonObject> => {
      const body = request(name, await uid(name));
      return { ...body, spec: { ...(body['spec'] as JsonObject), audiences } };
    };
    made(await ask('POST', account, request('asking', await uid('asking'))));
    made(await ask('POST', account, await forVault('asking', 'vault')));
    await refuses(
      ask('POST', account, await forVault('asking', 'bank')),
      'serviceaccounts "default" is forbidden: audience "bank" not found in pod spec volume, system:node:h1 is not authorized to request tokens for this audience',
    );
    const refused: [string, JsonObject][] = [
      ['that its pod does not want', request('mine', await uid('mine'))],
      ['for more than its pod wants', await forVault('asking', 'vault', 'bank')],
      ['of a pod elsewhere', request('other', await uid('other'))],
      ['of a pod with the UID of another', request('mine', await uid('other'))],
      ['bound to nothing', { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }],
      [
        'bound to its node',
        {
          apiVersion: 'authentication.k8s.io/v1',
          kind: 'TokenRequest',
          spec: { boundObjectRef: { apiVersion: 'v1', kind: 'Node', name: 'h1', uid: 'x' } },
        },
      ],
    ];
    for (const [what, body] of refused) assert.equal((await ask('POST', account, body)).status, 403, what);
    const client = new Client({ transport: host, fieldManager: 'test' });
    const subjects = [
      { commonName: 'system:node:h2', organization: 'system:nodes' },
      { commonName: 'system:node:h1', organization: 'system:masters' },
      { commonName: 'kube-apiserver', organization: 'system:nodes' },
    ];
    for (const subject of subjects) {
      const wish = { ...subject, hosts: [], purpose: 'client' } as const;
      await assert.rejects(obtain(wish, { client, system, approve: false, patience: 300 }), subject.commonName);
      await assert.rejects(obtain(wish, { client, system, approve: true, patience: 300 }), /forbidden|may only|must/i);
    }
  });

  test('is told that the rules of its roles are not all that it may do', async () => {
    const path = '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews';
    const body = {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectRulesReview',
      spec: { namespace: 'default' },
    };
    const own = await ask('POST', path, body);
    assert.equal(at(own.body, 'status.incomplete'), true);
    assert.equal(at(own.body, 'status.evaluationError'), 'node authorizer does not support user rule resolution');
    assert.equal(at((await api.post(path, body)).body, 'status.incomplete'), false);
  });

  test('speaks for nobody else, and makes nobody anything', async () => {
    const roles = '/apis/rbac.authorization.k8s.io/v1';
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' };
    const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'system:node:h1' }];
    const binding = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRoleBinding', metadata: { name: 'x' } };
    assert.equal((await ask('POST', `${roles}/clusterrolebindings`, { ...binding, roleRef, subjects })).status, 403);
    const asAdmin = { 'impersonate-user': 'kubernetes-admin', 'impersonate-group': 'system:masters' };
    await assert.rejects(
      host.upgrade({ method: 'GET', path: '/api/v1/secrets' }, asAdmin),
      /User \\?"system:node:h1\\?" cannot impersonate/,
    );
  });
});
