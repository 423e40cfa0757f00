import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { customResourceDefinition } from '../../src/api/crd.ts';
import type { JsonObject } from '../../src/api/json.ts';
import { allKinds } from '../../src/api/kinds.ts';
import { ipamAdmission, ipamControllers } from '../../src/ipam/index.ts';
import { CustomResourceDefinition } from '../../src/runtime/builtin.ts';
import { Client } from '../../src/runtime/client.ts';
import { silentLog } from '../../src/runtime/log.ts';
import { Manager } from '../../src/runtime/manager.ts';
import { system } from '../../src/runtime/system.ts';
import { vipsAdmission, vipsControllers } from '../../src/vips/index.ts';
import { at, EngineInTest, eventually } from './engine-in-test.ts';

const EXAMPLES = new URL('../../examples/', import.meta.url);
const POOLS = '/apis/metallb.io/v1beta1/namespaces/metallb-system/ipaddresspools';
const SERVICES = '/api/v1/namespaces/default/services';
const NETWORK = '/apis/network.openstack.org/v1beta1/namespaces/default';

const collections: Record<string, string> = {
  Namespace: '/api/v1/namespaces',
  IPAddressPool: POOLS,
  L2Advertisement: '/apis/metallb.io/v1beta1/namespaces/metallb-system/l2advertisements',
  Service: SERVICES,
  NetConfig: `${NETWORK}/netconfigs`,
  IPSet: `${NETWORK}/ipsets`,
};

describe('addresses for Services, on the real engine beside those for hosts', () => {
  let api: EngineInTest;
  let manager: Manager;
  before(async () => {
    api = await EngineInTest.start({ kinds: allKinds, admission: [...ipamAdmission, ...vipsAdmission()] });
    const client = new Client({ transport: api.transport, fieldManager: 'test' });
    for (const kind of allKinds) {
      await client.apply(CustomResourceDefinition, customResourceDefinition(kind), { force: true });
    }
    manager = new Manager({
      transport: api.transport,
      controllers: [...ipamControllers(), ...vipsControllers()],
      system,
      log: silentLog,
      fieldManager: 'netloom',
      instance: 'test',
    });
    manager.start();
  });
  after(async () => {
    await manager.stop({ within: 2_000 });
    await api.stop();
  });

  const create = async (object: JsonObject): Promise<void> => {
    const { status, body } = await api.post(collections[String(object['kind'])] ?? '', object);
    assert.equal(status, 201, JSON.stringify(body));
  };
  const example = async (folder: string): Promise<void> => {
    for (const name of (await readdir(new URL(folder, EXAMPLES))).sort()) {
      const text = await readFile(new URL(`${folder}${name}`, EXAMPLES), 'utf8');
      for (const document of parseAllDocuments(text)) await create(document.toJS());
    }
  };
  const ingressOf = (name: string) =>
    eventually(
      async () => at((await api.get(`${SERVICES}/${name}`)).body, 'status.loadBalancer.ingress'),
      (ingress) => ingress !== undefined,
    );
  const service = (name: string, annotations: JsonObject = {}, port = 80): JsonObject => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, annotations },
    spec: { type: 'LoadBalancer', ports: [{ port }] },
  });
  const ipSet = (name: string, fixedIP: string): JsonObject => ({
    apiVersion: 'network.openstack.org/v1beta1',
    kind: 'IPSet',
    metadata: { name },
    spec: { networks: [{ name: 'InternalApi', subnetName: 'subnet1', fixedIP }] },
  });
  const eventsOf = async (name: string): Promise<string> => {
    const { body } = await api.get(`/api/v1/namespaces/default/events?fieldSelector=involvedObject.name=${name}`);
    return JSON.stringify(body);
  };

  test('the examples give two Services one address, beside the networks of hosts', async () => {
    await example('ipam/');
    await example('pools/');
    for (const name of ['glance-internal', 'keystone-internal']) {
      assert.deepEqual(await ingressOf(name), [{ ip: '172.17.0.80', ipMode: 'VIP' }]);
      const { body } = await api.get(`${SERVICES}/${name}`);
      const annotations = at(body, 'metadata.annotations') as JsonObject;
      assert.equal(annotations['metallb.io/ip-allocated-from-pool'], 'internalapi');
    }
    const pool = await eventually(
      async () => (await api.get(`${POOLS}/internalapi`)).body,
      (body) => at(body, 'status.usage') === '1 of 11 IPv4',
    );
    assert.equal(at(pool, 'status.conditions.0.status'), 'True');
    const overlaps = JSON.stringify(at(pool, 'status.conditions'));
    assert.match(overlaps, /172\.17\.0\.10-172\.17\.0\.250 of network InternalApi\/subnet1 in namespace default/);
  });

  test('a host cannot have the address of a Service, and is told whose it is', async () => {
    const { status, body } = await api.post(`${NETWORK}/ipsets`, ipSet('greedy', '172.17.0.80'));
    assert.equal(status, 422);
    assert.match(
      String(body['message']),
      /fixedIP: .*"172\.17\.0\.80": the address is held by Service\/\w+-internal in/,
    );
  });

  test('a Service does not get the address of a host, and gets it when the host has gone', async () => {
    await create(ipSet('host', '172.17.0.81'));
    await eventually(
      () => api.get(`${NETWORK}/ipsets/host`),
      ({ body }) => at(body, 'status.conditions.0.status') === 'True',
    );
    await create(service('patient', { 'metallb.io/loadBalancerIPs': '172.17.0.81' }));
    await eventually(
      () => eventsOf('patient'),
      (text) => /\\"172\.17\.0\.81\\" is held by IPSet host in namespace default/.test(text),
    );
    await api.delete(`${NETWORK}/ipsets/host`);
    assert.deepEqual(await ingressOf('patient'), [{ ip: '172.17.0.81', ipMode: 'VIP' }]);
  });

  test('a pool in the wrong namespace or over another one is refused', async () => {
    const pool = (name: string, addresses: string[]): JsonObject => ({
      apiVersion: 'metallb.io/v1beta1',
      kind: 'IPAddressPool',
      metadata: { name },
      spec: { addresses },
    });
    const wrong = await api.post(POOLS.replace('metallb-system', 'default'), pool('p', ['10.1.0.0/24']));
    assert.match(String(wrong.body['message']), /resource must be created in metallb-system namespace/);
    const over = await api.post(POOLS, pool('p', ['172.17.0.90/32']));
    assert.match(
      String(over.body['message']),
      /CIDR "172\.17\.0\.90\/32" in pool "p" overlaps with already defined CIDR "172\.17\.0\.80-172\.17\.0\.90"/,
    );
    const malformed = await api.post(POOLS, pool('p', ['10.1.0.0']));
    assert.match(String(malformed.body['message']), /invalid CIDR "10\.1\.0\.0" in pool "p"/);
  });

  test('an advertisement may say nothing at all', async () => {
    await create({ apiVersion: 'metallb.io/v1beta1', kind: 'L2Advertisement', metadata: { name: 'everything' } });
  });

  test('a pool that is deleted with its Services goes when they have gone', async () => {
    const { body } = await api.delete(`${POOLS}/internalapi`);
    assert.equal(typeof at(body, 'metadata.deletionTimestamp'), 'string', JSON.stringify(body));
    const held = await eventually(
      async () => (await api.get(`${POOLS}/internalapi`)).body,
      (found) => at(found, 'status.conditions.0.reason') === 'InUse',
    );
    assert.match(String(at(held, 'status.conditions.0.message')), /default\/glance-internal \(172\.17\.0\.80\)/);
    for (const name of ['glance-internal', 'keystone-internal', 'patient']) await api.delete(`${SERVICES}/${name}`);
    await eventually(
      () => api.get(`${POOLS}/internalapi`),
      ({ status }) => status === 404,
    );
  });
});
