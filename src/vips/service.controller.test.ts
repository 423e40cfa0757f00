import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Namespace } from '../api/core/namespace.ts';
import { IPAddressPool } from '../api/metallb.io/ip-address-pool.ts';
import { AddressBlock, type AddressHolder } from '../api/netloom.io/address-block.ts';
import { NetConfig } from '../api/network.openstack.org/netconfig.ts';
import { Event } from '../runtime/builtin.ts';
import { Lab, NAMESPACE, type ServiceDraft } from './lab.fixture.ts';

const POOL = 'metallb.io/address-pool';
const IPS = 'metallb.io/loadBalancerIPs';
const KEY = 'metallb.io/allow-shared-ip';

/** A running capability with one pool of two addresses. */
async function small(...addresses: string[]): Promise<Lab> {
  const lab = new Lab();
  await lab.start();
  await lab.pool('internalapi', { addresses: addresses.length > 0 ? addresses : ['172.17.0.80-172.17.0.81'] });
  return lab;
}

const both: ServiceDraft = { clusterIPs: ['10.96.0.1', 'fd00::1'], ipFamilies: ['IPv4', 'IPv6'] };
const dual = (ipFamilyPolicy: 'PreferDualStack' | 'RequireDualStack'): ServiceDraft => ({ ...both, ipFamilyPolicy });

describe('a Service of type LoadBalancer', () => {
  it('gets the lowest free address of a pool, and is told which pool that is', async () => {
    const lab = await small();
    assert.equal(await lab.service('a'), '172.17.0.80');
    assert.equal(lab.poolOf('a'), 'internalapi');
    assert.equal(await lab.service('b'), '172.17.0.81');
    assert.deepEqual(lab.held(), ['metallb-system/vips 172.17.0.80 a', 'metallb-system/vips 172.17.0.81 b']);
    assert.deepEqual(lab.events('a'), ['Normal IPAllocated: Assigned IP ["172.17.0.80"]']);
    await lab.stop();
  });

  it('waits with the reason when nothing is left, and is served as soon as an address is free', async () => {
    const lab = await small();
    for (const name of ['a', 'b', 'c', 'd']) await lab.service(name);
    assert.equal(lab.addresses('c'), '');
    assert.deepEqual(lab.events('c'), [
      'Warning AllocationFailed: Failed to allocate IP for "openstack/c": no available IPs',
    ]);
    await lab.delete('b');
    assert.equal(lab.addresses('c'), '172.17.0.81');
    assert.equal(lab.addresses('d'), '');
    await lab.pool('internalapi', { addresses: ['172.17.0.80-172.17.0.82'] });
    assert.equal(lab.addresses('d'), '172.17.0.82');
    await lab.stop();
  });

  it('is told why it waits once, and again when the reason is another one', async () => {
    const lab = await small('172.17.0.80/32');
    await lab.service('a');
    await lab.service('b');
    await lab.pool('quiet', { addresses: ['10.0.0.1/32'], autoAssign: false });
    await lab.change('b', (service) => ({ ...service, metadata: { ...service.metadata, labels: { a: 'b' } } }));
    const counts = () =>
      lab.world.api.objects(Event).flatMap((event) => (event.involvedObject.name === 'b' ? [event.count] : []));
    assert.deepEqual(counts(), [1]);
    await lab.annotate('b', { [POOL]: 'nowhere' });
    assert.deepEqual(counts(), [1, 1]);
    await lab.stop();
  });

  it('keeps its address when nothing speaks against it, and a restart writes nothing', async () => {
    const lab = await small();
    await lab.service('a');
    await lab.service('b');
    await lab.delete('a');
    await lab.stop();
    const before = lab.writes();
    await lab.start();
    await lab.settle();
    assert.equal(lab.addresses('b'), '172.17.0.81');
    assert.equal(lab.writes() - before, 0);
    await lab.stop();
  });

  it('gives its address back when it is deleted while nobody looks', async () => {
    const lab = await small();
    await lab.service('a');
    await lab.stop();
    await lab.delete('a');
    await lab.start();
    assert.deepEqual(lab.held(), []);
    await lab.stop();
  });

  it('gives its address back when it becomes another type, and says so no more', async () => {
    const lab = await small();
    await lab.service('a');
    await lab.change('a', (service) => ({ ...service, spec: { ...service.spec, type: 'ClusterIP' } }));
    assert.equal(lab.addresses('a'), '');
    assert.equal(lab.poolOf('a'), undefined);
    assert.deepEqual(lab.held(), []);
    await lab.stop();
  });

  it('that comes back under its name is another Service', async () => {
    const lab = await small();
    await lab.service('a', { annotations: { [IPS]: '172.17.0.81' } });
    await lab.world.client.delete(
      { group: '', version: 'v1', kind: 'Service', plural: 'services', namespaced: true },
      { name: 'a', namespace: NAMESPACE },
    );
    await lab.create('a');
    await lab.settle();
    assert.equal(lab.addresses('a'), '172.17.0.80');
    assert.deepEqual(lab.held(), ['metallb-system/vips 172.17.0.80 a']);
    await lab.stop();
  });

  it('is left alone when it has a class that is not ours, is headless, or there are no pools', async () => {
    const lab = new Lab();
    await lab.start();
    assert.equal(await lab.service('foreign', { ingress: ['203.0.113.7'] }), '203.0.113.7');
    await lab.pool('internalapi', {});
    assert.equal(await lab.service('classy', { loadBalancerClass: 'example.com/other' }), '');
    assert.equal(await lab.service('headless', { clusterIPs: ['None'] }), '');
    assert.deepEqual([...lab.events('classy'), ...lab.events('headless')], []);
    await lab.stop();
  });

  it('is served by the class that is configured, and only that', async () => {
    const lab = new Lab();
    await lab.start({}, { loadBalancerClass: 'netloom.io/vips' });
    await lab.pool('internalapi', {});
    assert.equal(await lab.service('ours', { loadBalancerClass: 'netloom.io/vips' }), '172.17.0.80');
    assert.equal(await lab.service('classless'), '');
    await lab.stop();
  });
});

describe('what a Service asks for', () => {
  it('is a pool, even one that gives nothing by itself', async () => {
    const lab = await small();
    await lab.pool('quiet', { addresses: ['10.0.0.1/32'], autoAssign: false });
    assert.equal(await lab.service('a', { annotations: { [POOL]: 'quiet' } }), '10.0.0.1');
    await lab.service('b', { annotations: { [POOL]: 'quiet' } });
    assert.match(lab.events('b').join(), /AllocationFailed: .*"openstack\/b": no available IPs in pool quiet/);
    await lab.delete('a');
    assert.equal(lab.addresses('b'), '10.0.0.1');
    await lab.service('c', { annotations: { [POOL]: 'nowhere' } });
    assert.match(lab.events('c').join(), /unknown pool "nowhere"/);
    await lab.stop();
  });

  it('may be an address of a pool that gives nothing by itself, which nobody gets unasked', async () => {
    const lab = await small('172.17.0.80/32');
    await lab.pool('quiet', { addresses: ['10.0.0.1-10.0.0.9'], autoAssign: false });
    await lab.pool('pinned', {
      addresses: ['10.0.1.1/32'],
      autoAssign: false,
      serviceAllocation: { namespaces: [NAMESPACE] },
    });
    assert.equal(await lab.service('a', { annotations: { [IPS]: '10.0.0.5' } }), '10.0.0.5');
    assert.equal(await lab.service('b'), '172.17.0.80');
    assert.equal(await lab.service('c'), '');
    await lab.stop();
  });

  it('is not given from a pool that avoids it, which says so', async () => {
    const lab = new Lab();
    await lab.start();
    await lab.pool('careful', { addresses: ['10.0.0.0/24'], avoidBuggyIPs: true });
    assert.equal(await lab.service('a', { annotations: { [IPS]: '10.0.0.255' } }), '');
    assert.deepEqual(lab.events('a'), [
      'Warning AllocationFailed: Failed to allocate IP for "openstack/a": ["10.0.0.255"] is not allowed in config: pool careful has avoidBuggyIPs, and never gives "10.0.0.255"',
    ]);
    await lab.stop();
  });

  it('is given from one pool or not at all', async () => {
    const lab = await small('172.17.0.80/32');
    await lab.pool('six', { addresses: ['fd00:17::80/128'] });
    const ips = { [IPS]: '172.17.0.80,fd00:17::80' };
    assert.equal(await lab.service('a', { ...dual('PreferDualStack'), annotations: ips }), '');
    assert.match(
      lab.events('a').join(),
      /\["172\.17\.0\.80" "fd00:17::80"\] is not allowed in config: no pool has them/,
    );
    await lab.service('b', { ...dual('RequireDualStack'), annotations: { [IPS]: '172.17.0.80' } });
    assert.match(
      lab.events('b').join(),
      /\["172\.17\.0\.80"\] does not match the ipFamily of the service, which is IPv4 and IPv6/,
    );
    assert.equal(
      await lab.service('c', { ...dual('PreferDualStack'), annotations: { [IPS]: '172.17.0.80' } }),
      '172.17.0.80',
    );
    assert.deepEqual(lab.events('c', 'AdditionalAssignFailed'), []);
    await lab.stop();
  });

  it('is an address, by annotation or by spec.loadBalancerIP, but not by both', async () => {
    const lab = await small('172.17.0.80-172.17.0.90');
    assert.equal(await lab.service('a', { annotations: { [IPS]: ' 172.17.0.85 ' } }), '172.17.0.85');
    assert.equal(await lab.service('b', { loadBalancerIP: '172.17.0.86' }), '172.17.0.86');
    await lab.service('c', { loadBalancerIP: '172.17.0.87', annotations: { [IPS]: '172.17.0.87' } });
    assert.deepEqual(lab.events('c'), [
      'Warning AllocationFailed: Failed to allocate IP for "openstack/c": service can not have both metallb.io/loadBalancerIPs and svc.Spec.LoadBalancerIP',
    ]);
    await lab.service('d', { annotations: { [IPS]: '10.9.9.9' } });
    assert.match(lab.events('d').join(), /\["10\.9\.9\.9"\] is not allowed in config/);
    await lab.service('e', { annotations: { [IPS]: '172.17.0.88', [POOL]: 'other' } });
    assert.match(lab.events('e').join(), /\["172\.17\.0\.88"\] is not compatible with requested address pool other/);
    await lab.service('f', { annotations: { [IPS]: 'fd00::5' } });
    assert.match(lab.events('f').join(), /\["fd00::5"\] does not match the ipFamily of the service/);
    await lab.stop();
  });

  it('may be written with the former prefix, which the current one overrules even when it is empty', async () => {
    const lab = await small('172.17.0.80-172.17.0.90');
    const former = { 'metallb.universe.tf/loadBalancerIPs': '172.17.0.85' };
    assert.equal(await lab.service('a', { annotations: former }), '172.17.0.85');
    assert.match(lab.events('a', 'deprecatedAnnotation').join(), /^Warning .*metallb\.universe\.tf\/loadBalancerIPs/);
    assert.equal(await lab.service('b', { annotations: { ...former, [IPS]: '' } }), '172.17.0.80');
    await lab.pool('other', { addresses: ['10.0.0.1/32'] });
    const all = (port: number): ServiceDraft => ({
      port,
      annotations: { 'metallb.universe.tf/address-pool': 'other', 'metallb.universe.tf/allow-shared-ip': 'key' },
    });
    assert.equal(await lab.service('c', all(80)), '10.0.0.1');
    assert.equal(await lab.service('d', all(81)), '10.0.0.1');
    assert.match(
      lab.events('d', 'deprecatedAnnotation').join(),
      /use metallb\.io\/ instead: metallb\.universe\.tf\/address-pool, metallb\.universe\.tf\/allow-shared-ip$/,
    );
    await lab.stop();
  });

  it('may change: the Service moves, and its former address is free', async () => {
    const lab = await small('172.17.0.80-172.17.0.90');
    await lab.service('a');
    assert.equal(await lab.annotate('a', { [IPS]: '172.17.0.90' }), '172.17.0.90');
    assert.deepEqual(lab.held(), ['metallb-system/vips 172.17.0.90 a']);
    await lab.pool('other', { addresses: ['10.0.0.1/32'] });
    assert.equal(await lab.annotate('a', { [IPS]: '', [POOL]: 'other' }), '10.0.0.1');
    assert.equal(lab.poolOf('a'), 'other');
    await lab.stop();
  });

  it('leaves everything as it is when nobody can understand it', async () => {
    const lab = await small();
    await lab.service('a');
    assert.equal(await lab.annotate('a', { [IPS]: '172.17.0.300' }), '172.17.0.80');
    assert.match(
      lab.events('a', 'LoadBalancerFailed').join(),
      /invalid requested loadbalancer IPs: invalid loadBalancerIP "172\.17\.0\.300"/,
    );
    await lab.stop();
  });

  it('that nobody can understand saves no address that the Service may not keep', async () => {
    const lab = await small();
    const shared = (port: number): ServiceDraft => ({ port, annotations: { [KEY]: 'api' } });
    await lab.service('a', shared(80));
    await lab.service('b', shared(81));
    await lab.annotate('b', { [IPS]: 'nonsense' });
    await lab.change('b', (service) => ({ ...service, spec: { ...service.spec, ports: [{ port: 80 }] } }));
    assert.equal(lab.addresses('b'), '');
    assert.match(lab.events('b', 'ClearAssignment').join(), /port TCP\/80 is already in use/);
    assert.match(lab.events('b', 'AllocationFailed').join(), /invalid loadBalancerIP "nonsense"/);
    assert.deepEqual(lab.held(), ['metallb-system/vips 172.17.0.80 a']);
    await lab.stop();
  });
});

describe('the pools of a Service', () => {
  it('are those for its namespace or labels first, by priority, and then those for everybody', async () => {
    const lab = new Lab();
    await lab.start();
    await lab.world.client.create(Namespace, { metadata: { name: NAMESPACE, labels: { tier: 'gold' } } });
    await lab.pool('everybody', { addresses: ['10.0.0.1/32'] });
    await lab.pool('later', {
      addresses: ['10.0.1.1/32'],
      serviceAllocation: { priority: 20, namespaces: [NAMESPACE] },
    });
    await lab.pool('sooner', {
      addresses: ['10.0.2.1/32'],
      serviceAllocation: { priority: 10, namespaceSelectors: [{ matchLabels: { tier: 'gold' } }] },
    });
    await lab.pool('labelled', {
      addresses: ['10.0.3.1/32'],
      serviceAllocation: { namespaces: [NAMESPACE], serviceSelectors: [{ matchLabels: { app: 'web' } }] },
    });
    assert.equal(await lab.service('a'), '10.0.2.1');
    assert.equal(await lab.service('b'), '10.0.1.1');
    assert.equal(await lab.service('c', { labels: { app: 'web' } }), '10.0.3.1');
    assert.equal(await lab.service('d'), '10.0.0.1');
    assert.equal(await lab.service('e', { namespace: 'elsewhere' }), '');
    await lab.stop();
  });

  it('come after those with a priority when they have none, and must fit namespace and labels alike', async () => {
    const lab = new Lab();
    await lab.start();
    const forUs = { namespaces: [NAMESPACE] };
    await lab.pool('a-none', { addresses: ['10.0.0.1/32'], serviceAllocation: forUs });
    await lab.pool('b-zero', { addresses: ['10.0.1.1/32'], serviceAllocation: { ...forUs, priority: 0 } });
    await lab.pool('c-last', { addresses: ['10.0.2.1/32'], serviceAllocation: { ...forUs, priority: 99 } });
    const web = [{ matchLabels: { app: 'web' } }];
    await lab.pool('d-web', { addresses: ['10.0.3.1/32'], serviceAllocation: { ...forUs, serviceSelectors: web } });
    await lab.pool('e-any', { addresses: ['10.0.4.1/32'], serviceAllocation: { serviceSelectors: web } });
    assert.equal(await lab.service('elsewhere', { namespace: 'elsewhere', labels: { app: 'web' } }), '10.0.4.1');
    assert.equal(await lab.service('first'), '10.0.2.1');
    assert.equal(await lab.service('second'), '10.0.0.1');
    assert.equal(await lab.service('third'), '10.0.1.1');
    assert.equal(await lab.service('fourth'), '');
    assert.equal(await lab.service('web', { labels: { app: 'web' } }), '10.0.3.1');
    await lab.pool('nobody', {
      addresses: ['10.0.5.1/32'],
      serviceAllocation: { namespaceSelectors: [{ matchLabels: { a: 'b' } }] },
    });
    await lab.service('asking', { annotations: { [IPS]: '10.0.5.1' } });
    assert.match(lab.events('asking').join(), /pool nobody not compatible for ip assignment/);
    await lab.stop();
  });

  it('that are for others refuse it, and it moves when its own becomes one', async () => {
    const lab = await small();
    await lab.pool('theirs', { addresses: ['10.0.0.1/32'], serviceAllocation: { namespaces: ['elsewhere'] } });
    for (const [name, annotations] of [
      ['by-pool', { [POOL]: 'theirs' }],
      ['by-address', { [IPS]: '10.0.0.1' }],
    ] as const) {
      assert.equal(await lab.service(name, { annotations }), '');
      assert.deepEqual(lab.events(name), [
        `Warning AllocationFailed: Failed to allocate IP for "openstack/${name}": pool theirs not compatible for ip assignment`,
      ]);
    }
    await lab.service('b');
    await lab.pool('more', { addresses: ['10.0.1.1/32'] });
    await lab.pool('internalapi', {
      addresses: ['172.17.0.80-172.17.0.81'],
      serviceAllocation: { namespaces: ['elsewhere'] },
    });
    assert.equal(lab.addresses('b'), '10.0.1.1');
    assert.match(
      lab.events('b', 'ClearAssignment').join(),
      /current IP for "openstack\/b" not allowed by config, will attempt for new IP assignment: pool internalapi not compatible/,
    );
    await lab.stop();
  });

  it('may avoid addresses that end in .0 or .255', async () => {
    const lab = new Lab();
    await lab.start();
    await lab.pool('careful', { addresses: ['10.0.0.254-10.0.1.1'], avoidBuggyIPs: true });
    assert.equal(await lab.service('a'), '10.0.0.254');
    assert.equal(await lab.service('b'), '10.0.1.1');
    await lab.service('c', { annotations: { [IPS]: '10.0.0.255' } });
    assert.match(lab.events('c').join(), /\["10\.0\.0\.255"\] is not allowed in config/);
    await lab.stop();
  });

  it('say so when nobody announces their addresses, until somebody does', async () => {
    const lab = new Lab();
    await lab.start();
    await lab.pool('mute', {}, { advertised: false });
    await lab.service('a');
    assert.deepEqual(lab.events('a', 'NotAdvertised'), [
      'Warning NotAdvertised: nobody announces 172.17.0.80: no L2Advertisement is for pool mute',
    ]);
    await lab.stop();
  });
});

describe('families', () => {
  const pools = ['172.17.0.80-172.17.0.81', 'fd00:17::80-fd00:17::81'];

  it('are those of the cluster IPs: a pool of both does not make a Service of one family dual', async () => {
    const lab = await small(...pools);
    assert.equal(await lab.service('a'), '172.17.0.80');
    assert.equal(await lab.service('b', { clusterIPs: ['fd00::1'] }), 'fd00:17::80');
    assert.equal(await lab.service('c', dual('RequireDualStack')), '172.17.0.81 fd00:17::81');
    await lab.stop();
  });

  it('follow ipFamilies where nobody gives cluster IPs', async () => {
    const lab = await small(...pools);
    assert.equal(await lab.service('a', { clusterIPs: [], ipFamilies: ['IPv6'] }), 'fd00:17::80');
    assert.equal(await lab.service('b', { clusterIPs: [] }), '172.17.0.80');
    assert.equal(
      await lab.service('c', { clusterIPs: [], ipFamilyPolicy: 'RequireDualStack' }),
      '172.17.0.81 fd00:17::81',
    );
    await lab.stop();
  });

  it('are both or none when both are required, and one is better than none when they are preferred', async () => {
    const lab = await small('172.17.0.80-172.17.0.90');
    assert.equal(await lab.service('a', dual('RequireDualStack')), '');
    assert.equal(await lab.service('b', dual('PreferDualStack')), '172.17.0.80');
    assert.match(
      lab.events('b', 'AdditionalAssignFailed').join(),
      /^Normal .*cannot assign additional IP in PreferDualStack/,
    );
    await lab.pool('internalapi', { addresses: ['172.17.0.80-172.17.0.90', 'fd00:17::80/128'] });
    // The one that had none was not there first.
    assert.equal(lab.addresses('b'), '172.17.0.80 fd00:17::80');
    assert.match(lab.events('b', 'IPAllocated').join(), /Assigned additional IP "fd00:17::80"/);
    await lab.stop();
  });

  it('are both from one pool when any has both; else the first of the Service comes first', async () => {
    const lab = new Lab();
    await lab.start();
    await lab.pool('a-four', { addresses: ['10.0.0.1/32'] });
    await lab.pool('b-six', { addresses: ['fd00::1/128'] });
    await lab.pool('c-both', { addresses: ['10.0.2.1/32', 'fd00::2:1/128'] });
    assert.equal(await lab.service('a', dual('PreferDualStack')), '10.0.2.1 fd00::2:1');
    const sixFirst: ServiceDraft = { ...dual('PreferDualStack'), ipFamilies: ['IPv6', 'IPv4'] };
    assert.equal(await lab.service('b', sixFirst), 'fd00::1');
    assert.equal(await lab.service('c', sixFirst), '10.0.0.1');
    await lab.stop();
  });

  it('that come later are added to what is there, from the same pool if it has any', async () => {
    const lab = await small(...pools);
    const becomeDual = (name: string) =>
      lab.change(name, (service) => ({ ...service, spec: { ...service.spec, ...dual('RequireDualStack') } }));
    await lab.service('first');
    await lab.service('a');
    await lab.delete('first');
    assert.equal(await becomeDual('a'), '172.17.0.81 fd00:17::80');
    await lab.pool('four', { addresses: ['10.0.0.1/32'] });
    await lab.service('b', { annotations: { [POOL]: 'four' } });
    await lab.annotate('b', { [POOL]: '' });
    assert.equal(await becomeDual('b'), '172.17.0.80 fd00:17::81');
    await lab.service('c');
    assert.equal(await becomeDual('c'), '');
    assert.equal(await lab.service('d', { annotations: { [IPS]: '10.0.0.1' } }), '10.0.0.1');
    assert.equal(await becomeDual('d'), '');
    assert.match(lab.events('d').join(), /does not match the ipFamily of the service, which is IPv4 and IPv6/);
    await lab.stop();
  });

  it('that the Service does not have any more take their addresses with them', async () => {
    const lab = await small(...pools);
    await lab.service('a', dual('PreferDualStack'));
    await lab.change('a', (service) => ({
      ...service,
      spec: { ...service.spec, clusterIPs: ['10.96.0.1'], ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' },
    }));
    assert.equal(lab.addresses('a'), '172.17.0.80');
    assert.deepEqual(lab.held(), ['metallb-system/vips 172.17.0.80 a']);
    await lab.stop();
  });

  it('need a second cluster IP where both are required', async () => {
    const lab = await small(...pools);
    assert.equal(await lab.service('a', { ipFamilyPolicy: 'RequireDualStack' }), '');
    assert.equal(lab.events('a', 'not enough clusterips').length, 1);
    await lab.stop();
  });

  it('may be asked for by one address each', async () => {
    const lab = await small(...pools);
    const ips = (text: string): ServiceDraft => ({ ...dual('RequireDualStack'), annotations: { [IPS]: text } });
    assert.equal(await lab.service('a', ips('fd00:17::81,172.17.0.81')), '172.17.0.81 fd00:17::81');
    await lab.service('b', ips('172.17.0.80,172.17.0.81'));
    assert.match(lab.events('b').join(), /has the same family/);
    await lab.service('c', ips('172.17.0.80,172.17.0.81,fd00:17::80'));
    assert.match(lab.events('c').join(), /more than two addresses/);
    await lab.stop();
  });
});

describe('sharing an address', () => {
  const shared = (key: string, port: number, more: ServiceDraft = {}): ServiceDraft => ({
    port,
    ...more,
    annotations: { [KEY]: key, [IPS]: '172.17.0.80' },
  });

  it('is for Services with the same key and different ports, in whatever namespace', async () => {
    const lab = await small();
    assert.equal(await lab.service('glance', shared('api', 9292)), '172.17.0.80');
    assert.equal(await lab.service('nova', shared('api', 8774, { namespace: 'elsewhere' })), '172.17.0.80');
    assert.deepEqual(lab.held(), ['metallb-system/vips 172.17.0.80 glance,nova']);
    await lab.delete('glance');
    assert.deepEqual(lab.held(), ['metallb-system/vips 172.17.0.80 nova']);
    await lab.stop();
  });

  it('says which port, which key and which Service are in the way', async () => {
    const lab = await small();
    await lab.service('a', shared('api', 80));
    await lab.service('b', shared('api', 80));
    assert.match(lab.events('b').join(), /port TCP\/80 is already in use on "172\.17\.0\.80" by openstack\/a/);
    await lab.service('c', shared('other', 81));
    assert.match(
      lab.events('c').join(),
      /can't change sharing key for "openstack\/c", address also in use by openstack\/a: .*"api".*"other"/,
    );
    await lab.service('d', { port: 82, annotations: { [IPS]: '172.17.0.80' } });
    assert.match(lab.events('d').join(), /address also in use by openstack\/a: .*no sharing key/);
    await lab.service('e', shared('api', 83, { externalTrafficPolicy: 'Local', selector: { app: 'e' } }));
    assert.match(
      lab.events('e').join(),
      /externalTrafficPolicy must be Cluster for both, or Local with the same selector/,
    );
    await lab.stop();
  });

  it('with hosts that only answer for their own pods is for the same pods', async () => {
    const lab = await small();
    const local = { externalTrafficPolicy: 'Local', selector: { app: 'a', tier: 'x' } } as const;
    await lab.service('a', shared('api', 80, local));
    assert.equal(await lab.service('b', shared('api', 81, local)), '172.17.0.80');
    await lab.service('c', shared('api', 82, { externalTrafficPolicy: 'Local', selector: { app: 'a' } }));
    assert.equal(lab.addresses('c'), '');
    await lab.stop();
  });

  it('with hosts that only answer for their own pods means nothing where no pods are selected', async () => {
    const lab = await small();
    await lab.service('a', shared('api', 80, { externalTrafficPolicy: 'Local', selector: {} }));
    assert.equal(await lab.service('b', shared('api', 81)), '172.17.0.80');
    await lab.stop();
  });

  it('needs a key on both sides, and asks nothing about pods where any host answers', async () => {
    const lab = await small();
    const bare = (port: number): ServiceDraft => ({ port, annotations: { [IPS]: '172.17.0.81' } });
    await lab.service('a', bare(80));
    assert.equal(await lab.service('b', bare(81)), '');
    assert.match(lab.events('b').join(), /neither has a sharing key \(annotation metallb\.io\/allow-shared-ip\)/);
    await lab.service('c', shared('api', 80, { selector: { app: 'c' } }));
    assert.equal(await lab.service('d', shared('api', 81, { selector: { app: 'd' } })), '172.17.0.80');
    await lab.stop();
  });

  it('is possible on one port with two protocols', async () => {
    const lab = await small();
    const dns = (protocol: 'TCP' | 'UDP'): ServiceDraft => shared('dns', 53, { ports: [{ protocol, port: 53 }] });
    assert.equal(await lab.service('tcp', dns('TCP')), '172.17.0.80');
    assert.equal(await lab.service('udp', dns('UDP')), '172.17.0.80');
    await lab.stop();
  });

  it('is possible as soon as what was in the way has gone', async () => {
    const lab = await small();
    await lab.service('a', shared('api', 80));
    await lab.service('b', shared('other', 81));
    await lab.service('c', shared('api', 80));
    // Alone on its address, a Service may change its key.
    await lab.annotate('a', { [KEY]: 'other' });
    assert.equal(lab.addresses('b'), '172.17.0.80');
    await lab.delete('a');
    assert.equal(lab.addresses('c'), '');
    await lab.delete('b');
    assert.equal(lab.addresses('c'), '172.17.0.80');
    await lab.stop();
  });

  it('counts for those who ask for any address: the lowest that is free or can be shared', async () => {
    const lab = await small('172.17.0.80-172.17.0.90');
    const any = (port: number): ServiceDraft => ({ port, annotations: { [KEY]: 'api' } });
    await lab.service('a');
    assert.equal(await lab.service('b', any(80)), '172.17.0.81');
    assert.equal(await lab.service('c', any(81)), '172.17.0.81');
    await lab.delete('a');
    assert.equal(await lab.service('d', any(82)), '172.17.0.80');
    await lab.stop();
  });

  it('ends for the one whose change breaks the rules, and the others stay', async () => {
    const lab = await small();
    const any = (port: number): ServiceDraft => ({ port, annotations: { [KEY]: 'api' } });
    await lab.service('a', any(80));
    await lab.service('b', any(81));
    await lab.change('b', (service) => ({
      ...service,
      spec: { ...service.spec, ports: [{ protocol: 'TCP', port: 80 }] },
    }));
    assert.equal(lab.addresses('a'), '172.17.0.80');
    assert.equal(lab.addresses('b'), '172.17.0.81');
    assert.match(lab.events('b', 'ClearAssignment').join(), /port TCP\/80 is already in use/);
    await lab.stop();
  });

  it('ends with one address of two where only that one is in the way, and the other stays', async () => {
    const lab = await small('172.17.0.80-172.17.0.81', 'fd00:17::80-fd00:17::82');
    const key = { annotations: { [KEY]: 'api' } };
    await lab.service('a', { ...key, port: 80 });
    assert.equal(await lab.service('b', { ...key, ...dual('PreferDualStack'), port: 81 }), '172.17.0.80 fd00:17::80');
    await lab.change('b', (service) => ({ ...service, spec: { ...service.spec, ports: [{ port: 80 }] } }));
    assert.equal(lab.addresses('b'), '172.17.0.81 fd00:17::80');
    await lab.stop();
  });
});

describe('pools that change under their users', () => {
  it('and are being deleted give nothing more, not even to who names them', async () => {
    const lab = await small('172.17.0.80-172.17.0.90', 'fd00:17::80-fd00:17::90');
    await lab.service('user', { annotations: { [IPS]: '172.17.0.80' } });
    await lab.service('dual', { ...dual('PreferDualStack'), clusterIPs: ['10.96.0.1'], ipFamilies: ['IPv4'] });
    await lab.world.client.delete(IPAddressPool, { namespace: 'metallb-system', name: 'internalapi' });
    await lab.settle();
    assert.equal(lab.addresses('user'), '172.17.0.80');
    for (const [name, annotations] of [
      ['by-pool', { [POOL]: 'internalapi' }],
      ['by-address', { [IPS]: '172.17.0.85' }],
    ] as const) {
      assert.equal(await lab.service(name, { annotations }), '');
      assert.match(lab.events(name).join(), /AllocationFailed: .*: pool "internalapi" is being deleted$/);
    }
    await lab.change('dual', (service) => ({ ...service, spec: { ...service.spec, ...dual('PreferDualStack') } }));
    assert.equal(lab.addresses('dual'), '172.17.0.81');
    await lab.stop();
  });

  it('leave addresses that they do not have any more to those who have them', async () => {
    const lab = await small('172.17.0.80-172.17.0.90');
    await lab.service('a', { annotations: { [IPS]: '172.17.0.86' } });
    await lab.pool('internalapi', { addresses: ['172.17.0.80-172.17.0.85'] });
    assert.equal(lab.addresses('a'), '172.17.0.86');
    await lab.delete('a');
    await lab.service('b', { annotations: { [IPS]: '172.17.0.86' } });
    assert.equal(lab.addresses('b'), '');
    await lab.stop();
  });

  it('hand their users over to the pool that has the addresses now', async () => {
    const lab = await small('172.17.0.80-172.17.0.90');
    await lab.service('a', { annotations: { [IPS]: '172.17.0.86' } });
    await lab.pool('internalapi', { addresses: ['172.17.0.80-172.17.0.85'] });
    await lab.pool('new', { addresses: ['172.17.0.86-172.17.0.90'] });
    assert.equal(lab.addresses('a'), '172.17.0.86');
    assert.equal(lab.poolOf('a'), 'new');
    await lab.stop();
  });

  it('and vanish by force let their users go to other pools', async () => {
    const lab = await small();
    await lab.service('a');
    await lab.pool('other', { addresses: ['10.0.0.1/32'] });
    const pool = lab.findPool('internalapi');
    await lab.world.client.delete(IPAddressPool, { namespace: 'metallb-system', name: 'internalapi' });
    const { resourceVersion: _, ...metadata } = pool.metadata;
    await lab.world.client.patch(
      IPAddressPool,
      { namespace: 'metallb-system', name: metadata.name },
      { merge: { metadata: { finalizers: null } } },
    );
    await lab.settle();
    assert.equal(lab.addresses('a'), '10.0.0.1');
    assert.match(lab.events('a', 'ClearAssignment').join(), /\["172\.17\.0\.80"\] is not allowed in config/);
    await lab.stop();
  });
});

describe('addresses from before', () => {
  it('stay with those who have them when somebody takes away the record', async () => {
    const lab = await small();
    await lab.netConfig('172.17.0.0/24', '172.17.0.10', '172.17.0.250');
    for (const name of ['a', 'b', 'c']) await lab.service(name);
    const before = lab.held();
    for (const block of lab.world.api.objects(AddressBlock)) {
      const { name, namespace = '' } = block.metadata;
      await lab.world.client.patch(AddressBlock, { name, namespace }, { merge: { metadata: { finalizers: null } } });
      await lab.world.client.delete(AddressBlock, { name, namespace });
    }
    await lab.settle();
    assert.deepEqual(lab.held(), before);
    assert.deepEqual(
      ['a', 'b', 'c'].map((name) => lab.addresses(name)),
      ['172.17.0.80', '172.17.0.81', ''],
    );
    await lab.stop();
  });

  it('stay with those who have them, whoever comes first now', async () => {
    const lab = new Lab();
    await lab.create('early');
    await lab.create('holder', { ingress: ['172.17.0.80'] });
    await lab.pool('internalapi', {});
    await lab.start();
    assert.equal(lab.addresses('holder'), '172.17.0.80');
    assert.equal(lab.poolOf('holder'), 'internalapi');
    assert.equal(lab.addresses('early'), '172.17.0.81');
    await lab.stop();
  });
});

describe('hosts and Services on one network', () => {
  const host: AddressHolder = { apiGroup: 'network.openstack.org', kind: 'IPSet', name: 'edpm-0', uid: 'host-uid' };

  /** What the allocator of hosts would write. */
  const holdForHost = (lab: Lab, address: string, namespace = NAMESPACE, cooling: { coolsUntil?: string } = {}) => {
    const place = { network: 'InternalApi', subnet: 'subnet1', since: '2026-01-01T00:00:00Z' };
    return lab.world.client.create(AddressBlock, {
      metadata: { name: 'underlay-172.17.0.0-24', namespace },
      spec: {
        space: 'underlay',
        prefix: '172.17.0.0/24',
        holdings: [{ address, holder: host, ...place, ...cooling }],
      },
    });
  };

  it('say of an address that cools down until when', async () => {
    const lab = await small();
    await holdForHost(lab, '172.17.0.80', NAMESPACE, { coolsUntil: '2026-01-01T00:10:00Z' });
    await lab.service('a', { annotations: { [IPS]: '172.17.0.80' } });
    assert.deepEqual(lab.events('a'), [
      'Warning AllocationFailed: Failed to allocate IP for "openstack/a": "172.17.0.80" was given back by IPSet edpm-0 in namespace openstack and cools down until 2026-01-01T00:10:00Z',
    ]);
    await lab.stop();
  });

  it('an address of a Service is on record where hosts get theirs, for as long as the Service has it', async () => {
    const lab = await small();
    await lab.netConfig('172.17.0.0/24', '172.17.0.10', '172.17.0.250');
    await lab.service('a');
    assert.deepEqual(lab.held(), ['metallb-system/vips 172.17.0.80 a', 'openstack/underlay 172.17.0.80 a']);
    await lab.delete('a');
    assert.deepEqual(lab.held(), []);
    await lab.stop();
  });

  it('a shared one stays on record there until the last has gone', async () => {
    const lab = await small();
    await lab.netConfig('172.17.0.0/24', '172.17.0.10', '172.17.0.250');
    await lab.service('a', { port: 80, annotations: { [KEY]: 'k', [IPS]: '172.17.0.80' } });
    await lab.service('b', { port: 81, annotations: { [KEY]: 'k', [IPS]: '172.17.0.80' } });
    await lab.delete('a');
    assert.deepEqual(lab.held(), ['metallb-system/vips 172.17.0.80 b', 'openstack/underlay 172.17.0.80 b']);
    await lab.stop();
  });

  it('an address of a host is given to no Service, and the Service is told whose it is', async () => {
    const lab = await small();
    await lab.netConfig('172.17.0.0/24', '172.17.0.10', '172.17.0.250');
    await holdForHost(lab, '172.17.0.80');
    assert.equal(await lab.service('a'), '172.17.0.81');
    await lab.service('b', { annotations: { [IPS]: '172.17.0.80' } });
    assert.match(lab.events('b').join(), /"172\.17\.0\.80" is held by IPSet edpm-0 in namespace openstack/);
    await lab.stop();
  });

  it('an address that a host was given as well is shared with nobody more', async () => {
    const lab = await small();
    const any = (port: number): ServiceDraft => ({ port, annotations: { [KEY]: 'k' } });
    await lab.service('a', any(80));
    await holdForHost(lab, '172.17.0.80');
    await lab.netConfig('172.17.0.0/24', '172.17.0.10', '172.17.0.250');
    assert.equal(await lab.service('b', any(81)), '172.17.0.81');
    await lab.stop();
  });

  it('a Service that waits for the address of a host gets it when the host gives it back', async () => {
    const lab = await small();
    await lab.netConfig('172.17.0.0/24', '172.17.0.10', '172.17.0.250');
    const block = await holdForHost(lab, '172.17.0.80');
    await lab.service('b', { annotations: { [IPS]: '172.17.0.80' } });
    await lab.world.client.update(AddressBlock, { ...block, spec: { ...block.spec, holdings: [] } });
    await lab.settle();
    assert.equal(lab.addresses('b'), '172.17.0.80');
    await lab.stop();
  });

  it('a Service gets what a host gives back while others of its pass are put on record', async () => {
    const lab = new Lab();
    await lab.netConfig('172.17.0.0/24', '172.17.0.10', '172.17.0.250');
    const { name, namespace } = (await holdForHost(lab, '172.17.0.85')).metadata;
    await lab.pool('internalapi', {});
    await lab.start({ delay: [500, 500] });
    const giveBack = async (): Promise<void> => {
      const block = await lab.world.client.get(AddressBlock, name, namespace);
      const holdings = block?.spec.holdings.filter(({ address }) => address !== '172.17.0.85') ?? [];
      if (block !== undefined)
        await lab.world.client.update(AddressBlock, { ...block, spec: { ...block.spec, holdings } });
    };
    let isFree = false;
    lab.world.api.store.onChange(({ after }) => {
      if (isFree || !JSON.stringify(after).includes('"address":"172.17.0.81"')) return;
      isFree = true;
      void giveBack();
    });
    await lab.create('former');
    await lab.create('a');
    await lab.create('b', { annotations: { [IPS]: '172.17.0.85' } });
    await lab.settle(20_000);
    assert.deepEqual([lab.addresses('a'), lab.addresses('b')], ['172.17.0.81', '172.17.0.85']);
    await lab.stop();
  });

  it('an address that a leader put on record and died, and that a host has by now, is withdrawn before another one is told', async () => {
    const lab = new Lab();
    await lab.netConfig('172.17.0.0/24', '172.17.0.10', '172.17.0.250');
    await lab.create('a');
    const user = { kind: 'Service', namespace: NAMESPACE, name: 'a', uid: lab.find('a').metadata.uid };
    const sharers = [{ ...user, ports: ['TCP/80'] }];
    const since = '2026-01-01T00:00:00Z';
    const holdings = [{ address: '172.17.0.80', holder: user, network: 'internalapi', subnet: '', since, sharers }];
    await lab.world.client.create(AddressBlock, {
      metadata: { name: 'vips-172.17.0.0-24', namespace: 'metallb-system' },
      spec: { space: 'vips', prefix: '172.17.0.0/24', holdings },
    });
    await holdForHost(lab, '172.17.0.80');
    await lab.pool('internalapi', { addresses: ['172.17.0.80-172.17.0.81'] });
    const seen: string[] = [];
    lab.world.api.store.onChange(({ resource, after }) => {
      if (resource !== 'events') seen.push(JSON.stringify(after));
    });
    await lab.start();
    await lab.settle();
    assert.equal(lab.addresses('a'), '172.17.0.81');
    assert.deepEqual(lab.held(), [
      'metallb-system/vips 172.17.0.81 a',
      'openstack/underlay 172.17.0.80 edpm-0',
      'openstack/underlay 172.17.0.81 a',
    ]);
    // The Service had changed before anything was taken back that somebody else could still have told it.
    const told = seen.findIndex((text) => text.includes('"ip":"172.17.0.81"'));
    const takenBack = seen.findIndex((text) => text.includes('"vips"') && !text.includes('172.17.0.80"'));
    assert.ok(told >= 0 && told < takenBack, `${told} ${takenBack}`);
    await lab.stop();
  });

  it('an address of a host, asked for in place of another one, is not asked of the host again and again', async () => {
    const lab = new Lab();
    await lab.netConfig('172.17.0.0/24', '172.17.0.10', '172.17.0.250');
    await holdForHost(lab, '172.17.0.80');
    await lab.pool('internalapi', { addresses: ['172.17.0.80-172.17.0.81'] });
    await lab.create('a', { ingress: ['172.17.0.81'], annotations: { [IPS]: '172.17.0.80' } });
    // A leader was about to tell it, and the host was faster.
    const holder = { kind: 'Service', namespace: NAMESPACE, name: 'a', uid: lab.find('a').metadata.uid };
    await holdFor(lab, holder, { address: '172.17.0.80', space: 'vips', namespace: 'metallb-system' });
    await lab.start();
    const before = lab.writes();
    await lab.settle(60_000);
    assert.ok(lab.writes() - before < 10, `${lab.writes() - before} writes`);
    assert.match(lab.events('a', 'AllocationFailed').join(), /is held by IPSet edpm-0/);
    await lab.stop();
  });

  it('an address of both, because the network came later, is on record for the Service when the host gives it back', async () => {
    const lab = await small();
    await lab.service('a');
    const block = await holdForHost(lab, '172.17.0.80');
    await lab.netConfig('172.17.0.0/24', '172.17.0.10', '172.17.0.250');
    assert.match(lab.events('a', 'AddressConflict').join(), /is held by IPSet edpm-0/);
    await lab.world.client.update(AddressBlock, { ...block, spec: { ...block.spec, holdings: [] } });
    await lab.settle();
    assert.deepEqual(lab.held(), ['metallb-system/vips 172.17.0.80 a', 'openstack/underlay 172.17.0.80 a']);
    await lab.stop();
  });

  it('the routers of a network are no addresses for Services, unless they ask for them by number', async () => {
    const lab = await small('172.17.0.1-172.17.0.3');
    const nexthop = { destination: '10.0.0.0/8', nexthop: '172.17.0.2' };
    await lab.netConfig('172.17.0.0/24', '172.17.0.10', '172.17.0.250', { gateway: '172.17.0.1', routes: [nexthop] });
    assert.equal(await lab.service('a'), '172.17.0.3');
    assert.equal(await lab.service('b'), '');
    const full = lab.findPool('internalapi').status?.conditions?.find(({ type }) => type === 'Full')?.message;
    assert.match(full ?? '', /^3 of 3 IPv4 addresses are in use \(2 by hosts or as routers\); add addresses/);
    assert.equal(await lab.service('router', { annotations: { [IPS]: '172.17.0.2' } }), '172.17.0.2');
    await lab.pool('internalapi', { addresses: ['172.17.0.1-172.17.0.3', '10.9.9.9/32'] });
    assert.equal(lab.addresses('b'), '10.9.9.9');
    await lab.service('c');
    await lab.netConfig('172.17.0.0/24', '172.17.0.10', '172.17.0.250', { gateway: '172.17.0.9' });
    assert.equal(lab.addresses('c'), '172.17.0.1');
    await lab.stop();
  });

  it('a leader that does not hear of blocks any more takes no address away because of a host that has given it back', async () => {
    const lab = await small('172.17.0.80/32');
    await lab.netConfig('172.17.0.0/24', '172.17.0.10', '172.17.0.250');
    const block = await holdForHost(lab, '172.17.0.80');
    await lab.start({}, {}, '/addressblocks?');
    await lab.world.client.update(AddressBlock, { ...block, spec: { ...block.spec, holdings: [] } });
    await lab.service('a');
    const seen: string[] = [];
    lab.world.api.store.onChange(({ resource }) => {
      if (resource === 'services') seen.push(lab.addresses('a'));
    });
    await lab.annotate('a', { team: 'blue' });
    assert.deepEqual(new Set(seen), new Set(['172.17.0.80']));
    await lab.stop();
  });

  it('networks may come later, and go', async () => {
    const lab = await small();
    await lab.service('a');
    await lab.netConfig('172.17.0.0/24', '172.17.0.10', '172.17.0.250');
    assert.deepEqual(lab.held(), ['metallb-system/vips 172.17.0.80 a', 'openstack/underlay 172.17.0.80 a']);
    await lab.world.client.delete(NetConfig, { name: 'netconfig', namespace: NAMESPACE });
    await lab.settle();
    assert.deepEqual(lab.held(), ['metallb-system/vips 172.17.0.80 a']);
    await lab.stop();
  });

  it('what was held in a network before it went is given back, also when that is heard of only after', async () => {
    const lab = await small();
    await lab.service('a');
    const holder = { kind: 'Service', namespace: NAMESPACE, name: 'a', uid: lab.find('a').metadata.uid };
    await holdFor(lab, holder, { address: '172.17.0.80', space: 'underlay', namespace: NAMESPACE });
    await lab.settle();
    assert.deepEqual(lab.held(), ['metallb-system/vips 172.17.0.80 a']);
    await lab.stop();
  });

  it('what a Service that is gone held in a network that is gone is given back though another Service has the address', async () => {
    const lab = await small();
    await lab.service('a');
    const holder = { kind: 'Service', namespace: NAMESPACE, name: 'gone', uid: 'uid-of-gone' };
    await holdFor(lab, holder, { address: '172.17.0.80', space: 'underlay', namespace: NAMESPACE });
    await lab.settle();
    assert.deepEqual(lab.held(), ['metallb-system/vips 172.17.0.80 a']);
    await lab.stop();
  });
});

describe('two leaders, one of whom does not hear of NetConfigs any more', () => {
  it('do not put on record and take off without end what Services have in a network that is gone', async () => {
    const lab = await small();
    await lab.netConfig('172.17.0.0/24', '172.17.0.10', '172.17.0.250');
    await lab.service('a');
    await lab.start({ delay: [5, 5] }, {}, '/netconfigs?');
    const writes = () => lab.world.api.requests.get('put addressblocks') ?? 0;
    const before = writes();
    await lab.world.client.delete(NetConfig, { name: 'netconfig', namespace: NAMESPACE });
    await lab.settle(60_000);
    assert.deepEqual(lab.held(), ['metallb-system/vips 172.17.0.80 a']);
    assert.ok(writes() - before < 10, `${writes() - before} writes`);
    await lab.stop();
  });
});

describe('two leaders, one of whom does not hear of Services any more', () => {
  it('do not give back and put on record without end what a Service had that is gone', async () => {
    const lab = await small();
    await lab.service('a');
    await lab.start({}, {}, '/services?');
    const before = lab.writes();
    await lab.delete('a');
    await lab.settle(60_000);
    assert.deepEqual(lab.held(), []);
    assert.ok(lab.writes() - before < 10, `${lab.writes() - before} writes`);
    await lab.stop();
  });

  it('nor what a Service had that has been told another address', async () => {
    const lab = await small();
    await lab.service('a');
    await lab.start({}, {}, '/services?');
    const before = lab.writes();
    await lab.annotate('a', { [IPS]: '172.17.0.81' });
    await lab.settle(60_000);
    assert.equal(lab.addresses('a'), '172.17.0.81');
    assert.deepEqual(lab.held(), ['metallb-system/vips 172.17.0.81 a']);
    assert.ok(lab.writes() - before < 10, `${lab.writes() - before} writes`);
    await lab.stop();
  });
});

describe('two leaders, one of whom does not hear of pools any more', () => {
  it('do not give and take an address without end', async () => {
    const lab = await small('172.17.0.80/32');
    await lab.start({}, {}, '/ipaddresspools?');
    await lab.pool('other', { addresses: ['192.0.2.7/32'], autoAssign: false });
    await lab.world.client.delete(IPAddressPool, { namespace: 'metallb-system', name: 'internalapi' });
    await lab.settle();
    const before = lab.writes();
    await lab.service('a');
    await lab.settle(60_000);
    assert.equal(lab.addresses('a'), '');
    assert.ok(lab.writes() - before < 60, `${lab.writes() - before} writes`);
    await lab.stop();
  });
});

describe('a leader who has not heard of a Service', () => {
  it('gives back what it had when it goes after the one who knew of it', async () => {
    const lab = await small();
    const [first] = lab.managers;
    await lab.start({}, {}, '/services?');
    await lab.service('a');
    await lab.world.clock.run(first?.stop({ within: 1_000 }) ?? Promise.resolve());
    await lab.delete('a');
    await lab.settle(60_000);
    assert.deepEqual(lab.held(), []);
    await lab.stop();
  });
});

describe('what another leader has left behind for a Service', () => {
  it('is given back when the Service has been told another address', async () => {
    const lab = await small();
    await lab.pool('other', { addresses: ['192.0.2.7/32'] });
    await lab.service('a');
    const holder = { kind: 'Service', namespace: NAMESPACE, name: 'a', uid: lab.find('a').metadata.uid };
    await holdFor(lab, holder, { address: '192.0.2.7', space: 'vips', namespace: 'metallb-system' });
    await lab.settle();
    assert.deepEqual(lab.held(), ['metallb-system/vips 172.17.0.80 a']);
    assert.equal(lab.addresses('a'), '172.17.0.80');
    await lab.stop();
  });

  it('is told to one that waits', async () => {
    const lab = await small('172.17.0.80/32');
    await lab.service('a');
    await lab.service('b');
    assert.equal(lab.addresses('b'), '');
    const holder = { kind: 'Service', namespace: NAMESPACE, name: 'b', uid: lab.find('b').metadata.uid };
    await lab.world.client.create(IPAddressPool, {
      metadata: { name: 'manual', namespace: 'metallb-system' },
      spec: { addresses: ['192.0.2.7/32'], autoAssign: false, avoidBuggyIPs: false },
    });
    await lab.settle();
    await holdFor(lab, holder, { address: '192.0.2.7', space: 'vips', namespace: 'metallb-system' });
    await lab.settle();
    assert.equal(lab.addresses('b'), '192.0.2.7');
    await lab.stop();
  });
});

/** What an allocator writes before it tells the Service. */
function holdFor(
  lab: Lab,
  holder: AddressHolder,
  { address, space, namespace }: { address: string; space: string; namespace: string },
): Promise<unknown> {
  const prefix = `${address.split('.').slice(0, 3).join('.')}.0`;
  const sharers = space === 'vips' ? { sharers: [{ ...holder, ports: ['TCP/80'] }] } : {};
  const holding = { address, holder, network: 'internalapi', subnet: '', since: '2026-01-01T00:00:00Z', ...sharers };
  return lab.world.client.create(AddressBlock, {
    metadata: { name: `${space}-${prefix}-24`, namespace, finalizers: ['netloom.io/holdings'] },
    spec: { space, prefix: `${prefix}/24`, holdings: [holding] },
  });
}
