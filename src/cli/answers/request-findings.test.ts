import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AddressClaim } from '../../api/netloom.io/address-claim.ts';
import type { IPSet } from '../../api/network.openstack.org/ipset.ts';
import type { Reservation } from '../../api/network.openstack.org/reservation.ts';
import { before, block, ipSet, NOW, netConfig, pool, readyIpSet, reservation, subnet } from './answers.fixture.ts';
import { claimAsker, ipSetAsker, ipSetNeighbour } from './asker.ts';
import type { Finding } from './finding.ts';
import { rangesOf } from './place.ts';
import { requestFindings, subnetsInQuestion } from './request-findings.ts';
import type { AskerFacts } from './request-holders.ts';

interface Facts extends Partial<Omit<AskerFacts, 'neighbours'>> {
  readonly reservation?: Reservation;
  /** What somebody else has of what that says. */
  readonly anothers?: string;
  readonly neighbours?: readonly IPSet[];
}

const findings = (
  asking: IPSet,
  { reservation: reserved, anothers, neighbours = [], ...facts }: Facts = {},
): Finding[] =>
  requestFindings({
    asker: ipSetAsker(asking, reserved, (text) => text === anothers),
    neighbours: neighbours.map(ipSetNeighbour),
    netConfigs: [netConfig()],
    blocks: [],
    keptOut: [],
    holders: new Map(),
    now: NOW,
    ...facts,
  });

function only(...parameters: Parameters<typeof findings>): Finding {
  const [finding, ...more] = findings(...parameters);
  assert.ok(finding);
  assert.deepEqual(more, []);
  return finding;
}

const WHERE = 'subnet subnet1 (172.17.0.0/24) of network InternalApi';
const FULL = block({ '172.17.0.10': 'a', '172.17.0.11': 'b', '172.17.0.12': 'c' });

test('nothing is said about requests for which something is reserved', () => {
  const facts = { reservation: reservation('compute-0', '172.17.0.10') };
  assert.deepEqual(findings(ipSet('compute-0'), facts), []);
  assert.deepEqual(
    subnetsInQuestion({
      asker: ipSetAsker(ipSet('compute-0'), facts.reservation),
      netConfigs: [netConfig()],
      keptOut: [],
    }),
    [],
  );
});

test('the Reservation of an earlier IPSet of the same name reserves nothing', () => {
  const facts = { reservation: reservation('compute-0', '172.17.0.10') };
  assert.equal(findings(ipSet('compute-0', {}, { uid: 'uid-new' }), facts).length, 1);
});

test('without a NetConfig nothing can be given, and one is to be applied', () => {
  const { says, remedies } = only(ipSet('compute-0'), { netConfigs: [] });
  assert.equal(says, 'there is no NetConfig in namespace openstack, so nobody knows its networks');
  assert.deepEqual(remedies, ['apply a NetConfig to namespace openstack: netloom apply -f FILE -n openstack']);
});

test('a network that is not in the NetConfig is answered with the one that was probably meant', () => {
  const { says, remedies } = only(ipSet('compute-0', { name: 'InternalAp' }));
  assert.equal(says, 'network InternalAp is not in NetConfig netconfig. Did you mean "InternalApi"?');
  assert.deepEqual(remedies, [
    'add network InternalAp to NetConfig netconfig',
    'delete IPSet compute-0 and create it anew for one of the networks InternalApi',
  ]);
});

test('so is a subnet, and one that cannot be used says why', () => {
  assert.match(
    only(ipSet('compute-0', { subnetName: 'subnet2' })).says,
    /^subnet subnet2 is not in network InternalApi of NetConfig netconfig\. Did you mean "subnet1"\?$/,
  );
  assert.match(
    only(ipSet('compute-0'), { netConfigs: [netConfig(subnet({ gateway: 'router' }))] }).says,
    /^subnet subnet1 of network InternalApi cannot be used: .*"router" is not an IP address$/,
  );
});

test('a fixed address that is excluded: no exclusion, or another address that is free', () => {
  const netConfigs = [netConfig(subnet({ excludeAddresses: ['172.17.0.10'] }))];
  const { says, remedies } = only(ipSet('compute-0', { fixedIP: '172.17.0.10' }), { netConfigs });
  assert.equal(says, `fixedIP 172.17.0.10 is in excludeAddresses of ${WHERE}`);
  assert.deepEqual(remedies, [
    'take 172.17.0.10 out of excludeAddresses of subnet subnet1 in NetConfig netconfig',
    'delete IPSet compute-0 and create it anew with another fixedIP (172.17.0.11 is free), or with none',
  ]);
});

test('a fixed address that somebody uses: another one, or without its holder', () => {
  const holder = readyIpSet('a', '172.17.0.10');
  const facts = { blocks: [block({ '172.17.0.10': 'a' })], neighbours: [holder] };
  const { about, says, because, remedies } = only(ipSet('compute-0', { fixedIP: '172.17.0.10' }), facts);
  assert.deepEqual(about, { kind: 'IPSet', namespace: 'openstack', name: 'a' });
  assert.equal(says, `fixedIP 172.17.0.10 of ${WHERE} is held by IPSet a since 2026-01-01T00:50:00Z`);
  assert.equal(because[0]?.says, 'IPSet a is Ready and uses it');
  assert.deepEqual(remedies, [
    'delete IPSet compute-0 and create it anew with another fixedIP (172.17.0.11 is free), or with none',
    'delete IPSet a: netloom delete ipset a -n openstack',
  ]);
});

test('an address that was promised to two: who has it, and a new one or without its holder', () => {
  const { about, says, because, remedies } = only(ipSet('compute-0'), {
    reservation: reservation('compute-0', '172.17.0.10'),
    anothers: '172.17.0.10',
    blocks: [block({ '172.17.0.10': 'a' })],
    neighbours: [readyIpSet('a', '172.17.0.10')],
  });
  assert.equal(about.name, 'a');
  assert.equal(
    says,
    `172.17.0.10 of ${WHERE} is promised to IPSet compute-0, but held by IPSet a since 2026-01-01T00:50:00Z`,
  );
  assert.equal(because[0]?.says, 'IPSet a is Ready and uses it');
  assert.deepEqual(remedies, [
    'delete IPSet compute-0 and create it anew, for another address',
    'delete IPSet a: netloom delete ipset a -n openstack',
  ]);
});

test('a holder that is going: what it waits for is what the IPSet waits for', () => {
  const going = readyIpSet('a', '172.17.0.10', { deletionTimestamp: before(60), finalizers: ['example.com/drain'] });
  const facts = { blocks: [block({ '172.17.0.10': 'a' })], holders: new Map([['uid-a', going]]) };
  const { because, remedies } = only(ipSet('compute-0', { fixedIP: '172.17.0.10' }), facts);
  assert.match(
    because[0]?.says ?? '',
    /^IPSet a is being deleted since .* until its finalizers are gone: example\.com\/drain$/,
  );
  assert.match(because[0]?.because[0]?.remedies[0] ?? '', /^let whoever set example\.com\/drain on IPSet a finish/);
  assert.equal(remedies.length, 1);
});

test('a holder that is gone: its address is swept up', () => {
  const facts = { blocks: [block({ '172.17.0.10': 'a' })], holders: new Map([['uid-a', 'gone' as const]]) };
  const { because } = only(ipSet('compute-0', { fixedIP: '172.17.0.10' }), facts);
  assert.equal(
    because[0]?.says,
    'IPSet a does not exist any more; its address is given back about a minute after it went',
  );
});

test('an address that cools down: until when', () => {
  const cooling = block({ '172.17.0.10': 'a', '172.17.0.11': 'b', '172.17.0.12': 'c' });
  const [first] = cooling.spec.holdings;
  if (first !== undefined) first.coolsUntil = '2026-01-01T01:05:00Z';
  const facts = { blocks: [cooling], holders: new Map([['uid-a', 'gone' as const]]) };
  const fixed = only(ipSet('compute-0', { fixedIP: '172.17.0.10' }), facts);
  assert.equal(
    fixed.says,
    `fixedIP 172.17.0.10 of ${WHERE} was given back by IPSet a and cools down until 2026-01-01T01:05:00Z`,
  );
  assert.equal(fixed.remedies[0], 'wait until 2026-01-01T01:05:00Z: it is served then');
  const any = only(ipSet('compute-0'), facts);
  assert.match(any.says, /are held or cool down \(1, the first until 2026-01-01T01:05:00Z\)$/);
  assert.equal(any.remedies[0], 'wait until 2026-01-01T01:05:00Z: an address has cooled down then');
});

test('a full range: how full, how to make room, and who comes first', () => {
  const neighbours = [
    readyIpSet('a', '172.17.0.10'),
    ipSet('older', {}, { creationTimestamp: before(900) }),
    ipSet('younger', {}, { creationTimestamp: before(10) }),
    ipSet('elsewhere', { subnetName: 'subnet2' }, { creationTimestamp: before(900) }),
  ];
  const { says, because, remedies } = only(ipSet('compute-0'), { blocks: [FULL], neighbours });
  assert.equal(says, `${WHERE} is full: all 3 addresses of 172.17.0.10-172.17.0.12 are held`);
  assert.deepEqual(
    because.map((finding) => finding.says),
    ['an older one waits for the same and will be served first: IPSet older'],
  );
  assert.deepEqual(remedies, [
    'widen allocationRanges of subnet subnet1 in NetConfig netconfig: 251 more addresses of 172.17.0.0/24 are free',
    'delete IPSet a: netloom delete ipset a -n openstack, or another holder there (netloom who 172.17.0.0/24)',
  ]);
});

test('a full range with exclusions: one of them could go', () => {
  const netConfigs = [netConfig(subnet({ excludeAddresses: ['172.17.0.12', '172.17.0.200'] }))];
  const blocks = [block({ '172.17.0.10': 'a', '172.17.0.11': 'b' })];
  const { says, remedies } = only(ipSet('compute-0'), { netConfigs, blocks });
  assert.match(says, /all 2 addresses of .* are held; 1 more is excluded or not given unasked$/);
  assert.equal(remedies[1], 'take 172.17.0.12 out of excludeAddresses of subnet subnet1 in NetConfig netconfig');
});

test('a subnet of one address, and one that gives none, are full in words that fit', () => {
  const range = (end: string, excludeAddresses: string[] = []) => [
    netConfig(subnet({ allocationRanges: [{ start: '172.17.0.10', end }], excludeAddresses })),
  ];
  const blocks = [block({ '172.17.0.10': 'a' })];
  assert.equal(
    only(ipSet('compute-0'), { netConfigs: range('172.17.0.10'), blocks }).says,
    `${WHERE} is full: the one address of 172.17.0.10 is held`,
  );
  assert.equal(
    only(ipSet('compute-0'), { netConfigs: range('172.17.0.10', ['172.17.0.10']) }).says,
    `${WHERE} has nothing to give: all of 172.17.0.10 is excluded or not given unasked`,
  );
});

test('a subnet that is full altogether: only another one makes room', () => {
  const cidr = '172.17.0.8/30';
  const netConfigs = [netConfig(subnet({ cidr, allocationRanges: [{ start: '172.17.0.9', end: '172.17.0.10' }] }))];
  const blocks = [block({ '172.17.0.9': 'a', '172.17.0.10': 'b' })];
  const [first] = only(ipSet('compute-0'), { netConfigs, blocks }).remedies;
  assert.match(first ?? '', /^add another subnet to network InternalApi in NetConfig netconfig/);
});

test('holders in a full range that are going are named', () => {
  const going = readyIpSet('b', '172.17.0.11', { deletionTimestamp: before(60), finalizers: ['example.com/drain'] });
  const { because, remedies } = only(ipSet('compute-0'), { blocks: [FULL], neighbours: [going] });
  assert.match(because[0]?.says ?? '', /^IPSet b is being deleted/);
  assert.match(remedies[1] ?? '', /^delete IPSet a:/);
});

test('a subnet without ranges: add one, or ask for a fixed address', () => {
  const { says, remedies } = only(ipSet('compute-0'), { netConfigs: [netConfig(subnet({ allocationRanges: [] }))] });
  assert.equal(says, `${WHERE} has no allocationRanges`);
  assert.equal(remedies.length, 2);
});

test('an address that is free and is not given for some seconds means that no controller acts', () => {
  const { says, remedies } = only(ipSet('compute-0'));
  assert.equal(
    says,
    `3 of 3 addresses of 172.17.0.10-172.17.0.12 in ${WHERE} are free, but it is not served: no controller seems to act`,
  );
  assert.match(remedies[0] ?? '', /^start "netloom up"/);
  const waiting = ipSet('compute-0');
  const conditions = [{ type: 'Ready', status: 'False', lastTransitionTime: before(1) } as const];
  assert.deepEqual(only({ ...waiting, status: { conditions } }).remedies, []);
  // That nobody has ever looked at it is said elsewhere.
  const { status: _, ...unseen } = waiting;
  assert.equal(only(unseen).severity, 'note');
});

test('every network that lacks an address has its own reason', () => {
  const asking = ipSet('compute-0');
  asking.spec.networks.push({ name: 'Storage', subnetName: 'subnet1' });
  assert.equal(findings(asking).length, 2);
});

test('what a pool gives to Services is neither free nor counted, and the pool is named', () => {
  const keptOut = rangesOf([pool('vips', ['172.17.0.12-172.17.0.255']), pool('far', ['10.0.0.0/24'])]);
  const facts = { keptOut, blocks: [block({ '172.17.0.10': 'a', '172.17.0.11': 'b' })] };
  const { says, because, remedies } = only(ipSet('compute-0'), facts);
  assert.equal(
    says,
    `${WHERE} is full: all 2 addresses of 172.17.0.10-172.17.0.12 are held; 1 more is excluded or not given unasked`,
  );
  assert.deepEqual(
    because.map((each) => each.says),
    ['172.17.0.12-172.17.0.255 of pool vips is for Services'],
  );
  assert.equal(
    remedies[0],
    'widen allocationRanges of subnet subnet1 in NetConfig netconfig: 9 more addresses of 172.17.0.0/24 are free',
  );
});

test('an AddressClaim is answered in its own words, and waits among IPSets', () => {
  const claim: AddressClaim = {
    ...ipSet('web', {}, { creationTimestamp: before(300) }),
    kind: 'AddressClaim',
    spec: { host: 'compute-0', network: 'InternalApi', subnet: 'subnet1', address: '172.17.0.10' },
    status: {},
  };
  const facts = {
    netConfigs: [netConfig()],
    keptOut: [],
    blocks: [FULL],
    holders: new Map(),
    now: NOW,
    neighbours: [],
  };
  const [byNumber] = requestFindings({ ...facts, asker: claimAsker(claim) });
  assert.equal(byNumber?.says, `address 172.17.0.10 of ${WHERE} is held by IPSet a since 2026-01-01T00:50:00Z`);
  assert.equal(
    byNumber?.remedies[0],
    'delete AddressClaim web and create it anew with another address (172.17.0.1 is free), or with none',
  );
  const { address: _, ...any } = claim.spec;
  const neighbours = [ipSetNeighbour(ipSet('older'))];
  const [finding] = requestFindings({ ...facts, neighbours, asker: claimAsker({ ...claim, spec: any }) });
  assert.equal(finding?.because[0]?.says, 'an older one waits for the same and will be served first: IPSet older');
  assert.deepEqual(
    requestFindings({ ...facts, asker: claimAsker({ ...claim, status: { address: '172.17.0.9' } }) }),
    [],
  );
});
