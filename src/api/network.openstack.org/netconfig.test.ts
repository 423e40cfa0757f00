import assert from 'node:assert/strict';
import { test } from 'node:test';
import { invalid } from '../status.ts';
import { netConfigFaults } from './netconfig.faults.ts';
import type { NetConfigNetwork, NetConfigSubnet } from './netconfig.ts';
import { NetConfig } from './netconfig.ts';

const subnet = (change: Partial<NetConfigSubnet> = {}): NetConfigSubnet => ({
  name: 'subnet1',
  cidr: '172.17.0.0/24',
  allocationRanges: [{ start: '172.17.0.10', end: '172.17.0.250' }],
  ...change,
});
const network = (change: Partial<NetConfigNetwork> = {}): NetConfigNetwork => ({
  name: 'InternalApi',
  mtu: 1500,
  subnets: [subnet()],
  ...change,
});
const withSubnet = (change: Partial<NetConfigSubnet>): NetConfigNetwork[] => [network({ subnets: [subnet(change)] })];

/** What a person reads who sends these networks; empty when they are fine. */
function refusal(networks: NetConfigNetwork[]): string {
  const faults = netConfigFaults({ networks });
  if (faults.length === 0) return '';
  const { message } = invalid(NetConfig, 'netconfig', faults);
  const prefix = 'NetConfig.network.openstack.org "netconfig" is invalid: ';
  assert.ok(message.startsWith(prefix), message);
  return message.slice(prefix.length);
}

const other = (change: Partial<NetConfigNetwork>): NetConfigNetwork =>
  network({
    name: 'Storage',
    subnets: [subnet({ cidr: '172.18.0.0/24', allocationRanges: [{ start: '172.18.0.10', end: '172.18.0.250' }] })],
    ...change,
  });

test('a network needs no domain', () => {
  assert.equal(refusal([network()]), '');
});

test('host bits in a CIDR are accepted', () => {
  assert.equal(refusal(withSubnet({ cidr: '172.17.0.1/24' })), '');
});

test('an IPv6 subnet is as good as an IPv4 one', () => {
  assert.equal(
    refusal(
      withSubnet({
        cidr: 'fd00:1::/64',
        allocationRanges: [{ start: 'fd00:1::10', end: 'fd00:1::ffff:ffff' }],
        excludeAddresses: ['FD00:1:0::11'],
        gateway: 'fd00:1::1',
        routes: [{ destination: 'fd00:2::/64', nexthop: 'fd00:1::2' }],
      }),
    ),
    '',
  );
});

test('a range may be a single address', () => {
  assert.equal(refusal(withSubnet({ allocationRanges: [{ start: '172.17.0.10', end: '172.17.0.10' }] })), '');
});

test('a subnet may have no range at all, for fixed addresses only', () => {
  assert.equal(refusal(withSubnet({ allocationRanges: [] })), '');
});

test('a network name that occurs twice is refused and the first place named', () => {
  assert.equal(
    refusal([network(), other({ name: 'InternalApi' })]),
    'spec.networks[1].name: Invalid value: "InternalApi": name "InternalApi" is already in use at spec.networks[0].name, it must be unique',
  );
});

test('network names that differ only in case are the same name', () => {
  assert.match(refusal([network(), other({ name: 'internalapi' })]), /^spec\.networks\[1\]\.name: .*already in use/);
});

test('a malformed domain is refused', () => {
  assert.equal(
    refusal([network({ dnsDomain: 'internalapi' })]),
    'spec.networks[0].dnsDomain: Invalid value: "internalapi": not a valid domain: it is made of labels like example.com',
  );
});

test('two networks must not share a domain, however it is spelled', () => {
  assert.equal(
    refusal([network({ dnsDomain: 'a.example.com' }), other({ dnsDomain: 'A.example.com' })]),
    'spec.networks[1].dnsDomain: Invalid value: "A.example.com": domain "A.example.com" is already in use at spec.networks[0].dnsDomain, it must be unique',
  );
});

test('subnets of one network need different names, subnets of different networks do not', () => {
  assert.equal(refusal([network(), other({})]), '');
  assert.match(
    refusal([network({ subnets: [subnet(), subnet({ cidr: '172.18.0.0/24', allocationRanges: [] })] })]),
    /^spec\.networks\[0\]\.subnets\[1\]\.name: Invalid value: "subnet1": name "subnet1" is already in use at spec\.networks\[0\]\.subnets\[0\]\.name/,
  );
});

test('a CIDR occurs once, whatever the network, the VLAN and the spelling', () => {
  assert.equal(
    refusal([network(), other({ subnets: [subnet({ cidr: '172.17.0.9/24', vlan: 7 })] })]),
    'spec.networks[1].subnets[0].cidr: Invalid value: "172.17.0.9/24": CIDR "172.17.0.9/24" is already in use at spec.networks[0].subnets[0].cidr, it must be unique',
  );
});

test('a CIDR that is none is refused, and nothing more is said of that subnet', () => {
  assert.equal(
    refusal(withSubnet({ cidr: '172.17.0.0', gateway: 'x' })),
    'spec.networks[0].subnets[0].cidr: Invalid value: "172.17.0.0": "172.17.0.0" is not an IP prefix: it is written like 192.168.0.0/24 or fd00::/64',
  );
});

test('a gateway must be an address', () => {
  assert.equal(
    refusal(withSubnet({ gateway: 'router' })),
    'spec.networks[0].subnets[0].gateway: Invalid value: "router": "router" is not an IP address',
  );
});

test('a gateway of the other family is wrong in two ways, and both are told', () => {
  assert.equal(
    refusal(withSubnet({ gateway: 'fd00::1' })),
    '[spec.networks[0].subnets[0].gateway: Invalid value: "fd00::1": cannot mix IPv4 and IPv6: the subnet is IPv4 (172.17.0.0/24), ' +
      'spec.networks[0].subnets[0].gateway: Invalid value: "fd00::1": address is not in CIDR 172.17.0.0/24]',
  );
});

test('both ends of a range that are no addresses are told', () => {
  assert.equal(
    refusal(withSubnet({ allocationRanges: [{ start: 'a', end: '172.17.0.010' }] })),
    '[spec.networks[0].subnets[0].allocationRanges[0].start: Invalid value: "a": "a" is not an IP address, ' +
      'spec.networks[0].subnets[0].allocationRanges[0].end: Invalid value: "172.17.0.010": "172.17.0.010" is not an IP address: write its numbers without leading zeros]',
  );
});

test('a range of the other family is refused as a whole', () => {
  assert.match(
    refusal(withSubnet({ allocationRanges: [{ start: 'fd00::1', end: 'fd00::2' }] })),
    /^\[spec\.networks\[0\]\.subnets\[0\]\.allocationRanges\[0\]: Invalid value: "fd00::1-fd00::2": cannot mix IPv4 and IPv6/,
  );
});

test('the ends of a range must lie in the CIDR', () => {
  assert.equal(
    refusal(withSubnet({ allocationRanges: [{ start: '172.17.0.10', end: '172.17.1.10' }] })),
    'spec.networks[0].subnets[0].allocationRanges[0].end: Invalid value: "172.17.1.10": address is not in CIDR 172.17.0.0/24',
  );
});

test('a range that ends before it starts is refused at both ends, compared by value', () => {
  const detail = 'start 172.17.0.100 > end 172.17.0.20: a range begins with its lowest address';
  assert.equal(
    refusal(withSubnet({ allocationRanges: [{ start: '172.17.0.100', end: '172.17.0.20' }] })),
    `[spec.networks[0].subnets[0].allocationRanges[0].start: Invalid value: "172.17.0.100": ${detail}, ` +
      `spec.networks[0].subnets[0].allocationRanges[0].end: Invalid value: "172.17.0.20": ${detail}]`,
  );
});

test('an excluded address must lie in the CIDR', () => {
  assert.equal(
    refusal(withSubnet({ excludeAddresses: ['172.17.0.10', '10.0.0.1'] })),
    'spec.networks[0].subnets[0].excludeAddresses[1]: Invalid value: "10.0.0.1": address is not in CIDR 172.17.0.0/24',
  );
});

test('a route needs a network to lead to and a next hop in the CIDR, and both faults are told', () => {
  assert.equal(
    refusal(withSubnet({ routes: [{ destination: 'everywhere', nexthop: '10.0.0.1' }] })),
    '[spec.networks[0].subnets[0].routes[0].destination: Invalid value: "everywhere": "everywhere" is not an IP prefix: it is written like 192.168.0.0/24 or fd00::/64, ' +
      'spec.networks[0].subnets[0].routes[0].nexthop: Invalid value: "10.0.0.1": address is not in CIDR 172.17.0.0/24]',
  );
});

test('the domains of the subnets of one network differ', () => {
  const subnets = [
    subnet({ dnsDomain: 'a.example.com' }),
    subnet({ name: 'subnet2', cidr: '172.18.0.0/24', allocationRanges: [], dnsDomain: 'a.example.com' }),
  ];
  assert.match(refusal([network({ subnets })]), /^spec\.networks\[0\]\.subnets\[1\]\.dnsDomain: .*already in use at/);
});

test('an MTU that no link can have and a negative VLAN are refused', () => {
  assert.equal(
    refusal([network({ mtu: 0, subnets: [subnet({ vlan: -1 })] })]),
    '[spec.networks[0].mtu: Invalid value: 0: an MTU is a number from 68 to 65535, ' +
      'spec.networks[0].subnets[0].vlan: Invalid value: -1: a VLAN is a number from 0 to 4094]',
  );
});

test('a name that fits into no label is refused', () => {
  const name = 'n'.repeat(64);
  assert.equal(
    refusal([network({ name })]),
    `spec.networks[0].name: Invalid value: "${name}": a name has at most 63 characters: it becomes part of labels`,
  );
});

test('a NetConfig of many thousand ranges is judged in the time it takes to read it', () => {
  const allocationRanges = Array.from({ length: 40_000 }, () => ({ start: '172.17.0.10', end: '172.17.0.20' }));
  const started = performance.now();
  assert.equal(refusal(withSubnet({ allocationRanges })), '');
  assert.ok(performance.now() - started < 3000);
});
