import assert from 'node:assert/strict';
import { webcrypto, X509Certificate } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import 'reflect-metadata';
import * as x509 from '@peculiar/x509';
import { requestFor, type Subject } from '../../src/agent/certificate-request.ts';
import { enrol } from '../../src/agent/enrol.ts';
import { Identity } from '../../src/agent/identity.ts';
import { IdentityFiles } from '../../src/agent/identity-files.ts';
import type { UserInfo } from '../../src/api/admission.ts';
import { isJsonObject, type Json, type JsonObject } from '../../src/api/json.ts';
import { Client } from '../../src/runtime/client.ts';
import { HttpTransport } from '../../src/runtime/http-transport.ts';
import { readKubeconfig } from '../../src/runtime/kubeconfig.ts';
import { silentLog } from '../../src/runtime/log.ts';
import { system } from '../../src/runtime/system.ts';
import { at, EngineInTest, eventually } from './engine-in-test.ts';

const REQUESTS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const WHO = '/apis/authentication.k8s.io/v1/selfsubjectreviews';

const node = (name: string): UserInfo => ({
  username: `system:node:${name}`,
  groups: ['system:nodes', 'system:authenticated'],
});
const subjectOf = (name: string, hosts: string[] = []): Subject => ({
  commonName: `system:node:${name}`,
  organization: 'system:nodes',
  hosts,
});
const usagesOf = { client: ['digital signature', 'client auth'], serving: ['digital signature', 'server auth'] };
const signerOf = {
  client: 'kubernetes.io/kube-apiserver-client-kubelet',
  serving: 'kubernetes.io/kubelet-serving',
  api: 'kubernetes.io/kube-apiserver-client',
};

describe('certificates that are asked for', () => {
  let api: EngineInTest;
  let authority: string;
  before(async () => {
    api = await EngineInTest.start();
    authority = (await readFile(`${api.directory}/pki/ca.pem`, 'utf8')).split('-----BEGIN PRIVATE KEY-----')[0] ?? '';
  });
  after(() => api.stop());

  const requestOf = (name: string, subject: Subject, spec: JsonObject, metadata: JsonObject = {}): JsonObject => ({
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name, ...metadata },
    spec: { request: Buffer.from(requestFor(subject).request).toString('base64'), ...spec },
  });
  const client: JsonObject = { signerName: signerOf.client, usages: usagesOf.client };
  const serving: JsonObject = { signerName: signerOf.serving, usages: usagesOf.serving };

  const ask = async (object: JsonObject, user?: UserInfo) => {
    const transport = user === undefined ? api.transport : api.as(user);
    return transport.request({ method: 'POST', path: REQUESTS, body: object });
  };
  const approve = (name: string, user?: UserInfo) =>
    (user === undefined ? api.transport : api.as(user)).request({
      method: 'PATCH',
      path: `${REQUESTS}/${name}/approval`,
      contentType: 'application/merge-patch+json',
      body: { status: { conditions: [{ type: 'Approved', status: 'True', reason: 'Test', message: 'm' }] } },
    });
  const outcomeOf = (name: string) =>
    eventually(
      async () => (await api.get(`${REQUESTS}/${name}`)).body,
      (body) => at(body, 'status.certificate') !== undefined || conditionOf(body, 'Failed') !== undefined,
    );
  const certificateIn = (body: Json) =>
    new X509Certificate(Buffer.from(String(at(body, 'status.certificate')), 'base64'));
  const refusedWith = async (name: string) => conditionOf(await outcomeOf(name), 'Failed');

  test('are signed once a person has approved them, for what was asked and as long as was asked', async () => {
    await ask(requestOf('one', subjectOf('n', ['10.0.0.7', 'n.example']), { ...serving, expirationSeconds: 3600 }));
    assert.equal(at((await api.get(`${REQUESTS}/one`)).body, 'status.certificate'), undefined);
    assert.equal((await approve('one')).status, 200);
    const issued = certificateIn(await outcomeOf('one'));
    assert.ok(issued.verify(new X509Certificate(authority).publicKey));
    assert.equal(issued.subject, 'O=system:nodes\nCN=system:node:n');
    assert.deepEqual(issued.keyUsage, ['1.3.6.1.5.5.7.3.1']);
    assert.equal(issued.checkIP('10.0.0.7'), '10.0.0.7');
    assert.equal(issued.checkHost('n.example'), 'n.example');
    assert.equal(issued.checkHost('other.example'), undefined);
    const seconds = (issued.validToDate.getTime() - Date.now()) / 1000;
    assert.ok(seconds > 3500 && seconds <= 3600, `${seconds}`);
    assert.equal(issued.ca, false);
  });

  test('say who asked for them, whatever the request says', async () => {
    const lie = requestOf('lie', subjectOf('n'), {
      ...client,
      username: 'admin',
      groups: ['system:masters'],
      uid: '1',
    });
    await ask(lie, node('n'));
    const { spec } = (await api.get(`${REQUESTS}/lie`)).body;
    assert.equal(at(spec, 'username'), 'system:node:n');
    assert.deepEqual(at(spec, 'groups'), ['system:nodes', 'system:authenticated']);
    assert.equal(at(spec, 'uid'), undefined);
  });

  test('need nobody when a node renews the one by which it is known', async () => {
    await ask(requestOf('renewal', subjectOf('n'), client), node('n'));
    const body = await outcomeOf('renewal');
    assert.equal(conditionOf(body, 'Approved')?.['reason'], 'AutoApproved');
    assert.deepEqual(certificateIn(body).keyUsage, ['1.3.6.1.5.5.7.3.2']);
  });

  test('wait for a person when a node asks in the name of another, or for addresses that it has no certificate for', async () => {
    await ask(requestOf('other', subjectOf('m'), client), node('n'));
    await ask(requestOf('new', subjectOf('n', ['10.0.0.9']), serving), node('n'));
    const issued = certificateIn((await api.get(`${REQUESTS}/one`)).body).toString();
    const renews = { annotations: { 'netloom.io/renews': issued } };
    await ask(requestOf('more', subjectOf('n', ['10.0.0.7', '10.0.0.9']), serving, renews), node('n'));
    await ask(requestOf('stolen', subjectOf('m', ['10.0.0.7']), serving, renews), node('m'));
    const named = certificateIn((await api.get(`${REQUESTS}/one`)).body).checkHost('.example');
    assert.equal(named, 'n.example', 'as if it were a pattern');
    await ask(requestOf('all-below', subjectOf('n', ['10.0.0.7', '.example']), serving, renews), node('n'));
    await ask(requestOf('same', subjectOf('n', ['10.0.0.7']), serving, renews), node('n'));
    assert.equal(conditionOf(await outcomeOf('same'), 'Approved')?.['reason'], 'AutoApproved');
    for (const name of ['other', 'new', 'more', 'stolen', 'all-below']) {
      assert.deepEqual((await api.get(`${REQUESTS}/${name}`)).body['status'], {}, name);
    }
  });

  test('are refused where they go beyond what their signer signs, in the words of Kubernetes', async () => {
    const refusals: [string, JsonObject, string][] = [
      ['san', requestOf('san', subjectOf('n', ['10.0.0.1']), client), 'IP subjectAltNames are not allowed'],
      ['dns', requestOf('dns', subjectOf('n', ['a.example']), client), 'DNS subjectAltNames are not allowed'],
      ['no-san', requestOf('no-san', subjectOf('n'), serving), 'DNS or IP subjectAltName is required'],
      [
        'org',
        requestOf('org', { ...subjectOf('n'), organization: 'system:masters' }, client),
        'subject organization is not system:nodes',
      ],
      [
        'cn',
        requestOf('cn', { ...subjectOf('n'), commonName: 'admin' }, client),
        'subject common name does not begin with "system:node:"',
      ],
      [
        'usage',
        requestOf('usage', subjectOf('n'), { ...client, usages: ['digital signature', 'client auth', 'server auth'] }),
        'usages did not match ["client auth","digital signature","key encipherment"]',
      ],
    ];
    for (const [name, object, why] of refusals) {
      assert.equal((await ask(object)).status, 201);
      await approve(name);
      const failed = await refusedWith(name);
      assert.equal(failed?.['reason'], 'SignerValidationFailure');
      assert.equal(failed?.['message'], why);
    }
  });

  test('are refused where the request was changed on its way', async () => {
    const der = Buffer.from(requestFor(subjectOf('n')).request.replace(/-----.*-----|\n/g, ''), 'base64');
    const place = der.indexOf('system:node:n');
    der.write('m', place + 'system:node:'.length);
    const pem = `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;
    const forged = requestOf('forged', subjectOf('n'), client);
    await ask({ ...forged, spec: { ...client, request: Buffer.from(pem).toString('base64') } });
    await approve('forged');
    assert.match(String((await refusedWith('forged'))?.['message']), /not signed with the key that it is about/);
  });

  test('have one holder: the one by whom they are approved is the one whom they name', async () => {
    const two = [{ O: ['system:nodes'] }, { CN: ['system:node:victim'] }, { CN: ['system:node:n'] }];
    const body = requestOf('two', subjectOf('n'), { ...client, request: await requestWith(two) });
    assert.equal((await ask(body, node('n'))).status, 201);
    // Whoever asks later is decided about later.
    await ask(requestOf('after-two', subjectOf('n'), client), node('n'));
    await outcomeOf('after-two');
    assert.deepEqual((await api.get(`${REQUESTS}/two`)).body['status'], {});
    await approve('two');
    const why = 'the subject has several common names, and can be only one holder';
    assert.equal((await refusedWith('two'))?.['message'], why);
  });

  test('say nothing that was not understood when they were approved, in whatever way it was written', async () => {
    const written = (tag: string, text: string) =>
      `#${tag}${text.length.toString(16).padStart(2, '0')}${Buffer.from(text).toString('hex')}`;
    // A VisibleString, which some programs read and others do not.
    const odd = [{ O: [written('1a', 'system:masters')] }, { O: ['dev'] }, { CN: ['ann'] }];
    const spec = { signerName: signerOf.api, usages: ['client auth'], request: await requestWith(odd) };
    assert.equal((await ask(requestOf('odd', subjectOf('n'), spec))).status, 201);
    await approve('odd');
    const groups = certificateIn(await outcomeOf('odd')).subject.split('\n');
    assert.ok(groups.includes('O=dev') && !groups.includes('O=system:masters'), `${groups}`);
  });

  test('cannot make an administrator, nor be decided by who may not', async () => {
    const spec = { signerName: signerOf.api, usages: ['client auth'] };
    const master = requestOf('master', { commonName: 'eve', organization: 'system:masters', hosts: [] }, spec);
    const refused = await ask(master);
    assert.equal(refused.status, 403);
    assert.equal(
      refused.body['message'],
      'certificatesigningrequests.certificates.k8s.io "master" is forbidden: use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed',
    );
    await ask(requestOf('person', { commonName: 'ann', organization: 'dev', hosts: [] }, spec));
    await api.post('/apis/rbac.authorization.k8s.io/v1/clusterroles', {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'approver' },
      rules: [
        { apiGroups: ['certificates.k8s.io'], resources: ['*'], verbs: ['patch', 'update'] },
        { apiGroups: ['certificates.k8s.io'], resources: ['signers'], resourceNames: ['example.com/*'], verbs: ['*'] },
      ],
    });
    await api.post('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: 'approver' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'approver' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'bob' }],
    });
    const bob = { username: 'bob', groups: ['system:authenticated'] };
    assert.match(
      String((await approve('person', bob)).body['message']),
      /user not permitted to approve requests with signerName "kubernetes.io\/kube-apiserver-client"/,
    );
    const signs = await api.as(bob).request({
      method: 'PATCH',
      path: `${REQUESTS}/person/status`,
      contentType: 'application/merge-patch+json',
      body: { status: { certificate: Buffer.from(authority).toString('base64') } },
    });
    assert.equal(signs.status, 403);
    assert.equal((await approve('person')).status, 200);
    assert.equal(certificateIn(await outcomeOf('person')).subject, 'O=dev\nCN=ann');
  });

  test('are renewed by their host when most of their life is over, and not before', async (t) => {
    const early = await hostOf(t, api, { name: 'early', over: 0.6, addresses: ['10.0.1.1'] });
    const late = await hostOf(t, api, { name: 'late', over: 0.85, addresses: ['10.0.1.1'] });
    await eventually(
      async () => late.renewed.toSorted(),
      (renewed) => renewed.length >= 2,
    );
    assert.deepEqual(new Set(late.renewed), new Set(['client', 'serving']));
    for (const which of ['client', 'serving'] as const) {
      assert.notDeepEqual(await late.files.read(which), late.first[which]);
      assert.deepEqual(await early.files.read(which), early.first[which]);
    }
  });

  test('wait for a person for as long as it takes where a host has another address, who decides about one request', async (t) => {
    const moved = await hostOf(t, api, { name: 'moved', over: 0, addresses: ['10.0.1.2'] });
    const requests = async () => {
      const { items } = (await api.get(REQUESTS)).body;
      const own = (Array.isArray(items) ? items : []).filter(
        (each) => at(each, 'spec.username') === 'system:node:moved',
      );
      return own.map((each) => String(at(each, 'metadata.name')));
    };
    // It has lost patience, and found it again.
    await eventually(
      async () => moved.troubles,
      (troubles) => troubles.length >= 3,
    );
    const [only = '', ...more] = await requests();
    assert.deepEqual(more, []);
    assert.match(moved.troubles.at(-1) ?? '', new RegExp(`^serving: .*kubectl certificate approve ${only} `));
    await approve(only);
    await eventually(
      async () => moved.renewed,
      (renewed) => renewed.includes('serving'),
    );
    const serving = new X509Certificate((await moved.files.read('serving'))?.certificate ?? '');
    assert.equal(serving.checkIP('10.0.1.2'), '10.0.1.2');
  });

  test('make a host known: by its own certificate it is system:node:NAME, and by the serving one nobody', async () => {
    const stateDirectory = await mkdtemp(join(tmpdir(), 'netloom-enrol-'));
    const { server, ca = '' } = await readKubeconfig(join(api.directory, 'kubeconfig'));
    const way = { server, ca, insecure: false, serverName: 'kubernetes' };
    const admin = new Client({ transport: api.transport, fieldManager: 'test' });
    const options = { client: admin, way, name: 'h1', addresses: ['10.9.9.9'], stateDirectory, system };
    await enrol(options);
    const files = new IdentityFiles(stateDirectory);
    const first = await files.read('client');
    await enrol(options);
    assert.deepEqual(await files.read('client'), first, 'what is good is kept');
    await enrol({ ...options, addresses: ['10.9.9.9', '10.9.9.10'] });
    assert.deepEqual(await files.read('client'), first);

    const asks = async (connection: Parameters<typeof transportOf>[0]) => {
      const transport = transportOf(connection);
      try {
        const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
        return await transport.request({ method: 'POST', path: WHO, body });
      } finally {
        transport.close();
      }
    };
    const connection = await readKubeconfig(files.kubeconfig);
    const known = await asks(connection);
    assert.equal(at(known.body, 'status.userInfo.username'), 'system:node:h1');
    assert.deepEqual(at(known.body, 'status.userInfo.groups'), ['system:nodes', 'system:authenticated']);
    const pair = await files.read('serving');
    assert.ok(new X509Certificate(pair?.certificate ?? '').checkIP('10.9.9.10'));
    const unknown = await asks({ ...connection, clientCert: pair?.certificate ?? '', clientKey: pair?.key ?? '' });
    assert.equal(unknown.status, 401);
    await rm(stateDirectory, { recursive: true });
  });
});

/** A request with a subject that no agent of ours would write; as a CertificateSigningRequest carries it. */
async function requestWith(name: x509.JsonName): Promise<string> {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const request = await x509.Pkcs10CertificateRequestGenerator.create({ name, keys, signingAlgorithm: algorithm });
  return Buffer.from(request.toString('pem')).toString('base64');
}

/** A host that has been enrolled, and keeps its certificates; of each year, so much is over. */
async function hostOf(
  t: TestContext,
  api: EngineInTest,
  { name, over, addresses }: { name: string; over: number; addresses: string[] },
) {
  const stateDirectory = await mkdtemp(join(tmpdir(), 'netloom-identity-'));
  const { server, ca = '' } = await readKubeconfig(join(api.directory, 'kubeconfig'));
  const admin = new Client({ transport: api.transport, fieldManager: 'test' });
  await enrol({
    client: admin,
    way: { server, ca, insecure: false },
    name,
    addresses: ['10.0.1.1'],
    stateDirectory,
    system,
  });
  const files = new IdentityFiles(stateDirectory);
  const first = { client: await files.read('client'), serving: await files.read('serving') };
  const later = over * 365 * 24 * 3600 * 1000;
  // Nobody waits as long as an agent does.
  const hurried = {
    ...system,
    now: () => system.now() + later,
    uptime: () => system.uptime() * 100,
    timer: (ms: number, ring: () => void) => system.timer(ms / 100, ring),
  };
  const transport = new HttpTransport({ connection: await readKubeconfig(files.kubeconfig), system });
  const client = new Client({ transport, fieldManager: 'test' });
  const renewed: string[] = [];
  const troubles: string[] = [];
  const identity = new Identity({
    ...{ name, client, files, addresses, system: hurried, log: silentLog },
    changed: (which) => void renewed.push(which),
    trouble: (which, message) => {
      if (message !== undefined) troubles.push(`${which}: ${message}`);
    },
  });
  t.after(async () => {
    await identity.stop();
    transport.close();
    await rm(stateDirectory, { recursive: true });
  });
  return { files, first, renewed, troubles };
}

const transportOf = (connection: Awaited<ReturnType<typeof readKubeconfig>>) =>
  new HttpTransport({ connection, system });

function conditionOf(body: Json, type: string): JsonObject | undefined {
  const conditions = at(body, 'status.conditions');
  if (!Array.isArray(conditions)) return undefined;
  return conditions.filter(isJsonObject).find((condition) => condition['type'] === type);
}
