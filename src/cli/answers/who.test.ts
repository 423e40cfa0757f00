import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ServiceL2Status } from '../../api/metallb.io/service-l2-status.ts';
import type { AddressBlock } from '../../api/netloom.io/address-block.ts';
import {
  address,
  before,
  block,
  metadata,
  NOW,
  netConfig,
  node,
  pod,
  pool,
  service,
  subnet,
} from './answers.fixture.ts';
import { carriedBy, placesOnNodes } from './carriers.ts';
import { announcedBy, holdersIn, inOrder, wantedBy } from './holder.ts';
import { placesOf } from './place.ts';
import { questionOf } from './question.ts';
import { whoAnswer } from './who-answer.ts';
import { whoText } from './who-text.ts';

const BLOCK = block({ '172.17.0.11': 'compute-1', '172.17.0.9': 'compute-0', '172.17.0.100': 'compute-0' });

const found = (word: string, blocks: AddressBlock[], scope: { kind?: string; namespace?: string } = {}) =>
  inOrder(blocks.flatMap((one) => holdersIn(one, wantedBy(questionOf(word), scope))));
const addresses = (...parameters: Parameters<typeof found>) => found(...parameters).map(({ address: text }) => text);

/** The record of an address that a Service has, in the namespace of the pools. */
function vip(): AddressBlock {
  const record = block({ '172.17.0.80': 'keystone' }, 'vips');
  const user = (namespace: string, name: string) => ({ kind: 'Service', namespace, name, uid: `uid-${name}` });
  record.spec.holdings = record.spec.holdings.map((holding) => ({
    ...holding,
    holder: user('openstack', 'keystone'),
    sharers: [
      { ...user('openstack', 'keystone'), ports: ['TCP/80'] },
      { ...user('other', 'placement'), ports: ['TCP/81'] },
    ],
  }));
  return record;
}

test('of an address the holder is told with everything that is known, and nothing that is not', () => {
  assert.deepEqual(found('172.17.0.11', [BLOCK]), [
    {
      address: '172.17.0.11',
      space: 'underlay',
      namespace: 'openstack',
      holder: {
        apiGroup: 'network.openstack.org',
        kind: 'IPSet',
        namespace: 'openstack',
        name: 'compute-1',
        uid: 'uid-compute-1',
      },
      network: 'InternalApi',
      subnet: 'subnet1',
      since: '2026-01-01T00:50:00Z',
      host: 'compute-1',
    },
  ]);
});

test('of an address that cools down it is told who gave it back, and until when nobody else gets it', () => {
  const record = block({ '172.17.0.11': 'compute-1', '172.17.0.9': 'compute-0' });
  const [first] = record.spec.holdings;
  if (first !== undefined) first.coolsUntil = '2026-01-01T01:05:00Z';
  const answer = (word: string) =>
    whoText(whoAnswer({ question: questionOf(word), scope: {}, holders: found(word, [record]) }), NOW);
  const said = answer('172.17.0.11');
  assert.match(
    said,
    /^nobody holds 172\.17\.0\.11: IPSet compute-1 in namespace openstack gave it back, and nobody else gets it before 2026-01-01T01:05:00Z$/m,
  );
  assert.match(said, /^ {2}formerly +IPSet compute-1/m);
  assert.match(
    answer('172.17.0.0/28'),
    /^one address of 172\.17\.0\.0\/28 is held; one address was given back and cools down$/m,
  );
  assert.match(answer('172.17.0.0/28'), /^172\.17\.0\.11 +IPSet\/compute-1 .*cools until 2026-01-01T01:05:00Z$/m);
});

test('of a prefix everything is told that is held in it, lowest first', () => {
  assert.deepEqual(addresses('172.17.0.0/28', [BLOCK]), ['172.17.0.9', '172.17.0.11']);
  assert.deepEqual(addresses('172.17.0.128/25', [BLOCK]), []);
});

test('of a name everything is told that objects of the name hold, of one kind and namespace if asked', () => {
  assert.deepEqual(addresses('compute-0', [BLOCK]), ['172.17.0.9', '172.17.0.100']);
  assert.deepEqual(addresses('compute-0', [BLOCK], { kind: 'IPSet', namespace: 'openstack' }).length, 2);
  assert.deepEqual(addresses('compute-0', [BLOCK], { kind: 'Service' }), []);
  assert.deepEqual(addresses('compute-0', [BLOCK], { namespace: 'other' }), []);
});

test('who shares an address has it too', () => {
  assert.deepEqual(addresses('service/placement', [vip()], { kind: 'Service' }), ['172.17.0.80']);
  assert.deepEqual(addresses('placement', [vip()], { namespace: 'other' }), ['172.17.0.80']);
});

test('the same address in two namespaces is two, and the address of a Service one wherever it is on record', () => {
  const other = block({ '172.17.0.9': 'compute-0' });
  other.metadata.namespace = 'other';
  const says = (word: string, blocks: AddressBlock[]) =>
    whoAnswer({ question: questionOf(word), scope: {}, holders: found(word, blocks) }).says;
  assert.equal(says('compute-0', [BLOCK, other]), 'compute-0 holds 3 addresses');
  assert.equal(says('172.17.0.8/29', [BLOCK, other]), '2 addresses of 172.17.0.8/29 are held');
  const among = vip();
  among.spec.space = 'underlay';
  assert.equal(says('keystone', [vip(), among]), 'keystone holds one address');
});

test('of the address of a Service the pool is told', () => {
  const record = vip();
  record.spec.holdings = record.spec.holdings.map((holding) => ({ ...holding, network: 'vips', subnet: '' }));
  const holders = found('172.17.0.80', [record]);
  const text = whoText(whoAnswer({ question: questionOf('172.17.0.80'), scope: {}, holders }), NOW);
  assert.match(text, /^ {2}pool +vips$/m);
  assert.match(text, /^ {2}shared by +Service placement in namespace other$/m);
});

test('the address of a Service is where its announcer says that it is', () => {
  const announcer: ServiceL2Status = {
    apiVersion: 'metallb.io/v1beta1',
    kind: 'ServiceL2Status',
    metadata: metadata('l2-x'),
    spec: {},
    status: {
      node: 'host-3',
      serviceName: 'keystone',
      serviceNamespace: 'openstack',
      interfaces: [{ name: 'vlan20' }],
    },
  };
  const [holder] = found('172.17.0.80', [vip()]);
  assert.ok(holder);
  assert.equal(announcedBy(holder, []).host, undefined);
  const { host, interfaces } = announcedBy(holder, [announcer]);
  assert.deepEqual({ host, interfaces }, { host: 'host-3', interfaces: ['vlan20'] });
});

test('where an address lies is told with whether it could be given, and why', () => {
  const environment = {
    netConfigs: [
      netConfig(
        subnet({
          gateway: '172.17.0.1',
          excludeAddresses: ['172.17.0.11'],
          routes: [{ destination: '10.9.0.0/16', nexthop: '172.17.0.2' }],
        }),
      ),
      { ...netConfig(subnet({ cidr: 'fd00::/64', allocationRanges: [{ start: 'fd00::', end: 'fd00::1:0' }] })) },
    ],
    pools: [
      pool('vips', ['172.17.0.80-172.17.0.90']),
      pool('manual', ['172.17.0.100/32'], { autoAssign: false }),
      pool('old', ['172.17.1.0/24'], { avoidBuggyIPs: true }),
      pool('overlapping', ['172.17.0.12/32']),
      pool('routers', ['172.17.0.2/32']),
    ],
  };
  const expected: [string, string[]][] = [
    ['172.17.0.10', ['NetConfig dynamic: it is in the allocation range 172.17.0.10-172.17.0.12']],
    [
      '172.17.0.12',
      [
        'NetConfig request: addresses of pool overlapping are for Services',
        'IPAddressPool dynamic: Services of type LoadBalancer get it',
      ],
    ],
    ['172.17.0.11', ['NetConfig never: it is in excludeAddresses']],
    ['172.17.0.1', ['NetConfig request: it is the gateway']],
    [
      '172.17.0.2',
      ['NetConfig request: a route leads through it', 'IPAddressPool request: it is a router of network InternalApi'],
    ],
    ['172.17.0.0', ['NetConfig request: it is the network address']],
    ['172.17.0.255', ['NetConfig request: it is the broadcast address']],
    [
      '172.17.0.80',
      [
        'NetConfig request: addresses of pool vips are for Services',
        'IPAddressPool dynamic: Services of type LoadBalancer get it',
      ],
    ],
    [
      '172.17.0.100',
      [
        'NetConfig request: addresses of pool manual are for Services',
        'IPAddressPool request: the pool has autoAssign: false',
      ],
    ],
    ['172.17.1.255', ['IPAddressPool never: the pool has avoidBuggyIPs, and it ends in .0 or .255']],
    ['fd00::1:0', ['NetConfig request: many programs take an address that ends like this for a network']],
    ['10.0.0.1', []],
  ];
  for (const [text, places] of expected) {
    const told = placesOf(address(text), environment).map(({ kind, given, because }) => `${kind} ${given}: ${because}`);
    assert.deepEqual(told, places, text);
  }
});

test('an address that is special in one subnet is given unasked by no other one', () => {
  const inner = subnet({ name: 'inner', cidr: '172.17.0.8/29', gateway: '172.17.0.11', allocationRanges: [] });
  const places = placesOf(address('172.17.0.11'), { netConfigs: [netConfig(subnet(), inner)], pools: [] });
  assert.deepEqual(
    places.map(({ given, because }) => `${given}: ${because}`),
    ['request: it is the gateway of network InternalApi subnet inner', 'request: it is the gateway'],
  );
});

test('an address that nobody has is answered with where it lies', () => {
  const environment = { netConfigs: [netConfig()], pools: [] };
  const question = questionOf('172.17.0.12');
  const answer = whoAnswer({
    question,
    scope: {},
    holders: [],
    places: placesOf(address('172.17.0.12'), environment),
    environment,
  });
  assert.equal(
    whoText(answer, NOW),
    `nobody holds 172.17.0.12
  in NetConfig netconfig of namespace openstack, network InternalApi, subnet subnet1 (172.17.0.0/24): free, and given to whoever asks for any address, as it is in the allocation range 172.17.0.10-172.17.0.12`,
  );
});

test('an address outside of everything is answered with where there are any', () => {
  const answer = whoAnswer({
    question: questionOf('9.9.9.9'),
    scope: {},
    holders: [],
    environment: { netConfigs: [netConfig()], pools: [pool('vips', ['10.0.0.0/28'])] },
  });
  assert.equal(
    answer.says,
    'nobody holds 9.9.9.9, and it lies in no subnet of a NetConfig, in no IPAddressPool and in no network of pods. Addresses are given from 172.17.0.0/24 (network InternalApi), 10.0.0.0/28 (pool vips).',
  );
});

test('whoever may not see everything is not told that nobody has it', () => {
  const says = (word: string) =>
    whoAnswer({ question: questionOf(word), scope: {}, holders: [], isPartial: true }).says.split(/[,.] /)[0];
  assert.equal(says('9.9.9.9'), 'nobody that you may see holds 9.9.9.9');
  assert.equal(says('9.9.9.0/24'), 'nobody that you may see holds an address of 9.9.9.0/24');
  assert.equal(says('compute-7'), 'nobody that you may see called "compute-7" holds an address');
});

test('a name that holds nothing is answered with the one that was probably meant', () => {
  const answer = whoAnswer({
    question: questionOf('ipset/compute-2'),
    scope: { kind: 'IPSet' },
    holders: [],
    names: ['compute-0', 'controller-0'],
  });
  assert.equal(
    answer.says,
    'nobody called IPSet "compute-2" holds an address. Did you mean "compute-0"? If there is such an object, "netloom explain ipset/compute-2" says why it has none.',
  );
});

test('people are told of a holder in a few lines', () => {
  const question = questionOf('172.17.0.11');
  const answer = whoAnswer({ question, scope: {}, holders: found('172.17.0.11', [BLOCK]) });
  assert.equal(
    whoText(answer, NOW),
    `172.17.0.11 is held by IPSet compute-1 in namespace openstack
  holder     IPSet compute-1 in namespace openstack
  network    InternalApi, subnet subnet1
  host       compute-1
  since      2026-01-01T00:50:00Z (10 minutes ago)
  space      underlay of namespace openstack`,
  );
});

test('pods, Services and nodes have addresses that no ledger gives', () => {
  const carriers = {
    pods: [
      pod('web', { status: { podIPs: [{ ip: '10.244.0.7' }, { ip: 'fd00:1::7' }], startTime: before(90) } }),
      pod('done', { status: { phase: 'Succeeded', podIPs: [{ ip: '10.244.0.8' }] } }),
      pod('agent', { spec: { hostNetwork: true }, status: { podIPs: [{ ip: '192.168.0.5' }] } }),
    ],
    services: [
      { ...service(), spec: { clusterIPs: ['10.96.0.9'] } },
      { ...service(), spec: { clusterIPs: ['None'] } },
    ],
    nodes: [{ ...node(), status: { addresses: [{ type: 'InternalIP', address: '192.168.0.5' } as const] } }],
  };
  const carried = (word: string, scope = {}) =>
    carriedBy(carriers, wantedBy(questionOf(word), scope)).map(
      ({ address: text, holder, as, host }) => `${text} ${holder.kind}/${holder.name} ${as} ${host}`,
    );
  assert.deepEqual(carried('fd00:1::7'), ['fd00:1::7 Pod/web address of a pod host-0']);
  assert.deepEqual(carried('10.244.0.0/24'), ['10.244.0.7 Pod/web address of a pod host-0']);
  assert.deepEqual(carried('192.168.0.5'), ['192.168.0.5 Node/host-0 address of a node host-0']);
  assert.deepEqual(carried('keystone', { kind: 'Service' }), [
    '10.96.0.9 Service/keystone address within the cluster undefined',
  ]);
  const holders = carriedBy(carriers, wantedBy(questionOf('10.244.0.7'), {}));
  assert.equal(
    whoText(whoAnswer({ question: questionOf('10.244.0.7'), scope: {}, holders }), NOW),
    `10.244.0.7 is held by Pod web in namespace openstack
  holder     Pod web in namespace openstack
  as         address of a pod
  host       host-0
  since      2026-01-01T00:58:30Z (90 seconds ago)`,
  );
});

test('an address that nobody has may lie where pods of a node get theirs', () => {
  const [place] = placesOnNodes(address('10.244.3.9'), [node('host-3', [], { podCIDRs: ['10.244.3.0/24'] }), node()]);
  assert.deepEqual([place?.name, place?.range, place?.given], ['host-3', '10.244.3.0/24', 'dynamic']);
});

test('what is on record in several spaces for one holder is told once, with all that share it', () => {
  const underlay = { ...vip(), metadata: { ...vip().metadata, uid: 'uid-other' } };
  underlay.spec = { ...underlay.spec, space: 'underlay' };
  const told = (word: string) =>
    whoText(whoAnswer({ question: questionOf(word), scope: {}, holders: found(word, [vip(), underlay]) }), NOW);
  assert.equal(told('172.17.0.80').match(/^ {2}holder/gm)?.length, 1);
  assert.equal(told('172.17.0.80').match(/^ {2}space +(vips|underlay) of/gm)?.length, 2);
  assert.match(told('placement'), /^172\.17\.0\.80 +Service\/keystone, Service\/placement /m);
  assert.equal(told('placement').split('\n').length, 3);
});
