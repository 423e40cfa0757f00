import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { world } from '../../test/simulation/world.ts';
import { IPAddressPool } from '../api/metallb.io/ip-address-pool.ts';
import { AddressBlock } from '../api/netloom.io/address-block.ts';
import { AddressClaim } from '../api/netloom.io/address-claim.ts';
import { IPSet } from '../api/network.openstack.org/ipset.ts';
import { NetConfig, type NetConfigNetwork } from '../api/network.openstack.org/netconfig.ts';
import { Reservation } from '../api/network.openstack.org/reservation.ts';
import { Event } from '../runtime/builtin.ts';
import { Manager } from '../runtime/manager.ts';
import { Metrics, metricsText } from '../runtime/metrics.ts';
import { NAMESPACE, network, smallNetwork, subnet } from './environment.fixture.ts';
import { type IpamOptions, ipamControllers } from './index.ts';

/** A simulated server that knows of pools, with the address capability on it. */
class Lab {
  readonly world = world({
    kinds: [NetConfig, IPSet, Reservation, AddressClaim, AddressBlock, IPAddressPool, Event],
    level: 'error',
  });
  readonly metrics = new Metrics();
  readonly manager: Manager;

  constructor(options: IpamOptions = {}) {
    const { api, clock, log } = this.world;
    this.manager = new Manager({
      transport: api.transport({}),
      controllers: ipamControllers({ metrics: this.metrics, ...options }),
      system: clock,
      log,
      fieldManager: 'netloom',
      instance: 'host-0',
      freeze: true,
    });
    this.manager.start();
  }

  settle(ms = 5_000): Promise<void> {
    return this.world.clock.advance(ms);
  }

  async netConfig(networks: NetConfigNetwork[], name = 'netconfig'): Promise<void> {
    const { client } = this.world;
    const found = await client.get(NetConfig, name, NAMESPACE);
    if (found !== undefined) await client.update(NetConfig, { ...found, spec: { networks } });
    else await client.create(NetConfig, { metadata: { name, namespace: NAMESPACE }, spec: { networks } });
    await this.settle();
  }

  async ipSet(name: string, fixedIP?: string): Promise<void> {
    const networks = [{ name: 'Storage', subnetName: 'subnet1', ...(fixedIP === undefined ? {} : { fixedIP }) }];
    await this.world.client.create(IPSet, {
      metadata: { name, namespace: NAMESPACE },
      spec: { immutable: false, networks },
    });
  }

  async pool(addresses: string[]): Promise<void> {
    await this.world.client.create(IPAddressPool, {
      metadata: { name: 'internalapi', namespace: 'metallb-system' },
      spec: { addresses, autoAssign: true, avoidBuggyIPs: false },
    });
    await this.settle();
  }

  find(name = 'netconfig'): NetConfig {
    const found = this.world.api.objects(NetConfig).find(({ metadata }) => metadata.name === name);
    assert.ok(found, `there is no NetConfig ${name}`);
    return found;
  }

  conditions(name?: string): Record<string, string> {
    const conditions = this.find(name).status?.conditions ?? [];
    return Object.fromEntries(conditions.map(({ type, status, message }) => [type, `${status}: ${message}`]));
  }

  statusWrites(): number {
    return this.world.api.requests.get('patch netconfigs') ?? 0;
  }

  stop(): Promise<void> {
    return this.world.clock.run(this.manager.stop({ within: 1_000 }));
  }
}

describe('a NetConfig', () => {
  it('counts what is special in a subnet as excluded from all that overlap it', async () => {
    const lab = new Lab();
    const inner = {
      name: 'inner',
      cidr: '172.18.0.8/29',
      gateway: '172.18.0.14',
      allocationRanges: [{ start: '172.18.0.11', end: '172.18.0.12' }],
    };
    await lab.netConfig([
      network({ subnets: [subnet({ allocationRanges: [{ start: '172.18.0.14', end: '172.18.0.17' }] })] }),
      network({ name: 'Inner', subnets: [inner] }),
    ]);
    await lab.ipSet('a');
    await lab.settle();
    const { total, held, free, excluded, next } = lab.find().status?.subnets?.[0] ?? {};
    assert.deepEqual(
      { total, held, free, excluded, next },
      { total: 2, held: 1, free: 1, excluded: 2, next: '172.18.0.17' },
    );
    await lab.stop();
  });

  it('says how full its subnets are', async () => {
    const lab = new Lab();
    const ipv6 = {
      name: 'subnet6',
      cidr: 'fd00::/64',
      allocationRanges: [{ start: 'fd00::10', end: 'fd00::19' }],
    };
    await lab.netConfig([network({ subnets: [subnet({ gateway: '172.18.0.10' }), subnet(ipv6)] })]);
    await lab.ipSet('a');
    await lab.ipSet('b', '172.18.0.5');
    await lab.settle();
    const { status } = lab.find();
    assert.equal(status?.usage, '1 of 240 IPv4, 0 of 10 IPv6');
    assert.deepEqual(status?.subnets?.[0], {
      network: 'Storage',
      subnet: 'subnet1',
      total: 240,
      held: 1,
      free: 239,
      heldOutside: 1,
      excluded: 1,
      next: '172.18.0.12',
    });
    assert.equal(status?.observedGeneration, 1);
    await lab.stop();
  });

  it('names the largest number that is exact where there are more addresses', async () => {
    const lab = new Lab();
    const allocationRanges = [{ start: 'fd00::', end: 'fd00::ffff:ffff:ffff:ffff' }];
    await lab.netConfig([network({ subnets: [subnet({ cidr: 'fd00::/64', allocationRanges })] })]);
    await lab.ipSet('a');
    await lab.settle();
    const { status } = lab.find();
    assert.equal(status?.usage, '1 IPv6');
    assert.equal(status?.subnets?.[0]?.total, Number.MAX_SAFE_INTEGER);
    assert.equal(status?.subnets?.[0]?.free, Number.MAX_SAFE_INTEGER);
    await lab.stop();
  });

  it('says that all is well', async () => {
    const lab = new Lab();
    await lab.netConfig([network()]);
    assert.deepEqual(lab.conditions(), {
      Ready: 'True: Setup complete',
      Full: 'False: there are free addresses in every subnet',
      NearlyFull: 'False: less than 80 % of the addresses of any subnet are held',
    });
    await lab.stop();
  });

  it('says which subnet is nearly full, and full, and that there is room again', async () => {
    const lab = new Lab();
    await lab.netConfig([smallNetwork('172.18.0.14')]);
    for (const name of ['a', 'b', 'c', 'd']) await lab.ipSet(name);
    await lab.settle();
    assert.equal(
      lab.conditions()['NearlyFull'],
      'True: 4 of 5 addresses of network Storage/subnet1 are held; extend the allocation ranges, or delete IPSets',
    );
    assert.match(lab.conditions()['Full'] ?? '', /^False/);
    await lab.ipSet('e');
    await lab.settle();
    assert.match(lab.conditions()['Full'] ?? '', /^True: 5 of 5 addresses of network Storage\/subnet1/);
    assert.equal(lab.find().status?.subnets?.[0]?.next, undefined);
    await lab.netConfig([smallNetwork('172.18.0.20')]);
    assert.match(lab.conditions()['Full'] ?? '', /^False/);
    assert.equal(lab.find().status?.subnets?.[0]?.next, '172.18.0.15');
    await lab.stop();
  });

  it('is full from the start where all of a range is for nobody who does not ask for it', async () => {
    const lab = new Lab();
    const onlyGateway = subnet({
      gateway: '172.18.0.10',
      allocationRanges: [{ start: '172.18.0.10', end: '172.18.0.10' }],
    });
    await lab.netConfig([network({ subnets: [onlyGateway] })]);
    assert.equal(
      lab.conditions()['Full'],
      'True: no address of network Storage/subnet1 is given unasked; extend the allocation ranges, or delete IPSets',
    );
    await lab.stop();
  });

  it('is as full of addresses that cool down as of those that are held', async () => {
    const lab = new Lab({ coolDown: 600_000 });
    await lab.netConfig([smallNetwork('172.18.0.14')]);
    for (const name of ['a', 'b', 'c', 'd', 'e']) await lab.ipSet(name);
    await lab.settle();
    await lab.world.client.delete(IPSet, { name: 'a', namespace: NAMESPACE });
    await lab.world.client.delete(IPSet, { name: 'b', namespace: NAMESPACE });
    await lab.settle();
    const said = '3 of 5 addresses of network Storage/subnet1 are held and 2 cool down;';
    assert.ok(lab.conditions()['NearlyFull']?.startsWith(`True: ${said}`), lab.conditions()['NearlyFull']);
    assert.ok(lab.conditions()['Full']?.startsWith(`True: ${said}`), lab.conditions()['Full']);
    await lab.stop();
  });

  it('is nearly full from the part on that somebody set', async () => {
    const lab = new Lab({ nearlyFull: 0.2 });
    await lab.netConfig([smallNetwork('172.18.0.14')]);
    await lab.ipSet('a');
    await lab.settle();
    assert.match(lab.conditions()['NearlyFull'] ?? '', /^True: 1 of 5/);
    await lab.stop();
  });

  it('names the pools that give the same addresses to Services, for as long as they do', async () => {
    const lab = new Lab();
    await lab.netConfig([network()]);
    await lab.pool(['172.18.0.240-172.18.0.255']);
    assert.equal(
      lab.conditions()['Overlaps'],
      'True: 172.18.0.10-172.18.0.250 of network Storage/subnet1 overlaps 172.18.0.240-172.18.0.255 of pool internalapi: an address of both is given only once',
    );
    await lab.world.client.delete(IPAddressPool, { namespace: 'metallb-system', name: 'internalapi' });
    await lab.settle();
    assert.equal(lab.conditions()['Overlaps'], undefined);
    await lab.stop();
  });

  it('that nobody checked names the subnets that nothing is given from', async () => {
    const lab = new Lab();
    await lab.netConfig([network({ subnets: [subnet(), subnet({ name: 'broken', cidr: '172.18.0.0/99' })] })]);
    assert.match(
      lab.conditions()['Ready'] ?? '',
      /^False: nothing is given from some subnets: .*broken.*172\.18\.0\.0\/99/,
    );
    assert.equal(lab.find().status?.subnets?.length, 1);
    await lab.stop();
  });

  it('beside an older one says that it does not count, until the older one is gone', async () => {
    const lab = new Lab();
    await lab.netConfig([network()], 'first');
    await lab.netConfig([network()], 'second');
    assert.match(lab.conditions('second')['Ready'] ?? '', /^False: NetConfig first is older/);
    await lab.world.client.delete(NetConfig, { namespace: NAMESPACE, name: 'first' });
    await lab.settle();
    assert.equal(lab.conditions('second')['Ready'], 'True: Setup complete');
    assert.equal(lab.find('second').status?.usage, '0 of 241 IPv4');
    await lab.stop();
  });

  it('gets at most one status a second, and none when nothing changed', async () => {
    const lab = new Lab();
    await lab.netConfig([network()]);
    const before = lab.statusWrites();
    for (let i = 0; i < 60; i += 1) {
      await lab.ipSet(`n${i}`);
      await lab.settle(50);
    }
    await lab.settle();
    assert.equal(lab.find().status?.usage, '60 of 241 IPv4');
    const writes = lab.statusWrites() - before;
    assert.ok(writes >= 2 && writes <= 5, `${writes} statuses in 3 seconds`);
    await lab.settle(60_000);
    assert.equal(lab.statusWrites() - before, writes);
    await lab.stop();
  });

  it('that says how full it is wakes no IPSet', async () => {
    const lab = new Lab();
    await lab.netConfig([network()]);
    for (let i = 0; i < 20; i += 1) await lab.ipSet(`n${i}`);
    await lab.settle();
    const passes = (): number => lab.manager.report().controllers.find(({ name }) => name === 'ipsets')?.passes ?? 0;
    const before = passes();
    const statuses = lab.statusWrites();
    await lab.ipSet('late');
    await lab.settle();
    assert.ok(lab.statusWrites() > statuses);
    assert.ok(passes() - before < 10, `${passes() - before} passes for one IPSet`);
    await lab.stop();
  });

  it('is in the metrics for as long as it is there', async () => {
    const lab = new Lab();
    await lab.netConfig([smallNetwork('172.18.0.14')]);
    await lab.ipSet('a');
    await lab.settle();
    const labels = 'namespace="openstack",netconfig="netconfig",network="Storage",subnet="subnet1"';
    const lines = (): string[] =>
      metricsText(lab.metrics.read())
        .split('\n')
        .filter((line) => line.startsWith('netloom_subnet_addresses'));
    assert.deepEqual(lines(), [
      `netloom_subnet_addresses{${labels},state="free"} 4`,
      `netloom_subnet_addresses{${labels},state="held"} 1`,
      `netloom_subnet_addresses{${labels},state="cooling"} 0`,
      `netloom_subnet_addresses{${labels},state="excluded"} 0`,
      `netloom_subnet_addresses{${labels},state="total"} 5`,
    ]);
    await lab.world.client.delete(NetConfig, { namespace: NAMESPACE, name: 'netconfig' });
    await lab.settle();
    assert.deepEqual(lines(), []);
    await lab.stop();
  });
});
