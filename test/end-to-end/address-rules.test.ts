import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '../../src/api/json.ts';
import { EngineWithKubectl } from './engine-with-kubectl.ts';

/**
 * Every rule about networks, requests for addresses and name servers, with the text that a person reads who breaks it. kubectl is
 * given all wrong objects of a table at once: it tells of each on a line of its own.
 */

const DEFINITIONS = fileURLToPath(new URL('../../deploy/crds/', import.meta.url));
const API = 'network.openstack.org/v1beta1';
const subnet = (change: JsonObject = {}): JsonObject => ({
  name: 'subnet1',
  cidr: '172.17.0.0/24',
  allocationRanges: [{ start: '172.17.0.10', end: '172.17.0.20' }],
  ...change,
});
const network = (change: JsonObject = {}): JsonObject => ({ name: 'InternalApi', subnets: [subnet()], ...change });
const storage = (change: JsonObject = {}): JsonObject => ({
  name: 'Storage',
  subnets: [subnet({ cidr: '172.18.0.0/24', allocationRanges: [] })],
  ...change,
});
const withSubnet = (change: JsonObject): JsonObject[] => [network({ subnets: [subnet(change)] })];
const withRange = (start: string, end: string) => withSubnet({ allocationRanges: [{ start, end }] });
const withRoute = (destination: string, nexthop: string) => withSubnet({ routes: [{ destination, nexthop }] });
const object = (kind: string, name: string, spec: JsonObject): JsonObject => ({
  apiVersion: API,
  kind,
  metadata: { name },
  spec,
});

const N = 'spec.networks[0]';
const S = `${N}.subnets[0]`;
const bad = (field: string, value: string | number | boolean, detail: string) =>
  `${field}: Invalid value: ${JSON.stringify(value)}: ${detail}`;
const notIp = (field: string, text: string) => bad(field, text, `"${text}" is not an IP address`);
const notPrefix = (field: string, text: string) =>
  bad(field, text, `"${text}" is not an IP prefix: it is written like 192.168.0.0/24 or fd00::/64`);
const mixed = (field: string, text: string) =>
  bad(field, text, 'cannot mix IPv4 and IPv6: the subnet is IPv4 (172.17.0.0/24)');
const outside = (field: string, text: string) => bad(field, text, 'address is not in CIDR 172.17.0.0/24');
const domain = (field: string, text: string) =>
  bad(field, text, 'not a valid domain: it is made of labels like example.com');
const repeated = (sort: string, field: string, text: string, first: string) =>
  bad(field, text, `${sort} "${text}" is already in use at ${first}, it must be unique`);
const reversed = 'start 172.17.0.100 > end 172.17.0.20: a range begins with its lowest address';
const LONG = 'x'.repeat(64);
const pattern = (field: string, text: string, regex: string) =>
  bad(field, text, `${field} in body should match '${regex}'`);

/** What is wrong → the networks, and every fault that is told. */
const netConfigs: Record<string, [JsonObject[], ...string[]]> = {
  'network-twice': [
    [network(), storage({ name: 'INTERNALAPI' })],
    repeated('name', 'spec.networks[1].name', 'INTERNALAPI', `${N}.name`),
  ],
  domain: [[network({ dnsDomain: 'internalapi' })], domain(`${N}.dnsDomain`, 'internalapi')],
  'domain-twice': [
    [network({ dnsDomain: 'a.example.com' }), storage({ dnsDomain: 'A.Example.com' })],
    repeated('domain', 'spec.networks[1].dnsDomain', 'A.Example.com', `${N}.dnsDomain`),
  ],
  'subnet-twice': [
    [network({ subnets: [subnet(), subnet({ cidr: '172.18.0.0/24', allocationRanges: [] })] })],
    repeated('name', `${N}.subnets[1].name`, 'subnet1', `${S}.name`),
  ],
  'cidr-twice': [
    [network(), storage({ subnets: [subnet({ cidr: '172.17.0.9/24', vlan: 7 })] })],
    repeated('CIDR', 'spec.networks[1].subnets[0].cidr', '172.17.0.9/24', `${S}.cidr`),
  ],
  cidr: [withSubnet({ cidr: '172.17.0.0', gateway: 'x' }), notPrefix(`${S}.cidr`, '172.17.0.0')],
  gateway: [withSubnet({ gateway: 'router' }), notIp(`${S}.gateway`, 'router')],
  'gateway-outside': [withSubnet({ gateway: '172.17.1.1' }), outside(`${S}.gateway`, '172.17.1.1')],
  'gateway-family': [
    withSubnet({ gateway: 'fd00::1' }),
    mixed(`${S}.gateway`, 'fd00::1'),
    outside(`${S}.gateway`, 'fd00::1'),
  ],
  'range-ends': [
    withRange('a', 'b'),
    notIp(`${S}.allocationRanges[0].start`, 'a'),
    notIp(`${S}.allocationRanges[0].end`, 'b'),
  ],
  'range-family': [
    withRange('fd00::1', 'fd00::2'),
    mixed(`${S}.allocationRanges[0]`, 'fd00::1-fd00::2'),
    outside(`${S}.allocationRanges[0].start`, 'fd00::1'),
    outside(`${S}.allocationRanges[0].end`, 'fd00::2'),
  ],
  'range-outside': [
    withRange('172.16.255.255', '172.17.1.0'),
    outside(`${S}.allocationRanges[0].start`, '172.16.255.255'),
    outside(`${S}.allocationRanges[0].end`, '172.17.1.0'),
  ],
  'range-reversed': [
    withRange('172.17.0.100', '172.17.0.20'),
    bad(`${S}.allocationRanges[0].start`, '172.17.0.100', reversed),
    bad(`${S}.allocationRanges[0].end`, '172.17.0.20', reversed),
  ],
  excluded: [
    withSubnet({ excludeAddresses: ['172.17.0.11', 'x', '10.0.0.1', 'fd00::1'] }),
    notIp(`${S}.excludeAddresses[1]`, 'x'),
    outside(`${S}.excludeAddresses[2]`, '10.0.0.1'),
    mixed(`${S}.excludeAddresses[3]`, 'fd00::1'),
    outside(`${S}.excludeAddresses[3]`, 'fd00::1'),
  ],
  'route-destination': [withRoute('everywhere', '172.17.0.1'), notPrefix(`${S}.routes[0].destination`, 'everywhere')],
  'route-nexthop': [withRoute('10.0.0.0/8', 'x'), notIp(`${S}.routes[0].nexthop`, 'x')],
  'route-nexthop-outside': [withRoute('10.0.0.0/8', '10.0.0.1'), outside(`${S}.routes[0].nexthop`, '10.0.0.1')],
  'route-nexthop-family': [
    withRoute('10.0.0.0/8', 'fd00::1'),
    mixed(`${S}.routes[0].nexthop`, 'fd00::1'),
    outside(`${S}.routes[0].nexthop`, 'fd00::1'),
  ],
  spelling: [
    withSubnet({ gateway: '172.17.0.01', excludeAddresses: ['::ffff:172.17.0.5', 'fe80::1%eth0'] }),
    bad(`${S}.gateway`, '172.17.0.01', '"172.17.0.01" is not an IP address: write its numbers without leading zeros'),
    bad(
      `${S}.excludeAddresses[0]`,
      '::ffff:172.17.0.5',
      '"::ffff:172.17.0.5" is IPv4 written as IPv6: write it as 172.17.0.5',
    ),
    bad(
      `${S}.excludeAddresses[1]`,
      'fe80::1%eth0',
      '"fe80::1%eth0" is not an IP address: a zone (%...) has no meaning here, leave it out',
    ),
  ],
  'mtu-vlan-name': [
    [network({ name: LONG, mtu: 67, subnets: [subnet({ vlan: -1 })] })],
    bad(`${N}.name`, LONG, 'a name has at most 63 characters: it becomes part of labels'),
    bad(`${N}.mtu`, 67, 'an MTU is a number from 68 to 65535'),
    bad(`${S}.vlan`, -1, 'a VLAN is a number from 0 to 4094'),
  ],
  'subnet-domain': [withSubnet({ dnsDomain: 'x' }), domain(`${S}.dnsDomain`, 'x')],
  'subnet-domain-twice': [
    [
      network({
        subnets: [
          subnet({ dnsDomain: 'a.example.com' }),
          subnet({ name: 'subnet2', cidr: '172.18.0.0/24', allocationRanges: [], dnsDomain: 'a.example.com' }),
        ],
      }),
    ],
    repeated('domain', `${N}.subnets[1].dnsDomain`, 'a.example.com', `${S}.dnsDomain`),
  ],
  pattern: [
    [network({ name: 'x', subnets: [subnet({ vlan: 4095 })], serviceNetwork: 'X' })],
    pattern(`${N}.name`, 'x', '^[a-zA-Z0-9][a-zA-Z0-9\\-_]*[a-zA-Z0-9]$'),
    pattern(`${N}.serviceNetwork`, 'X', '^[a-z0-9][a-z0-9\\-_]*[a-z0-9]$'),
    bad(`${S}.vlan`, 4095, `${S}.vlan in body should be less than or equal to 4094`),
  ],
};

const both: JsonObject = {
  networks: [
    network({
      subnets: [
        subnet({ gateway: '172.17.0.1' }),
        subnet({ name: 'bare', cidr: '172.20.0.0/24', allocationRanges: [] }),
      ],
    }),
    storage({ subnets: [subnet({ cidr: '172.18.0.0/24', allocationRanges: [], gateway: '172.18.0.1', vlan: 21 })] }),
  ],
};
const internalApi = (change: JsonObject = {}): JsonObject => ({
  name: 'InternalApi',
  subnetName: 'subnet1',
  ...change,
});
const onStorage = (change: JsonObject = {}): JsonObject => ({ name: 'Storage', subnetName: 'subnet1', ...change });

/** What is wrong → what is asked for, and every fault that is told. */
const ipSets: Record<string, [JsonObject[], ...string[]]> = {
  twice: [
    [internalApi(), internalApi({ name: 'internalapi' })],
    bad(
      'spec.networks[1].name',
      'internalapi',
      `network "internalapi" with subnet "subnet1" is already in use at ${N}.name`,
    ),
  ],
  'twice-in-a-family': [
    [internalApi(), internalApi({ subnetName: 'bare' })],
    bad('spec.networks[1].name', 'InternalApi', `network InternalApi is already in use at ${N}.name with IPv4`),
  ],
  'three-times': [
    [internalApi(), internalApi({ subnetName: 'bare' }), internalApi({ subnetName: 'third' })],
    bad(
      'spec.networks[2].name',
      'InternalApi',
      `network "InternalApi" is already in use at ${N}.name and spec.networks[1].name: once for IPv4 and once for IPv6 is the most`,
    ),
    bad('spec.networks[1].name', 'InternalApi', `network InternalApi is already in use at ${N}.name with IPv4`),
    bad('spec.networks[2].subnetName', 'third', 'subnet third is not in network InternalApi of NetConfig netconfig'),
  ],
  unknown: [
    [internalApi({ name: 'Tenant' }), onStorage({ subnetName: 'subnet9', fixedIP: 'x' })],
    notIp('spec.networks[1].fixedIP', 'x'),
    bad(`${N}.name`, 'Tenant', 'network Tenant is not in NetConfig netconfig'),
    bad('spec.networks[1].subnetName', 'subnet9', 'subnet subnet9 is not in network Storage of NetConfig netconfig'),
  ],
  'fixed-ip': [[internalApi({ fixedIP: '172.17.0.500' })], notIp(`${N}.fixedIP`, '172.17.0.500')],
  'fixed-ip-outside': [[internalApi({ fixedIP: '172.18.0.5' })], outside(`${N}.fixedIP`, '172.18.0.5')],
  'fixed-ip-twice': [
    [internalApi({ fixedIP: '172.17.0.5' }), onStorage({ fixedIP: '172.17.0.5' })],
    bad(
      'spec.networks[1].fixedIP',
      '172.17.0.5',
      `address 172.17.0.5 is already asked for at ${N}.fixedIP: an address is given only once`,
    ),
  ],
  'fixed-ip-family': [
    [internalApi({ fixedIP: 'fd00::5' })],
    mixed(`${N}.fixedIP`, 'fd00::5'),
    outside(`${N}.fixedIP`, 'fd00::5'),
  ],
  'default-route-twice': [
    [internalApi({ defaultRoute: true }), onStorage({ defaultRoute: true })],
    bad(
      'spec.networks[1].defaultRoute',
      true,
      `the default route can only be requested on a single network for IPv4; it is already at ${N}.defaultRoute`,
    ),
  ],
  'default-route-without-gateway': [
    [internalApi({ subnetName: 'bare', defaultRoute: true })],
    bad(
      `${N}.defaultRoute`,
      true,
      'the default route is requested, but no gateway is configured for subnet bare of network InternalApi',
    ),
  ],
  taken: [
    [internalApi({ fixedIP: '172.17.0.66' })],
    bad(
      `${N}.fixedIP`,
      '172.17.0.66',
      'the address is held by Printer/laser: ask for another one or for any, or delete Printer/laser first',
    ),
  ],
};

describe('kubectl tells, in the words of the rule,', () => {
  let kubectl: EngineWithKubectl;
  before(async () => {
    kubectl = await EngineWithKubectl.start();
    await kubectl.ok(['create', '-f', DEFINITIONS]);
  });
  after(() => kubectl.stop());

  const told = (verb: string, kind: string, name: string, faults: readonly string[]) =>
    `Error from server (Invalid): error when ${verb} "STDIN": ${kind}.network.openstack.org "${name}" is invalid: ${
      faults.length === 1 ? faults[0] : `[${faults.join(', ')}]`
    }`;

  test('what is wrong with a NetConfig', async () => {
    const space = await kubectl.namespace('faults');
    const objects = Object.entries(netConfigs).map(([name, [networks]]) => object('NetConfig', name, { networks }));
    const refused = await space.refused('create -f -', objects);
    assert.deepEqual(
      refused.trimEnd().split('\n'),
      Object.entries(netConfigs).map(([name, [, ...faults]]) => told('creating', 'NetConfig', name, faults)),
    );
  });

  test('what is wrong with an IPSet', async () => {
    const space = await kubectl.namespace('requests');
    assert.equal(
      await space.refused('create -f -', object('IPSet', 'early', { networks: [] })),
      'Error from server (Forbidden): error when creating "STDIN": ipsets.network.openstack.org "early" is forbidden: no NetConfig found in namespace requests, please create one\n',
    );
    const holder = { apiGroup: 'example.com', kind: 'Printer', name: 'laser', uid: '7' };
    const holding = { address: '172.17.0.66', holder, network: 'n', subnet: '', since: '2026-01-01T00:00:00Z' };
    await space.ok('create -f -', [
      object('NetConfig', 'netconfig', both),
      {
        apiVersion: 'netloom.io/v1alpha1',
        kind: 'AddressBlock',
        metadata: { name: 'underlay-172.17.0.0-24' },
        spec: { space: 'underlay', prefix: '172.17.0.0/24', holdings: [holding] },
      },
    ]);
    const objects = Object.entries(ipSets).map(([name, [networks]]) => object('IPSet', name, { networks }));
    const refused = await space.refused('create -f -', objects);
    assert.deepEqual(
      refused.trimEnd().split('\n'),
      Object.entries(ipSets).map(([name, [, ...faults]]) => told('creating', 'IPSet', name, faults)),
    );
  });

  test('that a DNSMasq is placed by a Topology of its own namespace, and writes down which names are local', async () => {
    const space = await kubectl.namespace('names');
    const placed = (name: string, namespace: string) => object('DNSMasq', name, { topologyRef: { name, namespace } });
    const refusal = (name: string) =>
      `The DNSMasq "${name}" is invalid: spec.topologyRef.namespace: Invalid value: "openstack": a Topology of another namespace cannot be used: leave it out or write names\n`;
    assert.equal(await space.refused('create -f -', placed('far', 'openstack')), refusal('far'));
    await space.ok('create -f -', [placed('near', 'names'), placed('nearby', '')]);
    const options = await space.ok('get dnsmasq near -o jsonpath={.spec.options}');
    assert.deepEqual(JSON.parse(options), [{ key: 'local', values: ['/names.svc/'] }]);
    assert.equal(await space.refused('replace -f -', placed('near', 'openstack')), refusal('near'));
  });

  test('what must not change of a NetConfig while there are IPSets, with everything else that is wrong', async () => {
    const space = await kubectl.namespace('used');
    await space.ok('create -f -', object('NetConfig', 'netconfig', both));
    assert.match(
      await space.refused('create -f -', object('NetConfig', 'second', { networks: [] })),
      /\(Forbidden\): .*"second" is forbidden: there is already a NetConfig in namespace used: netconfig\. One NetConfig describes/,
    );
    await space.ok(
      'create -f -',
      ['a', 'b'].map((name) => object('IPSet', name, { networks: [internalApi()] })),
    );
    const changes: [JsonObject[], ...string[]][] = [
      [[network()], ...[`${N}.subnets[1].name`].map((field) => kept(field, 'name', 'bare', 'was bare')), gone],
      [
        [
          network({
            subnets: [
              subnet({ cidr: '172.17.0.0/16', gateway: 'x', vlan: 5 }),
              subnet({ name: 'bare', cidr: '172.20.0.0/24', allocationRanges: [] }),
            ],
          }),
          storage(),
        ],
        notIp(`${S}.gateway`, 'x'),
        kept(`${S}.cidr`, 'cidr', '172.17.0.0/16', 'was 172.17.0.0/24'),
        kept(`${S}.vlan`, 'vlan', 5, 'was not set'),
        kept('spec.networks[1].subnets[0].vlan', 'vlan', '', 'was 21'),
      ],
    ];
    const objects = changes.map(([networks]) => object('NetConfig', 'netconfig', { networks }));
    const refused = await space.refused('replace -f -', objects);
    assert.deepEqual(
      refused.trimEnd().split('\n'),
      changes.map(([, ...faults]) => told('replacing', 'NetConfig', 'netconfig', faults)),
    );
    assert.match(
      await space.refused('delete netconfig netconfig'),
      /\(BadRequest\): NetConfig netconfig cannot be deleted: 2 IPSet\(s\) in namespace used have addresses from it \(a, b\); delete them first/,
    );
  });

  test('nothing of an IPSet that is being deleted, so that its finalizers can go after the NetConfig', async () => {
    const space = await kubectl.namespace('leaving');
    const host = object('IPSet', 'host', { networks: [internalApi()] });
    await space.ok('create -f -', [
      object('NetConfig', 'netconfig', both),
      { ...host, metadata: { name: 'host', finalizers: ['example.com/drain', 'IPSet'] } },
    ]);
    await space.ok('delete ipset host --wait=false');
    await space.ok('delete netconfig netconfig');
    await space.ok(
      `patch ipset host --type=merge -p {"metadata":{"finalizers":["openstack.org/ipset"]},"spec":{"networks":[]}}`,
    );
    await space.ok(`patch ipset host --type=merge -p {"metadata":{"finalizers":null}}`);
    assert.match(await space.refused('get ipset host'), /NotFound/);
  });

  test('what must not change of an IPSet', async () => {
    const space = await kubectl.namespace('changes');
    const before = [internalApi({ fixedIP: '172.17.0.5', defaultRoute: true }), onStorage()];
    await space.ok('create -f -', [
      object('NetConfig', 'netconfig', both),
      object('IPSet', 'host', { networks: before }),
      object('IPSet', 'locked', { immutable: true, networks: [onStorage()] }),
    ]);
    const changes: [JsonObject[], ...string[]][] = [
      [
        [internalApi({ subnetName: 'bare', fixedIP: 'x' })],
        notIp(`${N}.fixedIP`, 'x'),
        own(`${N}.subnetName`, 'subnetName', 'bare', 'was subnet1'),
        bad('spec.networks[1].name', 'Storage', 'network "Storage" was removed: networks may only be added'),
      ],
      [
        [internalApi({ fixedIP: '172.17.0.6' }), onStorage({ fixedIP: '172.18.0.9' })],
        own(`${N}.fixedIP`, 'fixedIP', '172.17.0.6', 'was 172.17.0.5'),
        own(`${N}.defaultRoute`, 'defaultRoute', false, 'was true'),
        own('spec.networks[1].fixedIP', 'fixedIP', '172.18.0.9', 'was not set'),
      ],
    ];
    const objects = changes.map(([networks]) => object('IPSet', 'host', { networks }));
    const refused = await space.refused('replace -f -', objects);
    assert.deepEqual(
      refused.trimEnd().split('\n'),
      changes.map(([, ...faults]) => told('replacing', 'IPSet', 'host', faults)),
    );
    assert.equal(
      await space.refused(
        'replace -f -',
        object('IPSet', 'locked', { immutable: false, networks: [onStorage(), internalApi()] }),
      ),
      'Error from server (Forbidden): error when replacing "STDIN": ipsets.network.openstack.org "locked" is forbidden: spec: Forbidden: Invalid value: "object": Spec.Networks is immutable; first set spec.immutable to false, in an update that changes nothing else\n',
    );
    // Another spelling of the same is no change, and networks may be added.
    const again = [internalApi({ name: 'INTERNALAPI', fixedIP: '172.17.0.5', defaultRoute: true }), onStorage()];
    await space.ok('replace -f -', [
      object('IPSet', 'host', { networks: again }),
      object('IPSet', 'locked', { immutable: false, networks: [onStorage()] }),
      object('IPSet', 'locked', { immutable: false, networks: [onStorage(), internalApi()] }),
    ]);
  });
});

const kept = (field: string, parameter: string, value: string | number, was: string) =>
  bad(field, value, `parameter ${parameter} must not change while IPSets exist, it ${was}`);
const own = (field: string, parameter: string, value: string | boolean, was: string) =>
  bad(field, value, `parameter ${parameter} must not change, it ${was}`);
const gone = bad('spec.networks[1].name', 'Storage', 'network Storage was removed: it is in use by IPSets');
