import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import type { JsonObject } from '../../src/api/json.ts';
import { readMetrics } from '../../src/runtime/metrics.fixture.ts';
import { at, eventually } from '../engine/engine-in-test.ts';
import { kubectlFor } from '../kubectl/kubectl.ts';
import { netloom, RunningNetloom } from './netloom.ts';

const EXAMPLE = fileURLToPath(new URL('../../examples/ipam/', import.meta.url));

/** What the documents promise for their example, in the order in which the status lists it. */
const EXPECTED = [
  {
    network: 'CtlPlane',
    subnet: 'subnet1',
    address: '192.168.122.100',
    cidr: '192.168.122.0/24',
    dnsDomain: 'ctlplane.example.com',
    gateway: '192.168.122.1',
    mtu: 1500,
    routes: [{ destination: '0.0.0.0/0', nexthop: '192.168.122.1' }],
  },
  {
    network: 'External',
    subnet: 'subnet1',
    address: '10.0.0.10',
    cidr: '10.0.0.0/24',
    dnsDomain: 'external.example.com',
    gateway: '10.0.0.1',
    mtu: 1500,
    routes: [{ destination: '10.0.1.0/24', nexthop: '10.0.0.100' }],
  },
  {
    network: 'InternalApi',
    subnet: 'subnet1',
    address: '172.17.0.150',
    cidr: '172.17.0.0/24',
    dnsDomain: 'internalapi.example.com',
    mtu: 1500,
    vlan: 20,
  },
  {
    network: 'Storage',
    subnet: 'subnet1',
    address: '172.18.0.10',
    cidr: '172.18.0.0/24',
    dnsDomain: 'storage.example.com',
    mtu: 1500,
    vlan: 30,
  },
  {
    network: 'Tenant',
    subnet: 'subnet1',
    address: '172.20.0.10',
    cidr: '172.20.0.0/24',
    dnsDomain: 'tenant.example.com',
    mtu: 9000,
    vlan: 50,
  },
];

function assertPromised(ipSet: JsonObject): void {
  const reservations = at(ipSet, 'status.reservations');
  assert.ok(Array.isArray(reservations), JSON.stringify(ipSet['status']));
  const shown = reservations.map((reservation) => {
    const { serviceNetwork: _, ...rest } = reservation as JsonObject;
    return rest;
  });
  assert.deepEqual(shown, EXPECTED);
  assert.equal(at(ipSet, 'status.conditions.0.type'), 'Ready');
  assert.equal(at(ipSet, 'status.conditions.0.status'), 'True');
  assert.equal(at(ipSet, 'status.conditions.0.message'), 'Setup complete');
}

describe('from one command to an address', () => {
  let up: RunningNetloom;
  before(async () => {
    up = await RunningNetloom.start('up');
  });
  after(() => up.stopAndRemove());

  const own = (...words: string[]) => netloom([...words, '--kubeconfig', up.kubeconfig]);

  test('kubectl applies the example, and the IPSet holds what the documents promise', async () => {
    const kubectl = await kubectlFor({ kubeconfig: up.kubeconfig });
    const applied = await kubectl(['apply', '-f', EXAMPLE]);
    assert.equal(applied.code, 0, applied.stderr);
    const waited = await kubectl(['wait', '--for=condition=Ready', 'ipset/edpm-compute-0', '--timeout=30s']);
    assert.equal(waited.code, 0, waited.stderr);
    const { stdout } = await kubectl(['get', 'ipset', 'edpm-compute-0', '-o', 'yaml']);
    assertPromised(parse(stdout));
    const table = await kubectl(['get', 'ipset']);
    assert.match(table.stdout, /^NAME +READY +MESSAGE +RESERVATION/);
    assert.match(table.stdout, /edpm-compute-0 +True +Setup complete +.*192\.168\.122\.100/);
  });

  test('the NetConfig and the metrics say how full its subnets are', async () => {
    const kubectl = await kubectlFor({ kubeconfig: up.kubeconfig });
    const table = async () => (await kubectl(['get', 'netconfig'])).stdout;
    assert.match(
      await eventually(table, (text) => text.includes('5 of 1274')),
      /^NAME +USAGE +AGE\nnetconfig +5 of 1274 IPv4 /,
    );
    const { stdout } = await kubectl(['get', '--raw', '/metrics']);
    assert.match(
      stdout,
      /^netloom_subnet_addresses\{namespace="default",netconfig="netconfig",network="InternalApi",subnet="subnet1",state="held"\} 1$/m,
    );
    assert.match(stdout, /^netloom_controller_passes_total\{controller="ipsets"\} [1-9]\d*$/m);
    assert.match(stdout, /^netloom_engine_objects\{resource="ipsets/m);
    assert.ok(readMetrics(stdout).size > 50);
  });

  test('the same without kubectl, in another namespace', async () => {
    const made = await netloom(['apply', '--kubeconfig', up.kubeconfig, '-f', '-'], {
      input: 'apiVersion: v1\nkind: Namespace\nmetadata: {name: second}\n',
    });
    assert.equal(made.stdout, 'namespace/second created\n', made.stderr);
    const applied = await own('apply', '-n', 'second', '-f', EXAMPLE);
    assert.equal(applied.code, 0, applied.stderr);
    assert.match(applied.stdout, /^netconfig\.network\.openstack\.org\/netconfig created$/m);
    assert.match(applied.stdout, /^ipset\.network\.openstack\.org\/edpm-compute-0 created$/m);
    const again = await own('apply', '-n', 'second', '-f', EXAMPLE);
    assert.match(again.stdout, /netconfig unchanged\n.*edpm-compute-0 unchanged\n/);

    const get = async () => parse((await own('get', 'ipset', 'edpm-compute-0', '-n', 'second', '-o', 'yaml')).stdout);
    assertPromised(await eventually(get, (ipSet) => at(ipSet, 'status.conditions.0.status') === 'True'));
    assert.match((await own('get', 'ipsets', '-A')).stdout, /^NAMESPACE +NAME +READY/);
    const json = await own('get', 'ipset/edpm-compute-0', '-n', 'second', '-o', 'json');
    assertPromised(JSON.parse(json.stdout));

    const described = await own('describe', 'ipset', 'edpm-compute-0', '-n', 'second');
    assert.match(described.stdout, /^Name: +edpm-compute-0$/m);
    assert.match(described.stdout, /^ +Ready +True +Ready: Setup complete$/m);

    const deleted = await own('delete', '-n', 'second', '-f', EXAMPLE);
    assert.equal(deleted.code, 0, deleted.stderr);
    assert.match(
      (await own('get', 'ipsets,netconfigs', '-n', 'second')).stderr,
      /^No resources found in namespace second\.$/m,
    );
  });

  /** A new namespace; answers with what applies manifests to it. */
  const inNamespace = async (namespace: string) => {
    const apply = (input: string) =>
      netloom(['apply', '--kubeconfig', up.kubeconfig, '-n', namespace, '-f', '-'], { input });
    assert.equal((await apply(`apiVersion: v1\nkind: Namespace\nmetadata: {name: ${namespace}}\n`)).code, 0);
    return apply;
  };

  test('an address that is taken is refused with the name of who has it, and given once that one is deleted', async () => {
    const apply = await inNamespace('taken');
    assert.equal((await own('apply', '-n', 'taken', '-f', EXAMPLE)).code, 0);
    const get = async (name: string) =>
      JSON.parse((await own('get', 'ipset', name, '-n', 'taken', '-o', 'json')).stdout);
    await eventually(
      () => get('edpm-compute-0'),
      (ipSet) => at(ipSet, 'status.conditions.0.status') === 'True',
    );
    const rival =
      'apiVersion: network.openstack.org/v1beta1\nkind: IPSet\nmetadata: {name: rival}\nspec:\n  networks: [{name: InternalApi, subnetName: subnet1, fixedIP: 172.17.0.150}]\n';
    const refused = await apply(rival);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /"172\.17\.0\.150": the address is held by IPSet\/edpm-compute-0: ask for another/);
    assert.equal((await own('delete', 'ipset', 'edpm-compute-0', '-n', 'taken')).code, 0);
    assert.equal((await apply(rival)).code, 0);
    const served = await eventually(
      () => get('rival'),
      (ipSet) => at(ipSet, 'status.conditions.0.status') === 'True',
    );
    assert.equal(at(served, 'status.reservations.0.address'), '172.17.0.150');
  });

  test('who finds a subnet full waits with the reason, and is served when an address comes free', async () => {
    const apply = await inNamespace('waiting');
    const small =
      'apiVersion: network.openstack.org/v1beta1\nkind: NetConfig\nmetadata: {name: small}\nspec:\n  networks: [{name: Small, subnets: [{name: subnet1, cidr: 10.9.0.0/24, allocationRanges: [{start: 10.9.0.9, end: 10.9.0.9}]}]}]\n';
    const ipSet = (name: string) =>
      `apiVersion: network.openstack.org/v1beta1\nkind: IPSet\nmetadata: {name: ${name}}\nspec:\n  networks: [{name: Small, subnetName: subnet1}]\n`;
    const get = async (name: string) =>
      JSON.parse((await own('get', 'ipset', name, '-n', 'waiting', '-o', 'json')).stdout);
    for (const [object, status] of [
      [ipSet('first'), 'True'],
      [ipSet('second'), 'False'],
    ] as const) {
      const { code, stderr } = await apply(status === 'True' ? `${small}---\n${object}` : object);
      assert.equal(code, 0, stderr);
      await eventually(
        () => get(status === 'True' ? 'first' : 'second'),
        (found) => at(found, 'status.conditions.0.status') === status,
      );
    }
    assert.match(String(at(await get('second'), 'status.conditions.0.message')), /none of 10\.9\.0\.9 is left/);
    const described = await own('describe', 'ipset', 'second', '-n', 'waiting');
    assert.match(described.stdout, /Warning +AddressNotAvailable: .*subnet1/);
    assert.equal((await own('delete', 'ipset', 'first', '-n', 'waiting')).code, 0);
    const served = await eventually(
      () => get('second'),
      (found) => at(found, 'status.conditions.0.status') === 'True',
    );
    assert.equal(at(served, 'status.reservations.0.address'), '10.9.0.9');
  });

  test('what is not possible is refused with the field, the value and what would be right', async () => {
    const input =
      'apiVersion: network.openstack.org/v1beta1\nkind: IPSet\nmetadata: {name: lost}\nspec:\n  networks: [{name: Nowhere, subnetName: subnet1}]\n';
    const { code, stderr } = await netloom(['apply', '--kubeconfig', up.kubeconfig, '-f', '-'], { input });
    assert.equal(code, 1);
    assert.match(stderr, /spec\.networks\[0\]\.name: Invalid value: "Nowhere"/);
    const unknown = await own('get', 'ipsetz');
    assert.equal(unknown.code, 1);
    assert.match(unknown.stderr, /Did you mean "ipsets?"\?/);
  });

  test('addresses stay where they are when everything is restarted', async () => {
    const before = parse((await own('get', 'ipset', 'edpm-compute-0', '-o', 'yaml')).stdout);
    await up.kill();
    up = await RunningNetloom.start('up', { directory: up.directory });
    const after = parse((await own('get', 'ipset', 'edpm-compute-0', '-o', 'yaml')).stdout);
    assert.deepEqual(after['status'], before['status']);
    const one =
      'apiVersion: network.openstack.org/v1beta1\nkind: IPSet\nmetadata: {name: edpm-compute-1}\nspec:\n  networks: [{name: CtlPlane, subnetName: subnet1}]\n';
    assert.equal((await netloom(['apply', '--kubeconfig', up.kubeconfig, '-f', '-'], { input: one })).code, 0);
    const get = async () => parse((await own('get', 'ipset', 'edpm-compute-1', '-o', 'yaml')).stdout);
    const ready = await eventually(get, (ipSet) => at(ipSet, 'status.conditions.0.status') === 'True');
    assert.equal(at(ready, 'status.reservations.0.address'), '192.168.122.101');
  });
});
