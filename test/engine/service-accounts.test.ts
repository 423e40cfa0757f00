import assert from 'node:assert/strict';
import { createPublicKey, verify } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { enrol } from '../../src/agent/enrol.ts';
import { IdentityFiles } from '../../src/agent/identity-files.ts';
import { isJsonObject, type Json, type JsonObject } from '../../src/api/json.ts';
import { Client } from '../../src/runtime/client.ts';
import { HttpTransport } from '../../src/runtime/http-transport.ts';
import { type Connection, readKubeconfig } from '../../src/runtime/kubeconfig.ts';
import { system } from '../../src/runtime/system.ts';
import { at, configMap, EngineInTest, eventually, MAPS } from './engine-in-test.ts';

const CORE = '/api/v1/namespaces/default';
const PODS = `${CORE}/pods`;
const ACCOUNTS = `${CORE}/serviceaccounts`;
const ISSUER = 'https://kubernetes.default.svc.cluster.local';
const WHO = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
const GONE = { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0 };

const pod = (name: string, spec: JsonObject = {}, metadata: JsonObject = {}): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, ...metadata },
  spec: { containers: [{ name: 'c', image: 'none' }], ...spec },
});
const account = (name: string, more: JsonObject = {}): JsonObject => ({
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name },
  ...more,
});

describe('service accounts', () => {
  let api: EngineInTest;
  let connection: Connection;
  before(async () => {
    api = await EngineInTest.start();
    const { server, ca = '' } = await readKubeconfig(join(api.directory, 'kubeconfig'));
    connection = { server, ca, insecure: false, namespace: 'default' };
  });
  after(() => api.stop());

  const made = async (path: string, object: JsonObject): Promise<JsonObject> => {
    const { status, body } = await api.post(path, object);
    assert.ok(status < 300, JSON.stringify(body));
    return body;
  };
  const tokenOf = async (name: string, spec: JsonObject = {}): Promise<JsonObject> =>
    made(`${ACCOUNTS}/${name}/token`, { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec });
  const textIn = (request: JsonObject): string => String(at(request, 'status.token'));
  /** What the API says to who brings a token, over HTTPS. */
  const ask = async (token: string, path: string, body?: JsonObject) => {
    const transport = new HttpTransport({ connection: { ...connection, token }, system });
    try {
      return await transport.request({ method: body === undefined ? 'GET' : 'POST', path, ...(body && { body }) });
    } finally {
      transport.close();
    }
  };
  const isGood = async (token: string): Promise<boolean> => {
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
    const { status } = await ask(token, WHO, review);
    assert.ok(status === 201 || status === 401, `${status}`);
    return status === 201;
  };

  test('are given to pods, with a token where their API is wanted', async () => {
    const { spec } = await made(PODS, pod('usual', { initContainers: [{ name: 'i', image: 'none' }] }));
    assert.equal(at(spec, 'serviceAccountName'), 'default');
    assert.equal(at(spec, 'serviceAccount'), 'default');
    const name = String(at(spec, 'volumes.0.name'));
    assert.match(name, /^kube-api-access-[a-z0-9]{5}$/);
    assert.deepEqual(at(spec, 'volumes.0.projected'), {
      defaultMode: 420,
      sources: [
        { serviceAccountToken: { path: 'token', expirationSeconds: 3607 } },
        { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
        {
          downwardAPI: {
            items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
          },
        },
      ],
    });
    for (const container of ['containers.0', 'initContainers.0']) {
      assert.deepEqual(at(spec, `${container}.volumeMounts`), [
        { name, readOnly: true, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' },
      ]);
    }
  });

  test('are given without a token where pod or account say so, or something else is in its place', async () => {
    await made(
      ACCOUNTS,
      account('quiet', { automountServiceAccountToken: false, imagePullSecrets: [{ name: 'pull' }] }),
    );
    const volumesOf = async (name: string, spec: JsonObject) => at(await made(PODS, pod(name, spec)), 'spec.volumes');
    assert.equal(await volumesOf('a', { automountServiceAccountToken: false }), undefined);
    assert.equal(await volumesOf('b', { serviceAccountName: 'quiet' }), undefined);
    const insists = { serviceAccountName: 'quiet', automountServiceAccountToken: true };
    assert.notEqual(await volumesOf('c', insists), undefined);
    const mounts = [{ name: 'own', mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' }];
    const own = [{ name: 'own', emptyDir: {} }];
    const containers = [{ name: 'c', image: 'none', volumeMounts: mounts }];
    assert.deepEqual(await volumesOf('d', { volumes: own, containers }), own);
    assert.deepEqual(at((await api.get(`${PODS}/b`)).body, 'spec.imagePullSecrets'), [{ name: 'pull' }]);
  });

  test('must exist, and the first pod of a namespace waits for its own', async () => {
    const refused = await api.post(PODS, pod('x', { serviceAccountName: 'nobody' }));
    assert.equal(refused.status, 403);
    assert.equal(
      refused.body['message'],
      'pods "x" is forbidden: error looking up service account default/nobody: serviceaccount "nobody" not found',
    );
    await made('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'fresh' } });
    await made('/api/v1/namespaces/fresh/pods', pod('first'));
  });

  test('have tokens that say what Kubernetes says, and that anybody can verify', async () => {
    const request = await tokenOf('default', { audiences: ['vault', ISSUER], expirationSeconds: 900 });
    const [header = '', claims = '', signature = ''] = textIn(request).split('.');
    const parsed = (part: string): JsonObject => JSON.parse(Buffer.from(part, 'base64url').toString());
    const { uid } = (await api.get(`${ACCOUNTS}/default`)).body['metadata'] as JsonObject;
    const { iat, exp, nbf, jti, ...rest } = parsed(claims);
    assert.deepEqual(rest, {
      aud: ['vault', ISSUER],
      iss: ISSUER,
      'kubernetes.io': { namespace: 'default', serviceaccount: { name: 'default', uid } },
      sub: 'system:serviceaccount:default:default',
    });
    assert.equal(Number(exp) - Number(iat), 900);
    assert.equal(nbf, iat);
    assert.match(String(jti), /^[0-9a-f-]{36}$/);
    assert.equal(Date.parse(String(at(request, 'status.expirationTimestamp'))), Number(exp) * 1000);

    const token = textIn(await tokenOf('default'));
    const { body: configuration } = await ask(token, '/.well-known/openid-configuration');
    assert.equal(configuration['issuer'], ISSUER);
    assert.equal(configuration['jwks_uri'], `${connection.server}/openid/v1/jwks`);
    const { body: keys } = await api.get('/openid/v1/jwks');
    const jwk = at(JSON.parse(String(keys['message'] ?? JSON.stringify(keys))), 'keys.0');
    assert.ok(isJsonObject(jwk));
    assert.equal(parsed(header)['kid'], jwk['kid']);
    const key = createPublicKey({ key: jwk as never, format: 'jwk' });
    const data = Buffer.from(`${header}.${claims}`);
    assert.ok(verify('sha256', data, { key, dsaEncoding: 'ieee-p1363' }, Buffer.from(signature, 'base64url')));
  });

  test('are who brings their token, with the rights that roles give them', async () => {
    await made(ACCOUNTS, account('robot'));
    const token = textIn(await tokenOf('robot'));
    const who = await ask(token, WHO, { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' });
    const { username, uid, groups } = at(who.body, 'status.userInfo') as JsonObject;
    assert.equal(username, 'system:serviceaccount:default:robot');
    assert.equal(uid, at((await api.get(`${ACCOUNTS}/robot`)).body, 'metadata.uid'));
    assert.deepEqual(groups, ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated']);
    assert.equal((await ask(token, MAPS)).status, 403);
    await made('/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings', {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name: 'robot' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'edit' },
      subjects: [{ kind: 'ServiceAccount', name: 'robot', namespace: 'default' }],
    });
    assert.equal((await ask(token, MAPS)).status, 200);
    assert.equal((await ask(token, MAPS, configMap('by-robot'))).status, 201);
    await api.delete(`${ACCOUNTS}/robot`);
    assert.equal(await isGood(token), false, 'the account is gone');
    await made(ACCOUNTS, account('robot'));
    assert.equal(await isGood(token), false, 'another one of the same name is another one');
  });

  test('are believed only with a token that is whole, ours, meant for us and not over', async () => {
    const token = textIn(await tokenOf('default'));
    assert.equal(await isGood(token), true);
    const [header = '', claims = '', signature = ''] = token.split('.');
    const changed = (text: string) => `${text.slice(0, -2)}${text.endsWith('AA') ? 'BB' : 'AA'}`;
    const none = Buffer.from(JSON.stringify({ alg: 'none' })).toString('base64url');
    for (const bad of [
      `${header}.${claims}.${changed(signature)}`,
      `${header}.${changed(claims)}.${signature}`,
      `${none}.${claims}.`,
      `${none}.${claims}.${signature}`,
      `${header}.${claims}`,
      `${token}.x`,
      'eyJ',
    ]) {
      assert.equal(await isGood(bad), false, bad);
    }
    assert.equal(await isGood(textIn(await tokenOf('default', { audiences: ['vault'] }))), false);
    const other = await EngineInTest.start();
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
    const foreign = await other.post(`${ACCOUNTS}/default/token`, body);
    await other.stop();
    assert.equal(await isGood(textIn(foreign.body)), false);
  });

  test('are told to who asks about a token, for whom it is meant', async () => {
    const review = async (token: string, audiences?: string[]) => {
      const spec = { token, ...(audiences && { audiences }) };
      const path = '/apis/authentication.k8s.io/v1/tokenreviews';
      return (await made(path, { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec }))['status'];
    };
    const token = textIn(await tokenOf('default', { audiences: ['vault'] }));
    const meant = await review(token, ['other', 'vault']);
    assert.equal(at(meant, 'authenticated'), true);
    assert.deepEqual(at(meant, 'audiences'), ['vault']);
    assert.equal(at(meant, 'user.username'), 'system:serviceaccount:default:default');
    const notMeant = await review(token);
    assert.equal(at(notMeant, 'authenticated') ?? false, false);
    assert.match(String(at(notMeant, 'error')), /token audiences \["vault"\] is invalid for the target audiences/);
    assert.equal(at(await review('nonsense'), 'authenticated') ?? false, false);
  });

  test('lose a token with the pod that it is bound to', async () => {
    const { metadata } = await made(PODS, pod('bound'));
    const uid = at(metadata, 'uid') as Json;
    const boundObjectRef = { apiVersion: 'v1', kind: 'Pod', name: 'bound', uid };
    const request = await tokenOf('default', { boundObjectRef });
    const token = textIn(request);
    const who = await ask(token, WHO, { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' });
    assert.deepEqual(at(who.body, 'status.userInfo.extra')?.['authentication.kubernetes.io/pod-name' as never], [
      'bound',
    ]);
    await api.delete(`${PODS}/bound`, GONE);
    await made(PODS, pod('bound'));
    assert.equal(await isGood(token), false);
    for (const [spec, status, why] of [
      [{ boundObjectRef }, 409, /does not match the UID in record/],
      [{ boundObjectRef: { ...boundObjectRef, name: 'nobody' } }, 404, /"nobody" not found/],
      [
        { boundObjectRef: { apiVersion: 'v1', kind: 'Service', name: 'x' } },
        400,
        /cannot bind token to object of type/,
      ],
      [{ expirationSeconds: 10 }, 422, /may not specify a duration less than 10 minutes/],
    ] as const) {
      const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec };
      const answer = await api.post(`${ACCOUNTS}/default/token`, body);
      assert.equal(answer.status, status);
      assert.match(String(answer.body['message']), why);
    }
  });

  test('give their token to the node of a pod, and to no other', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'netloom-tokens-'));
    const client = new Client({ transport: api.transport, fieldManager: 'test' });
    const { server, ca = '' } = connection;
    await enrol({
      client,
      way: { server, ca, insecure: false },
      name: 'h1',
      addresses: ['127.0.0.1'],
      stateDirectory: folder,
      system,
    });
    const host = new HttpTransport({ connection: await readKubeconfig(new IdentityFiles(folder).kubeconfig), system });
    const bodyFor = (name: string, uid: Json): JsonObject => ({
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid } },
    });
    const asks = async (body: JsonObject, of = 'default') =>
      host.request({ method: 'POST', path: `${ACCOUNTS}/${of}/token`, body });
    const here = at(await made(PODS, pod('here', { nodeName: 'h1' })), 'metadata.uid') as Json;
    const there = at(await made(PODS, pod('there', { nodeName: 'h2' })), 'metadata.uid') as Json;
    await made(ACCOUNTS, account('elsewhere'));
    assert.equal((await asks(bodyFor('here', here))).status, 201);
    for (const [body, of, why] of [
      [bodyFor('there', there), 'default', /node requested token bound to a pod scheduled on a different node$/],
      [bodyFor('here', ''), 'default', /with a pod binding without a uid$/],
      [bodyFor('here', there), 'default', /does not match the UID in record/],
      [{ ...bodyFor('here', here), spec: {} }, 'default', /node requested token not bound to a pod$/],
      [bodyFor('here', here), 'elsewhere', /no relationship found between node 'h1' and this object$/],
    ] as const) {
      const answer = await asks(body, of);
      assert.equal(answer.status, 403, JSON.stringify(answer.body));
      assert.match(String(answer.body['message']), why);
    }
    host.close();
    await rm(folder, { recursive: true });
  });

  test('have tokens in Secrets that are made for them, which go with them', async () => {
    await made(ACCOUNTS, account('old-fashioned'));
    const annotations = { 'kubernetes.io/service-account.name': 'old-fashioned' };
    await made(`${CORE}/secrets`, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'its-token', annotations },
      type: 'kubernetes.io/service-account-token',
    });
    const { body } = await eventually(
      () => api.get(`${CORE}/secrets/its-token`),
      (answer) => at(answer.body, 'data.token') !== undefined,
    );
    const text = (key: string) => Buffer.from(String((body['data'] as JsonObject)[key]), 'base64').toString();
    assert.equal(text('namespace'), 'default');
    assert.match(text('ca.crt'), /BEGIN CERTIFICATE/);
    assert.equal(await isGood(text('token')), true);
    await api.delete(`${ACCOUNTS}/old-fashioned`);
    assert.equal(await isGood(text('token')), false);
    await eventually(
      () => api.get(`${CORE}/secrets/its-token`),
      ({ status }) => status === 404,
    );
  });
});
