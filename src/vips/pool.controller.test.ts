import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { IPAddressPool } from '../api/metallb.io/ip-address-pool.ts';
import { L2Advertisement } from '../api/metallb.io/l2-advertisement.ts';
import { Metrics, metricsText } from '../runtime/metrics.ts';
import { Lab } from './lab.fixture.ts';

async function withPool(...addresses: string[]): Promise<Lab> {
  const lab = new Lab();
  await lab.start();
  await lab.pool('internalapi', { addresses });
  return lab;
}

const conditions = (lab: Lab, name = 'internalapi'): Record<string, string> =>
  Object.fromEntries(
    (lab.findPool(name).status?.conditions ?? []).map(({ type, status, message }) => [type, `${status}: ${message}`]),
  );

describe('a pool', () => {
  it('counts what Services have and what is left', async () => {
    const lab = await withPool('172.17.0.80-172.17.0.90', 'fd00::/64');
    await lab.service('a');
    await lab.service('b', { clusterIPs: ['fd00::1'] });
    const { conditions: _, observedGeneration: __, ...counts } = lab.findPool('internalapi').status ?? {};
    assert.deepEqual(counts, {
      assignedIPv4: 1,
      availableIPv4: 10,
      assignedIPv6: 1,
      availableIPv6: Number.MAX_SAFE_INTEGER,
      usage: '1 of 11 IPv4, 1 IPv6',
      families: [
        { family: 'IPv4', total: 11, held: 1, free: 10, excluded: 0, next: '172.17.0.81' },
        {
          family: 'IPv6',
          total: Number.MAX_SAFE_INTEGER,
          held: 1,
          free: Number.MAX_SAFE_INTEGER,
          excluded: 0,
          next: 'fd00::1',
        },
      ],
    });
    await lab.stop();
  });

  it('counts a shared address once, and not those that end in .0 or .255 where it avoids them', async () => {
    const lab = new Lab();
    await lab.start();
    await lab.pool('internalapi', { addresses: ['10.0.0.0/23'], avoidBuggyIPs: true });
    const annotations = { 'metallb.io/allow-shared-ip': 'k' };
    await lab.service('a', { port: 80, annotations });
    await lab.service('b', { port: 81, annotations });
    const { usage, families } = lab.findPool('internalapi').status ?? {};
    assert.equal(usage, '1 of 508 IPv4');
    assert.deepEqual(families, [{ family: 'IPv4', total: 508, held: 1, free: 507, excluded: 4, next: '10.0.0.2' }]);
    await lab.stop();
  });

  it('counts once more what was not on record yet when it counted, and never came to be', async () => {
    const lab = new Lab();
    await lab.pool('internalapi', { addresses: ['172.17.0.80-172.17.0.84'] });
    await lab.start({ delay: [900, 900] });
    const behind = await lab.start({}, {}, 'ipaddresspools');
    await lab.pool('internalapi', { addresses: ['172.17.0.90-172.17.0.95'] });
    assert.equal(await lab.service('a'), '172.17.0.80');
    await lab.world.clock.run(behind.stop({ within: 1_000 }));
    await lab.settle(30_000);
    const [first] = lab.findPool('internalapi').status?.families ?? [];
    assert.deepEqual(first, { family: 'IPv4', total: 6, held: 0, free: 6, excluded: 0, next: '172.17.0.90' });
    await lab.stop();
  });

  it('says that all is well', async () => {
    const lab = await withPool('172.17.0.80-172.17.0.90');
    assert.deepEqual(conditions(lab), {
      Ready: 'True: Setup complete',
      Advertised: 'True: announced by all',
      Full: 'False: there are free addresses',
      NearlyFull: 'False: less than 80 % of the addresses are in use',
    });
    await lab.stop();
  });

  it('is in the metrics for as long as it is there, by family', async () => {
    const metrics = new Metrics();
    const lab = new Lab();
    await lab.start({}, { metrics });
    await lab.pool('internalapi', { addresses: ['10.0.0.1-10.0.0.5'] });
    await lab.service('a');
    const lines = () =>
      metricsText(metrics.read())
        .split('\n')
        .filter((line) => line.startsWith('netloom_pool_addresses'));
    const labels = 'namespace="metallb-system",pool="internalapi",family="IPv4"';
    assert.deepEqual(lines(), [
      `netloom_pool_addresses{${labels},state="free"} 4`,
      `netloom_pool_addresses{${labels},state="held"} 1`,
      `netloom_pool_addresses{${labels},state="excluded"} 0`,
      `netloom_pool_addresses{${labels},state="total"} 5`,
    ]);
    await lab.delete('a');
    await lab.world.client.delete(IPAddressPool, { name: 'internalapi', namespace: 'metallb-system' });
    await lab.settle();
    assert.deepEqual(lines(), []);
    await lab.stop();
  });

  it('says that it is nearly full at the part that is called so', async () => {
    const lab = new Lab();
    await lab.start({}, { nearlyFull: 0.4 });
    await lab.pool('internalapi', { addresses: ['10.0.0.1-10.0.0.5'] });
    for (const name of ['a', 'b']) await lab.service(name);
    assert.match(conditions(lab)['NearlyFull'] ?? '', /^True: 2 of 5 IPv4 addresses are in use/);
    await lab.stop();
  });

  it('says that it is nearly full, and full', async () => {
    const lab = await withPool('10.0.0.1-10.0.0.5');
    for (const name of ['a', 'b', 'c', 'd']) await lab.service(name);
    assert.match(conditions(lab)['NearlyFull'] ?? '', /^True: 4 of 5 IPv4 addresses are in use; add addresses/);
    assert.match(conditions(lab)['Full'] ?? '', /^False/);
    await lab.service('e');
    assert.match(conditions(lab)['Full'] ?? '', /^True: 5 of 5 IPv4/);
    await lab.stop();
  });

  it('says that nobody announces it, until somebody does', async () => {
    const lab = new Lab();
    await lab.start();
    await lab.pool('internalapi', {}, { advertised: false, labels: { net: 'a' } });
    const metadata = { name: 'l2', namespace: 'metallb-system' };
    const { client } = lab.world;
    await client.create(L2Advertisement, { metadata, spec: { ipAddressPools: ['other'] } });
    await lab.settle();
    assert.match(
      conditions(lab)['Ready'] ?? '',
      /^False: nobody announces the addresses: no L2Advertisement names pool internalapi/,
    );
    await client.patch(L2Advertisement, metadata, {
      merge: { spec: { ipAddressPoolSelectors: [{ matchLabels: { net: 'a' } }] } },
    });
    await lab.settle();
    assert.equal(conditions(lab)['Advertised'], 'True: announced by l2');
    await lab.stop();
  });

  it('names the networks that give the same addresses to hosts', async () => {
    const lab = await withPool('172.17.0.80-172.17.0.90');
    await lab.netConfig('172.17.0.0/24', '172.17.0.10', '172.17.0.250');
    assert.equal(
      conditions(lab)['Overlaps'],
      'True: 172.17.0.80-172.17.0.90 of pool internalapi overlaps 172.17.0.10-172.17.0.250 of network InternalApi/subnet1 in namespace openstack: an address of both is given only once',
    );
    await lab.stop();
  });

  it('that is deleted while it is in use stays, names its users, and gives nothing more', async () => {
    const lab = await withPool('172.17.0.80-172.17.0.90');
    await lab.service('a');
    await lab.world.client.delete(IPAddressPool, { namespace: 'metallb-system', name: 'internalapi' });
    await lab.settle();
    assert.match(
      conditions(lab)['Ready'] ?? '',
      /^False: the pool is being deleted, and goes when .*: openstack\/a \(172\.17\.0\.80\)$/,
    );
    assert.equal(await lab.service('b'), '');
    await lab.delete('a');
    assert.deepEqual(lab.world.api.objects(IPAddressPool), []);
    await lab.stop();
  });

  it('says the same words whoever says them, so that two leaders do not correct each other', async () => {
    const lab = await withPool('172.17.0.80-172.17.0.90');
    for (const name of ['all-of-them', 'another']) {
      await lab.world.client.create(L2Advertisement, { metadata: { name, namespace: 'metallb-system' }, spec: {} });
    }
    for (const ip of ['172.17.0.82', '172.17.0.81']) {
      await lab.service(`s${ip.at(-1)}`, { annotations: { 'metallb.io/loadBalancerIPs': ip } });
    }
    await lab.world.client.delete(IPAddressPool, { namespace: 'metallb-system', name: 'internalapi' });
    await lab.settle();
    // One that lists what the other has seen come.
    await lab.start();
    const before = lab.findPool('internalapi');
    const ready = before.status?.conditions?.[0]?.message ?? '';
    assert.ok(ready.endsWith('openstack/s1 (172.17.0.81), openstack/s2 (172.17.0.82)'), ready);
    await lab.settle(60_000);
    assert.equal(lab.findPool('internalapi').metadata.resourceVersion, before.metadata.resourceVersion);
    await lab.stop();
  });

  it('that was made smaller names those who keep addresses outside of it', async () => {
    const lab = await withPool('172.17.0.80-172.17.0.90');
    await lab.service('a', { annotations: { 'metallb.io/loadBalancerIPs': '172.17.0.86' } });
    await lab.pool('internalapi', { addresses: ['172.17.0.80-172.17.0.85'] });
    assert.match(
      conditions(lab)['Shrunk'] ?? '',
      /^True: pool internalapi does not have these .*: openstack\/a \(172\.17\.0\.86\)$/,
    );
    await lab.delete('a');
    assert.equal(conditions(lab)['Shrunk'], undefined);
    await lab.stop();
  });

  it('that was made smaller counts apart what is outside of it', async () => {
    const lab = await withPool('172.17.0.80-172.17.0.85', 'fd00::1-fd00::2');
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) await lab.service(name);
    await lab.service('g', { clusterIPs: ['fd00::1'] });
    await lab.pool('internalapi', { addresses: ['172.17.0.80-172.17.0.81'] });
    assert.equal(lab.findPool('internalapi').status?.usage, '2 of 2 IPv4 and 4 outside, 1 IPv6 outside');
    assert.match(conditions(lab)['Full'] ?? '', /^True: 2 of 2 IPv4 addresses are in use;/);
    await lab.stop();
  });

  it('that was made smaller still tells apart what hosts have of it', async () => {
    const lab = await withPool('172.17.0.80-172.17.0.85');
    for (const name of ['a', 'b', 'c']) await lab.service(name);
    await lab.netConfig('172.17.0.0/24', '172.17.0.10', '172.17.0.20', { gateway: '172.17.0.83' });
    await lab.pool('internalapi', { addresses: ['172.17.0.82-172.17.0.83'] });
    assert.equal(lab.findPool('internalapi').status?.usage, '1 of 2 IPv4 and 2 outside');
    assert.match(
      conditions(lab)['Full'] ?? '',
      /^True: 2 of 2 IPv4 addresses are in use \(1 by hosts or as routers\);/,
    );
    await lab.stop();
  });

  it('that overlaps an older one gives nothing, and says why, until the older one is gone', async () => {
    const lab = await withPool('172.17.0.80-172.17.0.90');
    await lab.pool('late', { addresses: ['172.17.0.90-172.17.0.99'] });
    assert.match(
      conditions(lab, 'late')['Ready'] ?? '',
      /^False: nothing is given from the pool: CIDR "172\.17\.0\.90-172\.17\.0\.99" in pool "late" overlaps/,
    );
    await lab.world.client.delete(IPAddressPool, { namespace: 'metallb-system', name: 'internalapi' });
    await lab.settle();
    assert.equal(conditions(lab, 'late')['Ready'], 'True: Setup complete');
    assert.equal(await lab.service('a'), '172.17.0.90');
    await lab.stop();
  });

  it('in another namespace gives nothing, and says where it belongs', async () => {
    const lab = new Lab();
    await lab.start();
    await lab.world.client.create(IPAddressPool, {
      metadata: { name: 'lost', namespace: 'default' },
      spec: { addresses: ['10.0.0.0/24'], autoAssign: true, avoidBuggyIPs: false },
    });
    assert.equal(await lab.service('a'), '');
    assert.match(conditions(lab, 'lost')['Ready'] ?? '', /resource must be created in metallb-system namespace/);
    await lab.stop();
  });

  it('writes its status once for many Services that come together', async () => {
    const lab = await withPool('10.0.0.0/24');
    const statuses = (): number => lab.world.api.requests.get('patch ipaddresspools') ?? 0;
    const before = statuses();
    for (let i = 0; i < 50; i += 1) await lab.create(`s${i}`);
    await lab.settle();
    assert.equal(lab.findPool('internalapi').status?.assignedIPv4, 50);
    assert.ok(statuses() > before && statuses() - before <= 3, `${statuses() - before} statuses`);
    await lab.stop();
  });
});
