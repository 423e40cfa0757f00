import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Service } from '../../api/core/service.ts';
import type { AddressBlock } from '../../api/netloom.io/address-block.ts';
import type { IPSet } from '../../api/network.openstack.org/ipset.ts';
import { before, block, ipSet, netConfig, pool, readyIpSet, reservation, service, subnet } from './answers.fixture.ts';
import type { Finding } from './finding.ts';
import { blockFindings, netConfigFindings, reservationFindings } from './other-findings.ts';
import { rangesOf } from './place.ts';
import { isServed, serviceFindings } from './service-findings.ts';
import { requestedBy, type ServiceFacts } from './service-request-findings.ts';

const told = (findings: readonly Finding[]) => findings.map(({ severity, says }) => `${severity}: ${says}`);

test('a NetConfig tells how full its subnets are', () => {
  const config = netConfig(subnet(), subnet({ name: 'subnet2', cidr: '172.18.0.0/24', allocationRanges: [] }));
  const findings = netConfigFindings({
    netConfig: config,
    netConfigs: [config],
    blocks: [block({ '172.17.0.10': 'a' })],
    keptOut: [],
  });
  assert.deepEqual(told(findings), [
    'note: network InternalApi, subnet subnet1 (172.17.0.0/24): 1 of 3 addresses of 172.17.0.10-172.17.0.12 are held, 2 are free, the next one is 172.17.0.11',
    'note: network InternalApi, subnet subnet2 (172.18.0.0/24): no allocationRanges, so addresses are given as fixedIP only',
  ]);
});

test('what a pool gives to Services counts for no subnet', () => {
  const [config, keptOut] = [netConfig(), rangesOf([pool('vips', ['172.17.0.11-172.17.0.90'])])];
  assert.deepEqual(told(netConfigFindings({ netConfig: config, netConfigs: [config], blocks: [], keptOut })), [
    'note: network InternalApi, subnet subnet1 (172.17.0.0/24): 0 of 1 addresses of 172.17.0.10-172.17.0.12 are held, 1 are free, the next one is 172.17.0.10',
  ]);
});

test('a NetConfig with faults names the fields, and one that does not count names the one that does', () => {
  const config = netConfig(subnet({ gateway: 'router' }));
  const older = netConfig();
  older.metadata = { ...older.metadata, name: 'first', uid: 'uid-first', creationTimestamp: before(9000) };
  const facts = { netConfig: config, netConfigs: [config, older], blocks: [], keptOut: [] };
  assert.deepEqual(told(netConfigFindings(facts)), [
    'problem: spec.networks[0].subnets[0].gateway: "router" is not an IP address',
    'problem: NetConfig first is older, and only the oldest of a namespace counts',
  ]);
});

test('a Reservation is compared with the ledger', () => {
  const facts = { reservation: reservation('a', '172.17.0.10'), ipSet: ipSet('a') };
  assert.deepEqual(told(reservationFindings({ ...facts, blocks: [block({ '172.17.0.10': 'a' })] })), []);
  assert.deepEqual(told(reservationFindings({ ...facts, blocks: [block({ '172.17.0.10': 'b' })] })), [
    'problem: 172.17.0.10 on network InternalApi is held by IPSet b',
  ]);
  assert.deepEqual(told(reservationFindings({ ...facts, blocks: [] })), [
    'problem: 172.17.0.10 on network InternalApi is on record for nobody: the address controller has not taken it in',
  ]);
  assert.deepEqual(told(reservationFindings({ ...facts, ipSet: undefined, blocks: [block({ '172.17.0.10': 'a' })] })), [
    'problem: 172.17.0.10 on network InternalApi is held by IPSet a',
    'note: there is no IPSet that Reservation a was made for; what it reserves stays reserved until it is deleted',
  ]);
});

test('a block names holders that are gone', () => {
  const holders = new Map<string, IPSet | 'gone'>([
    ['uid-a', 'gone'],
    ['uid-b', readyIpSet('b', '172.17.0.11')],
  ]);
  const findings = blockFindings({ block: block({ '172.17.0.10': 'a', '172.17.0.11': 'b' }), holders });
  assert.deepEqual(told(findings), [
    'note: 2 of the 256 addresses of 172.17.0.0/24 are held (netloom who 172.17.0.0/24)',
    'problem: these are held by objects that do not exist any more: 172.17.0.10 of IPSet a',
  ]);
});

const services = (facts: Partial<ServiceFacts>) =>
  told(
    serviceFindings({
      service: service(),
      pools: [pool('vips', ['172.17.0.80/31'])],
      blocks: [],
      namespaceLabels: {},
      warning: undefined,
      ...facts,
    }),
  );

test('a Service is served when it has an address, and one that wants none is neither', () => {
  assert.equal(isServed(service({}, '172.17.0.80')), true);
  assert.equal(isServed(service()), false);
  assert.equal(isServed({ ...service(), spec: { type: 'ClusterIP' } }), undefined);
});

test('both prefixes of annotations are read, the newer one first', () => {
  const older = { 'metallb.universe.tf/loadBalancerIPs': '10.0.0.1' };
  assert.deepEqual(requestedBy(service(older)), ['10.0.0.1']);
  assert.deepEqual(requestedBy(service({ ...older, 'metallb.io/loadBalancerIPs': '10.0.0.2, fd00::2' })), [
    '10.0.0.2',
    'fd00::2',
  ]);
});

test('a Service without an address says which pool or address is the reason', () => {
  assert.deepEqual(services({ pools: [] }), [
    'problem: there is no IPAddressPool, so there are no addresses for Services',
  ]);
  assert.deepEqual(services({ service: service({ 'metallb.io/address-pool': 'vip' }) }), [
    'problem: it asks for pool "vip", which does not exist. Did you mean "vips"?',
  ]);
  const classy = { ...service(), spec: { type: 'LoadBalancer', loadBalancerClass: 'example.com/lb' } as const };
  assert.deepEqual(services({ service: classy }), [
    'problem: it is of class example.com/lb, and nobody who serves that class has given it an address',
  ]);
  const asking = service({ 'metallb.io/loadBalancerIPs': '172.17.0.80' });
  assert.deepEqual(services({ service: asking, pools: [pool('vips', ['10.0.0.0/24'])] }), [
    'problem: it asks for 172.17.0.80, which is in no pool',
  ]);
  const blocks = [block({ '172.17.0.80': 'a' }, 'vips'), block({ '172.17.0.80': 'a' })];
  assert.deepEqual(services({ service: asking, blocks }), [
    'problem: 172.17.0.80 is held by IPSet a of namespace openstack',
  ]);
  assert.deepEqual(services({ service: service({ 'metallb.io/loadBalancerIPs': '172.17.0.800' }) }), [
    'problem: it asks for "172.17.0.800", which is not an address',
  ]);
  const full = { ...pool('vips', ['172.17.0.80/31']), status: { availableIPv4: 0, availableIPv6: 0 } };
  assert.deepEqual(services({ pools: [full] }), ['problem: every pool is full: vips']);
  assert.deepEqual(services({ service: service({ 'metallb.io/address-pool': 'vips' }), pools: [full] }), [
    'problem: pool vips, which it asks for, is full',
  ]);
  assert.deepEqual(services({ warning: 'Failed to allocate IP' }), ['problem: Failed to allocate IP']);
});

/** Addresses that Services share, under a key and each on a port of its own. */
const sharedBlock = (text: string, ports: Readonly<Record<string, string>>): AddressBlock => {
  const plain = block({ [text]: 'a' }, 'vips');
  const sharers = Object.entries(ports).map(([name, port]) => ({
    kind: 'Service',
    namespace: 'openstack',
    name,
    uid: `uid-${name}`,
    ports: [port],
    sharingKey: 'api',
  }));
  const [first] = sharers;
  assert.ok(first);
  const holding = { address: text, holder: first, network: 'vips', subnet: '', since: before(9), sharers };
  return { ...plain, spec: { ...plain.spec, holdings: [holding] } };
};

test('of those who share an address, only those are in the way of a Service with whom it cannot share', () => {
  const blocks = [sharedBlock('172.17.0.80', { glance: 'TCP/9292', nova: 'TCP/8774' })];
  const asking = (key: string, spec: Partial<Service['spec']>): ServiceFacts => {
    const wishes = { 'metallb.io/loadBalancerIPs': '172.17.0.80', 'metallb.io/allow-shared-ip': key };
    const it = service(wishes);
    const pools = [pool('vips', ['172.17.0.80/31'])];
    return {
      service: { ...it, spec: { ...it.spec, ...spec } },
      pools,
      blocks,
      namespaceLabels: {},
      warning: undefined,
    };
  };
  const says = (facts: ServiceFacts) => serviceFindings(facts).map(({ says, remedies }) => [says, remedies[1]]);
  assert.deepEqual(says(asking('api', { ports: [{ port: 8774 }] })), [
    ['172.17.0.80 is held by Service nova of namespace openstack', 'give Service keystone other ports than TCP/8774'],
  ]);
  assert.deepEqual(says(asking('other', { ports: [{ port: 80 }] })), [
    [
      '172.17.0.80 is held by these together: openstack/glance, openstack/nova',
      'give all these Services the same metallb.io/allow-shared-ip, if their ports differ',
    ],
  ]);
  const local = asking('api', { ports: [{ port: 80 }], externalTrafficPolicy: 'Local', selector: { app: 'web' } });
  assert.equal(
    says(local)[0]?.[1],
    'give all these Services externalTrafficPolicy Cluster, or Local and the same selector',
  );
});

test('a Service that asks for what nobody can give is told to ask for something else, whoever has the address', () => {
  const blocks = [block({ '172.17.0.80': 'a', '172.17.0.81': 'b' }, 'vips')];
  const pools = [
    pool('vips', ['172.17.0.80/31', 'fd17::80/127']),
    pool('others', ['172.18.0.0/31'], { avoidBuggyIPs: true }),
  ];
  const asking = (addresses: string, annotations = {}, spec: Partial<Service['spec']> = {}) => {
    const it = service({ 'metallb.io/loadBalancerIPs': addresses, ...annotations });
    return services({ service: { ...it, spec: { ...it.spec, ...spec } }, pools, blocks });
  };
  assert.deepEqual(asking('172.17.0.80', {}, { loadBalancerIP: '172.17.0.80' }), [
    'problem: service can not have both metallb.io/loadBalancerIPs and svc.Spec.LoadBalancerIP',
  ]);
  assert.deepEqual(asking('172.17.0.80,172.17.0.81'), [
    'problem: ["172.17.0.80" "172.17.0.81"] has the same family, a Service has one IPv4 and one IPv6 address at most',
  ]);
  assert.deepEqual(asking('172.17.0.80', {}, { clusterIPs: ['fd96::1'] }), [
    'problem: it asks for 172.17.0.80, and is a Service of IPv6',
  ]);
  assert.deepEqual(asking('172.17.0.80', { 'metallb.io/address-pool': 'others' }), [
    'problem: it asks for pool others, and for 172.17.0.80, which is of pool vips',
  ]);
  assert.deepEqual(asking('172.18.0.1, fd17::80', {}, { ipFamilyPolicy: 'PreferDualStack' }), [
    'problem: it asks for 172.18.0.1 of pool others and for fd17::80 of pool vips, and all addresses of a Service are from one pool',
  ]);
  assert.deepEqual(asking('172.18.0.0'), [
    'problem: it asks for 172.18.0.0, which pool others never gives, as it has avoidBuggyIPs',
  ]);
});

test('a Service is told when the pools are for others, or have no address of its family', () => {
  const closed = pool('closed', ['172.17.0.80/31'], { serviceAllocation: { namespaces: ['elsewhere'] } });
  const isForOthers =
    'problem: pool closed is for other Services: its spec.serviceAllocation selects other namespaces or other labels';
  const naming = service({ 'metallb.io/address-pool': 'closed' });
  assert.deepEqual(services({ service: naming, pools: [closed] }), [isForOthers]);
  const asking = service({ 'metallb.io/loadBalancerIPs': '172.17.0.80' });
  assert.deepEqual(services({ service: asking, pools: [closed] }), [isForOthers]);
  const selecting = pool('closed', ['172.17.0.80/31'], {
    serviceAllocation: { namespaceSelectors: [{ matchLabels: { team: 'a' } }] },
  });
  assert.deepEqual(services({ service: naming, pools: [selecting] }), [isForOthers]);
  const unseen = { service: naming, pools: [selecting], namespaceLabels: undefined, warning: 'not compatible' };
  assert.deepEqual(services(unseen), ['problem: not compatible']);
  const manual = pool('manual', ['172.17.0.80/31'], { autoAssign: false });
  assert.deepEqual(services({ pools: [closed, manual] }), [
    'problem: no pool gives it an address unasked: they have autoAssign: false, are for other Services, or go',
  ]);
  const half = { ...pool('half', ['172.17.0.82/31', 'fd17::/120']), status: { availableIPv4: 0, availableIPv6: 9 } };
  assert.deepEqual(services({ service: service({ 'metallb.io/address-pool': 'half' }), pools: [half] }), [
    'problem: pool half, which it asks for, has not enough of IPv4',
  ]);
  assert.deepEqual(services({ pools: [half, manual] }), [
    'problem: every pool that gives it an address unasked is full: half',
  ]);
});

test('an annotation that is there and empty asks for nothing', () => {
  const empty = { 'metallb.io/address-pool': '', 'metallb.universe.tf/address-pool': 'nope' };
  assert.deepEqual(services({ service: service(empty), warning: 'no available IPs' }), ['problem: no available IPs']);
  const it = service({ 'metallb.io/loadBalancerIPs': '' });
  assert.deepEqual(requestedBy({ ...it, spec: { ...it.spec, loadBalancerIP: '10.0.0.1' } }), ['10.0.0.1']);
});

test('a Service with an address says when its pool has trouble', () => {
  const conditions = [
    { type: 'Ready', status: 'False', message: 'nobody announces', lastTransitionTime: before(9) } as const,
  ];
  const pools = [{ ...pool('vips', ['172.17.0.80/31']), status: { conditions } }];
  const served = service({ 'metallb.io/ip-allocated-from-pool': 'vips' }, '172.17.0.80');
  assert.deepEqual(services({ service: served, pools }), [
    'note: its address is from pool vips, which is not Ready: nobody announces',
  ]);
});

test('a Service with one address that prefers two families says which one is missing, and why', () => {
  const inside = { clusterIP: '10.96.0.9', clusterIPs: ['10.96.0.9', 'fd96::9'] };
  const preferring = (annotations = {}, spec: Partial<Service['spec']> = inside, ...more: string[]): Service => {
    const served = service({ 'metallb.io/ip-allocated-from-pool': 'vips', ...annotations }, '172.17.0.80', ...more);
    return { ...served, spec: { ...served.spec, ipFamilyPolicy: 'PreferDualStack', ...spec } };
  };
  const lacks = 'note: it has no address of IPv6, though it prefers two families';
  const because = (why: string) => [`${lacks}, and both would be from one pool: ${why}`];
  const it = { service: preferring() };
  assert.deepEqual(services(it), because('pool vips has no addresses of IPv6'));
  const full = { ...pool('vips', ['172.17.0.80/31', 'fd00::/127']), status: { availableIPv4: 1, availableIPv6: 0 } };
  assert.deepEqual(services({ ...it, pools: [full] }), because('no address of IPv6 is left in pool vips'));
  const spare = { ...full, status: { availableIPv4: 1, availableIPv6: 1 } };
  assert.deepEqual(services({ ...it, pools: [spare] }), because('pool vips has not given it one of IPv6 yet'));
  assert.deepEqual(
    services({ ...it, pools: [pool('other', ['fd00::/127'])] }),
    because('pool vips, which its address is from, does not exist any more'),
  );
  const asking = preferring({ 'metallb.io/loadBalancerIPs': '172.17.0.80' });
  assert.deepEqual(services({ service: asking }), [`${lacks}: it asks for 172.17.0.80 alone by number`]);
  const alone = preferring({}, { clusterIP: '10.96.0.9', clusterIPs: ['10.96.0.9'] });
  assert.deepEqual(services({ service: alone }), [
    `${lacks}: its addresses within the cluster are of IPv4 alone, and those decide`,
  ]);
  assert.deepEqual(services({ service: preferring({}, inside, 'fd00::1') }), []);
  assert.deepEqual(services({ service: preferring({}, { ...inside, ipFamilyPolicy: 'SingleStack' }) }), []);
});
