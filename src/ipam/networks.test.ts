import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Address } from '../api/address.ts';
import type { NetConfigSubnet } from '../api/network.openstack.org/netconfig.ts';
import { rangeText } from '../api/prefix.ts';
import { network, subnet } from './environment.fixture.ts';
import { Networks } from './networks.ts';

const networksOf = (...subnets: NetConfigSubnet[]): Networks =>
  new Networks({
    apiVersion: 'network.openstack.org/v1beta1',
    kind: 'NetConfig',
    metadata: { name: 'netconfig', uid: '1', resourceVersion: '1', creationTimestamp: '' },
    spec: { networks: [network({ subnets })] },
  });

/** Those of the addresses that the subnet gives to whoever asks for any. */
function given(definition: Partial<NetConfigSubnet>, ...addresses: string[]): string[] {
  return givenBy(networksOf(subnet(definition)), addresses);
}

/** Of the first of the subnets. */
function givenBy({ subnets: [found] }: Networks, addresses: string[]): string[] {
  assert.ok(found, 'the subnet has faults');
  return addresses.filter((text) => {
    const address = Address.parse(text);
    assert.ok(address, text);
    return found.pool.gives(address);
  });
}

const all = (cidr: string, start: string, end: string) => ({ cidr, allocationRanges: [{ start, end }] });

test('the ends of an IPv4 subnet are its network and its broadcast address', () => {
  const four = ['10.0.0.8', '10.0.0.9', '10.0.0.10', '10.0.0.11'];
  assert.deepEqual(given(all('10.0.0.8/30', '10.0.0.8', '10.0.0.11'), ...four), ['10.0.0.9', '10.0.0.10']);
});

test('a subnet of two addresses has neither, and one of one is its only host', () => {
  assert.deepEqual(given(all('10.0.0.8/31', '10.0.0.8', '10.0.0.9'), '10.0.0.8', '10.0.0.9'), ['10.0.0.8', '10.0.0.9']);
  assert.deepEqual(given(all('10.0.0.8/32', '10.0.0.8', '10.0.0.8'), '10.0.0.8'), ['10.0.0.8']);
  assert.deepEqual(given(all('fd00::8/127', 'fd00::8', 'fd00::9'), 'fd00::8', 'fd00::9'), ['fd00::8', 'fd00::9']);
});

test('the first address of an IPv6 subnet is for its routers, and the last is like any other', () => {
  assert.deepEqual(given(all('fd00::8/126', 'fd00::8', 'fd00::b'), 'fd00::8', 'fd00::9', 'fd00::b'), [
    'fd00::9',
    'fd00::b',
  ]);
});

test('routers and excluded addresses are kept back, however they are written', () => {
  const definition = {
    ...all('fd00::/64', 'fd00::1', 'fd00::9'),
    gateway: 'FD00:0::1',
    excludeAddresses: ['fd00:0:0::2'],
    routes: [{ destination: 'fd01::/64', nexthop: 'fd00::0003' }],
  };
  assert.deepEqual(given(definition, 'fd00::1', 'fd00::2', 'fd00::3', 'fd00::4'), ['fd00::4']);
});

test('ranges are what was written, whatever is kept back of them', () => {
  const [found] = networksOf(subnet()).subnets;
  assert.deepEqual(found?.pool.ranges.map(rangeText), ['172.18.0.10-172.18.0.250']);
});

test('what is special in one subnet is given by no other one that overlaps it', () => {
  const outer = subnet(all('10.0.0.0/16', '10.0.0.1', '10.0.255.254'));
  const inner = subnet({
    ...all('10.0.1.0/28', '10.0.1.4', '10.0.1.10'),
    name: 'inner',
    gateway: '10.0.1.1',
    routes: [{ destination: '10.9.0.0/16', nexthop: '10.0.1.2' }],
  });
  const networks = networksOf(outer, inner);
  const asked = ['10.0.1.1', '10.0.1.2', '10.0.1.3', '10.0.1.15', '10.0.1.16'];
  assert.deepEqual(givenBy(networks, asked), ['10.0.1.3', '10.0.1.16']);
  const [found] = networks.subnets;
  assert.deepEqual(
    asked.filter((text) => found?.isRouter(Address.parse(text) ?? found.prefix.first)),
    ['10.0.1.1', '10.0.1.2'],
  );
});

test('what lies elsewhere costs a subnet nothing', () => {
  const far = Array.from({ length: 4 }, (_, i) =>
    subnet({ ...all(`11.0.${i}.0/24`, `11.0.${i}.1`, `11.0.${i}.9`), name: `far${i}` }),
  );
  assert.deepEqual(
    networksOf(subnet(all('10.0.0.0/16', '10.0.0.1', '10.0.255.254')), ...far).subnets[0]?.withheld.map(rangeText),
    ['10.0.0.0', '10.0.255.255'],
  );
});
