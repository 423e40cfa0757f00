import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import type { Json, JsonObject } from '../../src/api/json.ts';
import { Prefix } from '../../src/api/prefix.ts';
import { at, EngineInTest, eventually } from './engine-in-test.ts';

const SERVICES = '/api/v1/namespaces/default/services';

const ports = (...numbers: number[]): JsonObject[] =>
  numbers.map((port) => ({ name: `p${port}`, port, protocol: 'TCP' }));
const service = (name: string, spec: JsonObject = {}): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name },
  spec: { ports: ports(80), ...spec },
});
const networks = (...texts: string[]): Prefix[] =>
  texts.map((text) => Prefix.parse(text)).filter((network) => network !== undefined);
const addressesOf = (object: JsonObject): Json | undefined => at(object, 'spec.clusterIPs');

describe('addresses of Services', () => {
  let api: EngineInTest;
  before(async () => {
    api = await EngineInTest.start();
  });
  after(() => api.stop());

  const make = async (name: string, spec: JsonObject = {}): Promise<JsonObject> => {
    const { status, body } = await api.post(SERVICES, service(name, spec));
    assert.equal(status, 201, String(body['message']));
    return body;
  };
  const refused = async (name: string, spec: JsonObject): Promise<string> => {
    const { status, body } = await api.post(SERVICES, service(name, spec));
    assert.equal(status, 422, JSON.stringify(body));
    return String(body['message']);
  };

  test('a Service gets one of the network, and is of its family', async () => {
    const { spec } = await make('plain');
    const address = String(at(spec, 'clusterIP'));
    assert.match(address, /^10\.96\.\d+\.\d+$/);
    assert.deepEqual(at(spec, 'clusterIPs'), [address]);
    assert.deepEqual(at(spec, 'ipFamilies'), ['IPv4']);
    assert.equal(at(spec, 'ipFamilyPolicy'), 'SingleStack');
  });

  test('one that is asked for is given, unless it is taken or elsewhere', async () => {
    assert.deepEqual(addressesOf(await make('chosen', { clusterIP: '10.96.0.77' })), ['10.96.0.77']);
    assert.match(
      await refused('late', { clusterIP: '10.96.0.77' }),
      /spec\.clusterIPs: Invalid value: .*failed to allocate IP 10\.96\.0\.77: provided IP is already allocated$/,
    );
    assert.match(
      await refused('far', { clusterIP: '192.0.2.1' }),
      /failed to allocate IP 192\.0\.2\.1: the provided IP \(192\.0\.2\.1\) is not in the valid range\. The range of valid IPs is 10\.96\.0\.0\/16$/,
    );
    assert.match(await refused('none', { clusterIP: '10.96.255.255' }), /is not in the valid range/);
  });

  test('of many that ask for the same at once one gets it', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, i) => api.post(SERVICES, service(`race-${i}`, { clusterIP: '10.96.0.88' }))),
    );
    assert.deepEqual(answers.map(({ status }) => status).sort(), [201, ...Array(7).fill(422)]);
  });

  test('it is free again when the Service is gone, or is only a name', async () => {
    await make('first', { clusterIP: '10.96.0.99' });
    await api.delete(`${SERVICES}/first`);
    const second = await make('second', { clusterIP: '10.96.0.99' });
    const spec = { ...(second['spec'] as JsonObject), type: 'ExternalName', externalName: 'example.org' };
    const named = await api.put(`${SERVICES}/second`, { ...second, spec });
    assert.equal(named.status, 200, String(named.body['message']));
    assert.equal(addressesOf(named.body), undefined);
    await make('third', { clusterIP: '10.96.0.99' });
    const back = await api.put(`${SERVICES}/second`, service('second', { type: 'ClusterIP' }));
    assert.match(String(at(back.body, 'spec.clusterIP')), /^10\.96\./);
  });

  test('a write that is refused or only tried takes nothing', async () => {
    assert.match(await refused('wrong', { clusterIP: '10.96.0.111', type: 'Bogus' }), /spec\.type: Unsupported value/);
    const tried = await api.post(`${SERVICES}?dryRun=All`, service('tried', { clusterIP: '10.96.0.111' }));
    assert.deepEqual(addressesOf(tried.body), ['10.96.0.111']);
    const shown = await api.post(`${SERVICES}?dryRun=All`, service('shown', { type: 'NodePort' }));
    assert.match(String(at(shown.body, 'spec.clusterIP')), /^10\.96\./);
    assert.ok(Number(at(shown.body, 'spec.ports.0.nodePort')) >= 30_000);
    await make('taker', { clusterIP: '10.96.0.111' });
  });

  test('a headless one has none, one that is a name has neither address nor family', async () => {
    const headless = await make('headless', { clusterIP: 'None', selector: { app: 'a' } });
    assert.deepEqual(addressesOf(headless), ['None']);
    assert.deepEqual(at(headless, 'spec.ipFamilies'), ['IPv4']);
    const foreign = await make('foreign', { clusterIP: 'None' });
    assert.deepEqual(at(foreign, 'spec.ipFamilies'), ['IPv4', 'IPv6']);
    const name = await make('name', { type: 'ExternalName', externalName: 'example.org' });
    assert.equal(at(name, 'spec.clusterIP'), undefined);
    assert.equal(at(name, 'spec.ipFamilies'), undefined);
  });

  test('it stays when somebody replaces the Service without naming it, and cannot be changed', async () => {
    const made = await make('lasting');
    const kept = await api.put(`${SERVICES}/lasting`, service('lasting', { ports: ports(81) }));
    assert.deepEqual(addressesOf(kept.body), addressesOf(made));
    const moved = await api.put(`${SERVICES}/lasting`, service('lasting', { clusterIP: '10.96.0.123' }));
    assert.equal(moved.status, 422);
    assert.match(String(moved.body['message']), /may not change once set/);
  });

  test('ports of hosts come from their range, TCP and UDP of one port share theirs', async () => {
    const both = [
      { name: 't', port: 53, protocol: 'TCP' },
      { name: 'u', port: 53, protocol: 'UDP' },
      { name: 'w', port: 80, protocol: 'TCP' },
    ];
    const { spec } = await make('node-ports', { type: 'NodePort', ports: both });
    const given = [0, 1, 2].map((i) => Number(at(spec, `ports.${i}.nodePort`)));
    assert.ok(given.every((port) => port >= 30_000 && port <= 32_767));
    assert.equal(given[0], given[1]);
    assert.notEqual(given[0], given[2]);
    const wanted = (nodePort: number) => ({ type: 'NodePort', ports: [{ port: 80, nodePort }] });
    assert.match(
      await refused('taken', wanted(given[0] ?? 0)),
      /spec\.ports\[0\]\.nodePort: Invalid value: \d+: provided port is already allocated$/,
    );
    assert.match(
      await refused('outside', wanted(80)),
      /provided port is not in the valid range\. The range of valid ports is 30000-32767$/,
    );
    const closed = await api.patch(`${SERVICES}/node-ports`, 'merge', { spec: { type: 'ClusterIP' } });
    assert.equal(at(closed.body, 'spec.ports.0.nodePort'), undefined);
    await make('taker-of-port', wanted(given[0] ?? 0));
  });

  test('a balanced Service with local traffic has a port to be asked for its health, and may do without others', async () => {
    const balanced = { type: 'LoadBalancer', externalTrafficPolicy: 'Local' };
    const { spec } = await make('checked', balanced);
    const port = Number(at(spec, 'healthCheckNodePort'));
    assert.ok(port >= 30_000);
    const again = await api.post(SERVICES, service('again', { ...balanced, healthCheckNodePort: port }));
    assert.equal(again.status, 500);
    assert.match(String(again.body['message']), /provided port is already allocated$/);
    const without = await make('without', { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false });
    assert.equal(at(without, 'spec.ports.0.nodePort'), undefined);
  });

  test('two families are refused where there is one, and preferred only', async () => {
    assert.match(
      await refused('both', { ipFamilyPolicy: 'RequireDualStack' }),
      /spec\.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack services$/,
    );
    assert.match(
      await refused('six', { ipFamilies: ['IPv6'] }),
      /spec\.ipFamilies\[0\]: Invalid value: "IPv6": not configured on this cluster$/,
    );
    const preferred = await make('preferred', { ipFamilyPolicy: 'PreferDualStack' });
    assert.deepEqual(at(preferred, 'spec.ipFamilies'), ['IPv4']);
  });

  test('pods can trust who answers under the address and the names of the API', async () => {
    const certificate = new X509Certificate(await readFile(`${api.directory}/pki/server.pem`));
    assert.equal(certificate.checkIP('10.96.0.1'), '10.96.0.1');
    for (const name of ['kubernetes', 'kubernetes.default.svc', 'kubernetes.default.svc.cluster.local']) {
      assert.equal(certificate.checkHost(name), name);
    }
  });

  test('the Service of the API has the first address, and comes back', async () => {
    const { body } = await api.get(`${SERVICES}/kubernetes`);
    assert.equal(at(body, 'spec.clusterIP'), '10.96.0.1');
    assert.equal(at(body, 'spec.ports.0.port'), 443);
    const slice = await api.get('/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes');
    assert.equal(labelOf(slice.body), 'kubernetes');
    await api.delete(`${SERVICES}/kubernetes`);
    const back = await eventually(
      () => api.get(`${SERVICES}/kubernetes`),
      ({ status }) => status === 200,
    );
    assert.equal(at(back.body, 'spec.clusterIP'), '10.96.0.1');
  });
});

const labelOf = (object: JsonObject): Json | undefined =>
  (at(object, 'metadata.labels') as JsonObject)['kubernetes.io/service-name'];

describe('addresses of Services of two families', () => {
  const services = { networks: networks('10.96.0.0/28', 'fd00:96::/112'), nodePorts: { first: 30_000, last: 30_002 } };
  let api: EngineInTest;
  before(async () => {
    api = await EngineInTest.start({ services });
  });
  after(() => api.stop());

  test('are said on the Service of the API, for those who lead to them', async () => {
    const { body } = await api.get(`${SERVICES}/kubernetes`);
    const annotations = at(body, 'metadata.annotations') as JsonObject;
    assert.equal(annotations['netloom.io/service-cidrs'], '10.96.0.0/28,fd00:96::/112');
  });

  test('come and go with the policy', async () => {
    const made = await api.post(SERVICES, service('both', { ipFamilyPolicy: 'RequireDualStack' }));
    const [four, six] = addressesOf(made.body) as string[];
    assert.match(String(four), /^10\.96\.0\./);
    assert.match(String(six), /^fd00:96::/);
    const single = await api.patch(`${SERVICES}/both`, 'merge', { spec: { ipFamilyPolicy: 'SingleStack' } });
    assert.deepEqual(addressesOf(single.body), [four]);
    const other = await api.post(
      SERVICES,
      service('six', { clusterIPs: [six ?? ''], clusterIP: six ?? '', ipFamilies: ['IPv6'] }),
    );
    assert.deepEqual(addressesOf(other.body), [six]);
    const again = await api.patch(`${SERVICES}/both`, 'merge', { spec: { ipFamilyPolicy: 'PreferDualStack' } });
    const [first, second] = addressesOf(again.body) as string[];
    assert.equal(first, four);
    assert.match(String(second), /^fd00:96::/);
    assert.notEqual(second, six);
  });

  test('a network that is full says so, and is not after something goes', async () => {
    const made: string[] = [];
    let last = '';
    for (let i = 0; i < 20 && last === ''; i += 1) {
      const { status, body } = await api.post(SERVICES, service(`full-${i}`));
      if (status === 201) made.push(`full-${i}`);
      else last = String(body['message']);
    }
    assert.equal(last, 'Internal error occurred: failed to allocate a serviceIP: range is full');
    await api.delete(`${SERVICES}/${made[0]}`);
    assert.equal((await api.post(SERVICES, service('after'))).status, 201);
  });

  test('what was given is known after a restart', async () => {
    const one = await EngineInTest.start({ services });
    const { body } = await one.post(SERVICES, service('kept', { type: 'NodePort', clusterIP: '10.96.0.9' }));
    const nodePort = Number(at(body, 'spec.ports.0.nodePort'));
    await one.engine.close();
    const two = await EngineInTest.start({ services, directory: one.directory });
    const address = await two.post(SERVICES, service('late', { clusterIP: '10.96.0.9' }));
    const port = await two.post(SERVICES, service('late', { type: 'NodePort', ports: [{ port: 80, nodePort }] }));
    await two.stop();
    assert.match(String(address.body['message']), /provided IP is already allocated/);
    assert.match(String(port.body['message']), /provided port is already allocated/);
  });
});
