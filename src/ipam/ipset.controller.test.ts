import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import type { Condition } from '../api/condition.ts';
import { IPAddressPool } from '../api/metallb.io/ip-address-pool.ts';
import { AddressBlock } from '../api/netloom.io/address-block.ts';
import { IPSet } from '../api/network.openstack.org/ipset.ts';
import { NetConfig, type NetConfigNetwork } from '../api/network.openstack.org/netconfig.ts';
import { Reservation } from '../api/network.openstack.org/reservation.ts';
import { Event } from '../runtime/builtin.ts';
import { Lab, NAMESPACE, network, smallNetwork, subnet } from './environment.fixture.ts';

const document = async (name: string) =>
  parse(await readFile(new URL(`../../examples/ipam/${name}`, import.meta.url), 'utf8'));

/** A lab with a NetConfig, whose controllers run. */
async function running(...networks: NetConfigNetwork[]): Promise<Lab> {
  const lab = new Lab();
  await lab.netConfig(...networks);
  await lab.start();
  return lab;
}

const fixed = (fixedIP: string) => ({ name: 'Storage', subnetName: 'subnet1', fixedIP });
const any = { name: 'Storage', subnetName: 'subnet1' };
const subnet6 = subnet({
  name: 'subnet6',
  cidr: 'fd00:18::/64',
  allocationRanges: [{ start: 'fd00:18::10', end: 'fd00:18::ffff:ffff' }],
});

describe('an IPSet', () => {
  it('gets what the documents promise for their example', async () => {
    const lab = new Lab();
    await lab.start();
    const { spec: netConfig } = await document('10-netconfig.yaml');
    const withDefaults = netConfig.networks.map((one: object) => ({ mtu: 1500, ...one }));
    await lab.netConfig(...withDefaults);
    const { spec } = await document('20-ipset.yaml');
    const { metadata, status } = await lab.ipSet('edpm-compute-0', ...spec.networks);
    assert.deepEqual(metadata.finalizers, ['openstack.org/ipset']);
    assert.deepEqual(
      status?.conditions?.map(({ type, status, reason, message }) => [type, status, reason, message]),
      [
        ['Ready', 'True', 'Ready', 'Setup complete'],
        ['InputReady', 'True', 'Ready', 'Input data complete'],
        ['ReservationReady', 'True', 'Ready', 'Reservation successful'],
      ],
    );
    assert.equal(status?.observedGeneration, 1);
    assert.equal(status?.reservation, '192.168.122.100, 10.0.0.10, 172.17.0.150, 172.18.0.10, 172.20.0.10');
    const subnet1 = { subnet: 'subnet1', mtu: 1500 };
    assert.deepEqual(status?.reservations, [
      {
        ...subnet1,
        network: 'CtlPlane',
        serviceNetwork: 'ctlplane',
        address: '192.168.122.100',
        cidr: '192.168.122.0/24',
        dnsDomain: 'ctlplane.example.com',
        gateway: '192.168.122.1',
        routes: [{ destination: '0.0.0.0/0', nexthop: '192.168.122.1' }],
      },
      {
        ...subnet1,
        network: 'External',
        serviceNetwork: 'external',
        address: '10.0.0.10',
        cidr: '10.0.0.0/24',
        dnsDomain: 'external.example.com',
        gateway: '10.0.0.1',
        routes: [{ destination: '10.0.1.0/24', nexthop: '10.0.0.100' }],
      },
      {
        ...subnet1,
        network: 'InternalApi',
        serviceNetwork: 'internalapi',
        address: '172.17.0.150',
        cidr: '172.17.0.0/24',
        dnsDomain: 'internalapi.example.com',
        vlan: 20,
      },
      {
        ...subnet1,
        network: 'Storage',
        serviceNetwork: 'storage',
        address: '172.18.0.10',
        cidr: '172.18.0.0/24',
        dnsDomain: 'storage.example.com',
        vlan: 30,
      },
      {
        ...subnet1,
        network: 'Tenant',
        serviceNetwork: 'tenant',
        address: '172.20.0.10',
        cidr: '172.20.0.0/24',
        dnsDomain: 'tenant.example.com',
        vlan: 50,
        mtu: 9000,
      },
    ]);
    await lab.stop();
  });

  it('costs one Reservation, one status and, with 16 created at a time, a fifth of a block', async () => {
    const lab = new Lab();
    await lab.netConfig(network());
    await lab.start({ delay: [2, 4], eventDelay: [1, 2] });
    const before = lab.writes();
    const client = lab.world.clientWith({ delay: [2, 4] });
    const creating = Array.from({ length: 16 }, async (_, worker) => {
      for (let i = 0; i < 10; i += 1) {
        const metadata = { name: `n${worker}-${i}`, namespace: NAMESPACE, finalizers: ['openstack.org/ipset'] };
        await client.create(IPSet, { metadata, spec: { immutable: false, networks: [any] } });
      }
    });
    await lab.world.clock.run(Promise.all(creating));
    await lab.settle();
    const cost = Object.fromEntries([...lab.writes()].map(([what, count]) => [what, count - (before.get(what) ?? 0)]));
    assert.equal(cost['post reservations'], 160);
    // One patch each: the status.
    assert.equal(cost['patch ipsets'], 160);
    const blocks = (cost['post addressblocks'] ?? 0) + (cost['put addressblocks'] ?? 0);
    assert.ok(blocks <= 0.2 * 160, `${blocks} writes of blocks`);
    await lab.stop();
  });

  it('has a Reservation that says for whom, and on which networks', async () => {
    const lab = await running(network());
    const { metadata } = await lab.ipSet('a');
    const reservation = lab.reservation('a');
    assert.deepEqual(reservation?.spec, {
      ipSetRef: {
        apiVersion: 'network.openstack.org/v1beta1',
        kind: 'IPSet',
        namespace: NAMESPACE,
        name: 'a',
        uid: metadata.uid,
      },
      reservation: { Storage: { network: 'Storage', subnet: 'subnet1', address: '172.18.0.10' } },
    });
    assert.deepEqual(reservation?.metadata.labels, { 'ipam.network.openstack.org/Storage': 'subnet1' });
    assert.deepEqual(reservation?.metadata.finalizers, ['openstack.org/ipset']);
    assert.equal(reservation?.metadata.ownerReferences?.[0]?.uid, metadata.uid);
    await lab.stop();
  });

  it('finds its network whatever the case of the name', async () => {
    const lab = await running(network());
    await lab.ipSet('a', { name: 'STORAGE', subnetName: 'Subnet1' });
    assert.equal(lab.state('a'), '172.18.0.10');
    assert.equal(lab.find('a').status?.reservations?.[0]?.network, 'Storage');
    await lab.stop();
  });

  it('says that there is no NetConfig, and is served when there is one', async () => {
    const lab = new Lab();
    await lab.start();
    await lab.ipSet('a');
    assert.equal(lab.state('a'), 'False: NetConfig missing in namespace openstack');
    const input = lab.find('a').status?.conditions?.[1];
    assert.deepEqual([input?.type, input?.reason, input?.severity], ['InputReady', 'Error', 'Error']);
    await lab.netConfig(network());
    assert.equal(lab.state('a'), '172.18.0.10');
    await lab.stop();
  });

  it('says which network is missing, has the others, and is complete when the network comes', async () => {
    const lab = await running(network());
    await lab.ipSet('a', any, { name: 'Tenant', subnetName: 'subnet1' });
    assert.equal(lab.state('a'), 'False: Reservation error occured network Tenant is not in NetConfig netconfig');
    assert.equal(lab.find('a').status?.reservation, '172.18.0.10');
    const range = [{ start: '172.20.0.10', end: '172.20.0.20' }];
    await lab.netConfig(
      network(),
      network({ name: 'Tenant', subnets: [subnet({ cidr: '172.20.0.0/24', allocationRanges: range })] }),
    );
    assert.equal(lab.state('a'), '172.18.0.10, 172.20.0.10');
    await lab.stop();
  });

  it('is never given a router, the network, the broadcast address or one that is excluded, unless it asks for it', async () => {
    const small = subnet({
      cidr: '172.18.0.128/29',
      gateway: '172.18.0.129',
      routes: [{ destination: '10.0.0.0/8', nexthop: '172.18.0.133' }],
      excludeAddresses: ['172.18.0.131'],
      allocationRanges: [{ start: '172.18.0.128', end: '172.18.0.135' }],
    });
    const lab = await running(network({ subnets: [small] }));
    for (const name of ['a', 'b', 'c', 'd']) await lab.create(name);
    await lab.settle();
    assert.deepEqual(
      ['a', 'b', 'c'].map((name) => lab.state(name)),
      ['172.18.0.130', '172.18.0.132', '172.18.0.134'],
    );
    assert.match(lab.state('d'), /^False/);
    await lab.ipSet('router', { ...any, fixedIP: '172.18.0.133' });
    assert.equal(lab.state('router'), '172.18.0.133');
    await lab.stop();
  });

  it('is given addresses of both families on one network, under two keys', async () => {
    const lab = await running(network({ subnets: [subnet(), subnet6] }));
    await lab.ipSet('a', any, { name: 'Storage', subnetName: 'subnet6' });
    assert.equal(lab.state('a'), '172.18.0.10, fd00:18::10');
    assert.deepEqual(Object.keys(lab.reservation('a')?.spec.reservation ?? {}), ['Storage', 'Storage.subnet6']);
    assert.deepEqual(lab.reservation('a')?.metadata.labels, {
      'ipam.network.openstack.org/Storage': 'subnet1',
      'ipam.network.openstack.org/Storage.subnet6': 'subnet6',
    });
    await lab.stop();
  });

  it('has an address on each of two networks that overlap, and not the one twice that it asks for by number', async () => {
    const lab = await running(network(), network({ name: 'Tenant', subnets: [subnet({ cidr: '172.18.0.0/16' })] }));
    await lab.ipSet('a', any, { name: 'Tenant', subnetName: 'subnet1', fixedIP: '172.18.0.10' });
    assert.equal(lab.state('a'), '172.18.0.11, 172.18.0.10');
    const said = Object.values(lab.reservation('a')?.spec.reservation ?? {});
    assert.deepEqual(
      said.map((entry) => [entry.network, entry.address]),
      [
        ['Storage', '172.18.0.11'],
        ['Tenant', '172.18.0.10'],
      ],
    );
    await lab.stop();
  });

  it('gives back what it does not ask for any more, also when the rest of that network is not to be had', async () => {
    const both = network({ subnets: [subnet({ allocationRanges: [] }), subnet6] });
    const lab = await running(both);
    await lab.ipSet('a', any, { name: 'Storage', subnetName: 'subnet6' });
    const { metadata, spec } = lab.find('a');
    assert.equal(lab.held().length, 1);
    await lab.world.client.update(IPSet, { ...lab.find('a'), spec: { ...spec, networks: spec.networks.slice(0, 1) } });
    await lab.settle();
    assert.deepEqual(lab.held(), []);
    assert.deepEqual(lab.reservation(metadata.name)?.spec.reservation, {});
    await lab.stop();
  });

  it('without a NetConfig goes on saying what it has, and nothing that it does not ask for any more', async () => {
    const allocationRanges = [{ start: '172.19.0.5', end: '172.19.0.6' }];
    const tenant = network({ name: 'Tenant', subnets: [subnet({ cidr: '172.19.0.0/24', allocationRanges })] });
    const lab = await running(network(), tenant);
    await lab.ipSet('a', any, { name: 'Tenant', subnetName: 'subnet1' });
    await lab.world.client.delete(NetConfig, { name: 'netconfig', namespace: NAMESPACE });
    await lab.settle();
    assert.equal(lab.find('a').status?.reservation, '172.18.0.10, 172.19.0.5');
    const { spec } = lab.find('a');
    await lab.world.client.update(IPSet, { ...lab.find('a'), spec: { ...spec, networks: spec.networks.slice(0, 1) } });
    await lab.settle();
    assert.equal(lab.find('a').status?.reservation, '172.18.0.10');
    await lab.stop();
  });

  it('gets more when it asks for more, and keeps what it has', async () => {
    const range = [{ start: '172.20.0.10', end: '172.20.0.20' }];
    const lab = await running(
      network(),
      network({ name: 'Tenant', subnets: [subnet({ cidr: '172.20.0.0/24', allocationRanges: range })] }),
    );
    const found = await lab.ipSet('a');
    await lab.world.client.update(IPSet, {
      ...found,
      spec: { ...found.spec, networks: [{ name: 'Tenant', subnetName: 'subnet1' }, any] },
    });
    await lab.settle();
    assert.equal(lab.state('a'), '172.18.0.10, 172.20.0.10');
    await lab.stop();
  });

  it('keeps its address when the range and the exclusions change under it, and shows what else changed', async () => {
    const lab = await running(network());
    await lab.ipSet('a');
    await lab.netConfig(
      network({
        mtu: 9000,
        subnets: [
          subnet({
            gateway: '172.18.0.1',
            excludeAddresses: ['172.18.0.10'],
            allocationRanges: [{ start: '172.18.0.50', end: '172.18.0.60' }],
          }),
        ],
      }),
    );
    await lab.ipSet('b');
    assert.deepEqual([lab.state('a'), lab.state('b')], ['172.18.0.10', '172.18.0.50']);
    assert.deepEqual(
      [lab.find('a').status?.reservations?.[0]?.mtu, lab.find('a').status?.reservations?.[0]?.gateway],
      [9000, '172.18.0.1'],
    );
    await lab.stop();
  });
});

describe('a fixed address', () => {
  it('may lie outside of every range', async () => {
    const lab = await running(network());
    await lab.ipSet('a', fixed('172.18.0.5'));
    assert.equal(lab.state('a'), '172.18.0.5');
    await lab.stop();
  });

  it('is not given when it is excluded, and is as soon as the exclusion goes', async () => {
    const lab = await running(network({ subnets: [subnet({ excludeAddresses: ['172.18.0.12'] })] }));
    await lab.ipSet('a', fixed('172.18.0.12'));
    assert.equal(
      lab.state('a'),
      'False: Reservation error occured FixedIP 172.18.0.12 is in ExcludeAddresses of subnet subnet1 in network Storage',
    );
    await lab.netConfig(network());
    assert.equal(lab.state('a'), '172.18.0.12');
    await lab.stop();
  });

  it('that somebody has is not given, the holder is named, and it comes when that one goes', async () => {
    const lab = await running(network());
    await lab.ipSet('first');
    await lab.ipSet('second', fixed('172.18.0.10'));
    assert.equal(
      lab.state('second'),
      'False: Reservation error occured 172.18.0.10 already reserved by IPSet first; network Storage subnet subnet1 gives it once that is deleted',
    );
    await lab.delete('first');
    assert.equal(lab.state('second'), '172.18.0.10');
    await lab.stop();
  });
});

describe('when a subnet is full', () => {
  it('the IPSet says so in its condition and in an event', async () => {
    const lab = await running(smallNetwork('172.18.0.10'));
    await lab.ipSet('a');
    await lab.ipSet('b');
    const why =
      'no ip address could be created in network Storage subnet subnet1: none of 172.18.0.10 is left; who waits longest gets the next one, when one there is given back or an allocation range grows';
    assert.equal(lab.state('b'), `False: Reservation error occured ${why}`);
    const condition = lab.find('b').status?.conditions?.find(({ type }) => type === 'ReservationReady');
    assert.deepEqual([condition?.reason, condition?.severity], ['Error', 'Error']);
    const events = lab.world.api
      .objects(Event)
      .map(({ type, reason, message, count }) => ({ type, reason, message, count }));
    assert.deepEqual(events, [{ type: 'Warning', reason: 'AddressNotAvailable', message: why, count: 1 }]);
    // Looked at again for another reason, it is not said again.
    await lab.netConfig(network({ mtu: 9000, subnets: smallNetwork('172.18.0.10').subnets }));
    assert.deepEqual(
      lab.world.api.objects(Event).map(({ count }) => count),
      [1],
    );
    await lab.stop();
  });

  it('because all of it is excluded or kept for routers, it says that, and does not promise the next one', async () => {
    const allocationRanges = [{ start: '172.18.0.10', end: '172.18.0.11' }];
    const definition = { allocationRanges, gateway: '172.18.0.10', excludeAddresses: ['172.18.0.11'] };
    const lab = await running(network({ subnets: [subnet(definition)] }));
    await lab.ipSet('a');
    assert.equal(
      lab.state('a'),
      'False: Reservation error occured no ip address could be created in network Storage subnet subnet1: nothing of 172.18.0.10-172.18.0.11 is given unasked, as it is excluded, or for routers or Services; extend the allocationRanges, or ask for a certain address',
    );
    await lab.netConfig(network({ subnets: [subnet({ ...definition, excludeAddresses: [] })] }));
    assert.equal(lab.state('a'), '172.18.0.11');
    await lab.stop();
  });

  it('whoever waits longest is served when an address is freed, and nobody else is touched', async () => {
    const lab = await running(smallNetwork('172.18.0.11'));
    for (const name of ['a', 'b', 'c', 'd', 'e']) await lab.ipSet(name);
    const before = lab.find('e').metadata.resourceVersion;
    await lab.delete('b');
    assert.deepEqual([lab.state('a'), lab.state('c')], ['172.18.0.10', '172.18.0.11']);
    assert.match(lab.state('d'), /^False/);
    assert.equal(lab.find('e').metadata.resourceVersion, before);
    await lab.delete('a');
    assert.equal(lab.state('d'), '172.18.0.10');
    await lab.stop();
  });

  it('of those who are met at once the oldest is served, whatever its name', async () => {
    const lab = new Lab();
    await lab.netConfig(smallNetwork('172.18.0.10'));
    await lab.create('z');
    await lab.settle();
    await lab.create('a');
    await lab.start();
    assert.equal(lab.state('z'), '172.18.0.10');
    assert.match(lab.state('a'), /^False/);
    await lab.stop();
  });

  it('those who come later do not overtake those who wait', async () => {
    const lab = await running(smallNetwork('172.18.0.10'));
    await lab.ipSet('a');
    await lab.ipSet('waiting');
    await lab.world.client.delete(IPSet, { name: 'a', namespace: NAMESPACE });
    await lab.create('later');
    await lab.settle();
    assert.equal(lab.state('waiting'), '172.18.0.10');
    assert.match(lab.state('later'), /^False/);
    await lab.stop();
  });

  it('those who wait are served in their order when the range grows', async () => {
    const lab = await running(smallNetwork('172.18.0.10'));
    for (const name of ['z', 'y', 'x', 'w']) await lab.ipSet(name);
    await lab.netConfig(smallNetwork('172.18.0.12'));
    assert.deepEqual(
      ['z', 'y', 'x'].map((name) => lab.state(name)),
      ['172.18.0.10', '172.18.0.11', '172.18.0.12'],
    );
    assert.match(lab.state('w'), /^False/);
    await lab.stop();
  });

  it('many of those who wait are served together when the range grows, in whatever order their names are', async () => {
    const lab = await running(smallNetwork('172.18.0.10'));
    for (let i = 0; i < 700; i += 1) await lab.create(`n${(i * 7919) % 700}`);
    await lab.settle(30_000);
    const count = (what: string) => lab.writes().get(what) ?? 0;
    const before = { blocks: count('put addressblocks'), events: count('post events') };

    const wide = subnet({ cidr: '172.18.0.0/16', allocationRanges: [{ start: '172.18.0.10', end: '172.18.9.10' }] });
    await lab.netConfig(network({ subnets: [wide] }));
    await lab.settle(30_000);

    assert.equal(lab.held().length, 700);
    assert.ok(count('put addressblocks') - before.blocks < 30, `${count('put addressblocks')} writes of blocks`);
    assert.equal(count('post events'), before.events, 'nobody is told once more that he must wait');
    assert.equal(count('post reservations'), 700);
    await lab.stop();
  });

  it('many freed at once serve as many who wait', async () => {
    const lab = await running(smallNetwork('172.18.0.39'));
    for (let i = 0; i < 60; i += 1) await lab.create(`n${i}`);
    await lab.settle();
    for (let i = 0; i < 30; i += 1) await lab.world.client.delete(IPSet, { name: `n${i}`, namespace: NAMESPACE });
    await lab.settle();
    for (let i = 30; i < 60; i += 1) assert.match(lab.state(`n${i}`), /^172\.18\.0\./);
    await lab.stop();
  });

  it('one that stops waiting does not stand in the way of those behind it', async () => {
    const lab = await running(smallNetwork('172.18.0.10'));
    for (const name of ['a', 'b', 'c']) await lab.ipSet(name);
    await lab.delete('b');
    await lab.delete('a');
    assert.equal(lab.state('c'), '172.18.0.10');
    await lab.stop();
  });

  it('one that is gone before it has begun to wait does not stand in the way of those behind it', async () => {
    const tenant = network({ name: 'Tenant', subnets: [subnet({ cidr: '172.19.0.0/24', allocationRanges: [] })] });
    const lab = new Lab();
    await lab.netConfig(smallNetwork('172.18.0.10'), tenant);
    await lab.start({ delay: [400, 400] });
    await lab.ipSet('a');
    await lab.create('gone', any, { name: 'Tenant', subnetName: 'subnet1', fixedIP: '172.19.0.5' });
    // Its finalizer takes 800 ms, and the record of the address that is free as long.
    await lab.settle(1_200);
    const ref = { name: 'gone', namespace: NAMESPACE };
    await lab.world.client.patch(IPSet, ref, { merge: { metadata: { finalizers: null } } });
    await lab.world.client.delete(IPSet, ref);
    await lab.settle();
    await lab.ipSet('behind');
    await lab.delete('a');
    await lab.settle(30_000);
    assert.equal(lab.state('behind'), '172.18.0.10');
    await lab.stop();
  });
});

describe('the end of an IPSet', () => {
  it('leaves nothing behind: its address is free at once, its Reservation gone', async () => {
    const lab = await running(network());
    await lab.ipSet('a');
    await lab.delete('a');
    assert.deepEqual([lab.world.api.objects(IPSet), lab.world.api.objects(Reservation), lab.held()], [[], [], []]);
    await lab.ipSet('b');
    assert.equal(lab.state('b'), '172.18.0.10');
    await lab.stop();
  });

  it('comes also when it carries the finalizer of former times', async () => {
    const lab = new Lab();
    await lab.netConfig(network());
    const metadata = { name: 'a', namespace: NAMESPACE, finalizers: ['IPSet'] };
    await lab.world.client.create(IPSet, { metadata, spec: { immutable: false, networks: [any] } });
    await lab.start();
    assert.deepEqual(lab.find('a').metadata.finalizers, ['openstack.org/ipset']);
    await lab.delete('a');
    assert.deepEqual([lab.world.api.objects(IPSet), lab.world.api.objects(Reservation)], [[], []]);
    await lab.stop();
  });

  it('by force, without its finalizer, frees the address after a while', async () => {
    const lab = await running(network());
    await lab.ipSet('a');
    const ref = { name: 'a', namespace: NAMESPACE };
    await lab.world.client.patch(IPSet, ref, { merge: { metadata: { finalizers: null } } });
    await lab.world.client.delete(IPSet, ref);
    await lab.settle(30_000);
    assert.equal(lab.held().length, 1);
    lab.world.api.collectGarbage();
    await lab.settle(120_000);
    assert.deepEqual([lab.held(), lab.world.api.objects(Reservation)], [[], []]);
    await lab.stop();
  });
});

describe('what was there before', () => {
  const restored = (uid: string, address: string) => ({
    metadata: { name: 'old', namespace: NAMESPACE, finalizers: ['IPSet'] },
    spec: { ipSetRef: { uid }, reservation: { Storage: { network: 'Storage', subnet: 'subnet1', address } } },
  });

  it('an IPSet keeps the address of a Reservation that was written before there was a ledger', async () => {
    const lab = new Lab();
    await lab.netConfig(network());
    await lab.create('new');
    await lab.create('old');
    await lab.world.client.create(Reservation, restored(lab.find('old').metadata.uid, '172.18.0.10'));
    await lab.start();
    assert.deepEqual([lab.state('old'), lab.state('new')], ['172.18.0.10', '172.18.0.11']);
    await lab.stop();
  });

  it('what a Reservation promises is on record also as long as there is no NetConfig', async () => {
    const lab = new Lab();
    await lab.create('old');
    await lab.world.client.create(Reservation, restored(lab.find('old').metadata.uid, '172.18.0.10'));
    await lab.start();
    assert.deepEqual(lab.held(), ['172.18.0.10 IPSet old']);
    assert.equal(lab.state('old'), 'False: NetConfig missing in namespace openstack');
    await lab.stop();
  });

  it('an IPSet that is restored from a backup gets the address of its restored Reservation', async () => {
    const lab = await running(network());
    await lab.world.client.create(Reservation, restored('of another life', '172.18.0.10'));
    await lab.settle();
    assert.deepEqual(lab.held(), ['172.18.0.10 Reservation old']);
    await lab.ipSet('new');
    await lab.ipSet('old');
    assert.deepEqual([lab.state('new'), lab.state('old')], ['172.18.0.11', '172.18.0.10']);
    assert.deepEqual(lab.held().sort(), ['172.18.0.10 IPSet old', '172.18.0.11 IPSet new']);
    await lab.stop();
  });

  it('an address that two were promised is kept by one, and the other one is told who has it and gets it after him', async () => {
    const lab = new Lab();
    await lab.netConfig(network());
    const entry = { network: 'Storage', subnet: 'subnet1', address: '172.18.0.10' };
    for (const name of ['one', 'two']) {
      await lab.create(name);
      const { uid } = lab.find(name).metadata;
      const metadata = { name, namespace: NAMESPACE };
      await lab.world.client.create(Reservation, {
        metadata,
        spec: { ipSetRef: { uid }, reservation: { Storage: entry } },
      });
      const ready: Condition = { type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' };
      const status = { observedGeneration: 1, conditions: [ready], reservations: [entry] };
      await lab.world.client.updateStatus(IPSet, { ...lab.find(name), status });
    }
    await lab.start();
    assert.deepEqual(
      [lab.state('one'), lab.state('two')],
      [
        '172.18.0.10',
        'False: Reservation error occured 172.18.0.10 already reserved by IPSet one; network Storage subnet subnet1 gives it once that is deleted',
      ],
    );
    assert.deepEqual(lab.find('two').status?.reservations, []);
    await lab.delete('one');
    assert.equal(lab.state('two'), '172.18.0.10');
    await lab.stop();
  });

  it('an address is the same however a Reservation spells it', async () => {
    const lab = new Lab();
    await lab.netConfig(network({ subnets: [subnet(), subnet6] }));
    await lab.create('first');
    await lab.start();
    await lab.stop();
    await lab.create('old', { ...any, subnetName: 'subnet6' }, any);
    const { uid } = lab.find('old').metadata;
    const entry = { network: 'Storage', subnet: 'subnet1', address: '172.18.0.10' };
    const spelled = { network: 'Storage', subnet: 'subnet6', address: 'FD00:18:0::0010' };
    await lab.world.client.create(Reservation, {
      metadata: { name: 'old', namespace: NAMESPACE },
      spec: { ipSetRef: { uid }, reservation: { Storage: spelled, 'Storage.subnet1': entry } },
    });
    const status = { observedGeneration: 1, reservations: [entry, spelled] };
    await lab.world.client.updateStatus(IPSet, { ...lab.find('old'), status });
    await lab.start();
    assert.match(lab.state('old'), /^False: Reservation error occured 172\.18\.0\.10 already reserved by IPSet first/);
    assert.equal(lab.find('old').status?.reservation, 'fd00:18::10');
    await lab.stop();
  });

  it('an IPSet keeps its address when its Reservation is made to say another one, be it free or not, and puts that right', async () => {
    const lab = await running(network());
    await lab.ipSet('a');
    await lab.ipSet('b');
    const found = lab.reservation('a');
    assert.ok(found);
    for (const address of ['172.18.0.11', '172.18.0.77', 'x']) {
      const entry = { network: 'Storage', subnet: 'subnet1', address };
      const { metadata, ...rest } = lab.reservation('a') ?? found;
      const spec = { ...found.spec, reservation: { Storage: entry } };
      await lab.world.client.update(Reservation, { ...rest, metadata, spec });
      await lab.settle();
      assert.deepEqual([lab.state('a'), lab.state('b')], ['172.18.0.10', '172.18.0.11']);
      assert.equal(lab.reservation('a')?.spec.reservation['Storage']?.address, '172.18.0.10');
    }
    assert.deepEqual(lab.held(), ['172.18.0.10 IPSet a', '172.18.0.11 IPSet b']);
    await lab.stop();
  });

  it('a Reservation that somebody deletes is written again with the same address', async () => {
    const lab = await running(network());
    await lab.ipSet('a');
    await lab.world.client.delete(Reservation, { name: 'a', namespace: NAMESPACE });
    await lab.settle();
    assert.equal(lab.reservation('a')?.metadata.deletionTimestamp, undefined);
    assert.equal(lab.reservation('a')?.spec.reservation['Storage']?.address, '172.18.0.10');
    await lab.stop();
  });

  it('blocks that somebody deletes stay until what they hold is given back', async () => {
    const lab = await running(network());
    await lab.ipSet('a');
    await lab.world.client.delete(AddressBlock, { name: 'underlay-172.18.0.0-24', namespace: NAMESPACE });
    await lab.ipSet('b');
    assert.deepEqual(lab.held(), ['172.18.0.10 IPSet a', '172.18.0.11 IPSet b']);
    await lab.delete('a');
    await lab.delete('b');
    assert.deepEqual(lab.world.api.objects(AddressBlock), []);
    await lab.stop();
  });

  it('what is on record for it beyond what it was promised is given back', async () => {
    const lab = await running(network());
    await lab.ipSet('a');
    await lab.stop();
    const [block] = lab.world.api.objects(AddressBlock);
    const [holding] = block?.spec.holdings ?? [];
    assert.ok(block && holding);
    const holdings = [holding, { ...holding, address: '172.18.0.77' }];
    await lab.world.client.update(AddressBlock, { ...block, spec: { ...block.spec, holdings } });
    await lab.start();
    assert.deepEqual([lab.state('a'), lab.held()], ['172.18.0.10', ['172.18.0.10 IPSet a']]);
    await lab.stop();
  });

  it('what another controller puts on record for it besides, and does not tell it, is given back', async () => {
    const lab = await running(network());
    await lab.ipSet('a');
    const [block] = lab.world.api.objects(AddressBlock);
    const [holding] = block?.spec.holdings ?? [];
    assert.ok(block && holding);
    const holdings = [holding, { ...holding, address: '172.18.0.77' }];
    await lab.world.client.update(AddressBlock, { ...block, spec: { ...block.spec, holdings } });
    await lab.settle();
    assert.deepEqual([lab.state('a'), lab.held()], ['172.18.0.10', ['172.18.0.10 IPSet a']]);
    await lab.stop();
  });

  it('a start writes nothing when all is as it should be', async () => {
    const lab = await running(network());
    for (let i = 0; i < 20; i += 1) await lab.create(`n${i}`);
    await lab.settle();
    await lab.stop();
    const before = lab.writes();
    await lab.start();
    assert.deepEqual(lab.writes(), before);
    await lab.stop();
  });

  it('an address that was put on record before a crash is found again', async () => {
    const lab = new Lab();
    await lab.netConfig(network());
    await lab.create('a');
    const { uid } = lab.find('a').metadata;
    const holder = { apiGroup: 'network.openstack.org', kind: 'IPSet', name: 'a', uid };
    const holding = {
      address: '172.18.0.77',
      holder,
      network: 'Storage',
      subnet: 'subnet1',
      since: '2026-01-01T00:00:00Z',
    };
    await lab.world.client.create(AddressBlock, {
      metadata: { name: 'underlay-172.18.0.0-24', namespace: NAMESPACE },
      spec: { space: 'underlay', prefix: '172.18.0.0/24', holdings: [holding] },
    });
    await lab.start();
    assert.equal(lab.state('a'), '172.18.0.77');
    await lab.stop();
  });
});

describe('an IPSet whose address cannot be recorded now', () => {
  it('goes on saying the address that it was told', async () => {
    const lab = new Lab();
    await lab.netConfig(network());
    const { client, api } = lab.world;
    await lab.create('a');
    const { uid } = lab.find('a').metadata;
    const entry = { network: 'Storage', subnet: 'subnet1', address: '172.18.0.77' };
    await client.create(Reservation, {
      metadata: { name: 'a', namespace: NAMESPACE },
      spec: { ipSetRef: { uid }, reservation: { Storage: entry } },
    });
    const status = { observedGeneration: 1, reservation: entry.address, reservations: [entry] };
    await client.updateStatus(IPSet, { ...lab.find('a'), status });
    // Everything is known, and then there is no place for the record.
    api.unserve(AddressBlock);
    await lab.start();
    await lab.settle();
    assert.match(lab.state('a'), /could not be recorded/);
    assert.equal(lab.find('a').status?.reservation, entry.address);
    assert.deepEqual(lab.reservation('a')?.spec.reservation, { Storage: entry });
    await lab.stop();
  });
});

describe('an IPSet beside pools of Services', () => {
  it('is given nothing of theirs, unless it asks for it by number', async () => {
    const lab = await running(network());
    await lab.pool('172.18.0.8-172.18.0.12', 'fd00::/64');
    assert.equal((await lab.ipSet('any')).status?.reservation, '172.18.0.13');
    assert.equal((await lab.ipSet('fixed', fixed('172.18.0.11'))).status?.reservation, '172.18.0.11');
    await lab.stop();
  });

  it('is served also when the pool goes while something else is being written for it', async () => {
    const allocationRanges = [{ start: '172.19.0.5', end: '172.19.0.6' }];
    const tenant = network({ name: 'Tenant', subnets: [subnet({ cidr: '172.19.0.0/24', allocationRanges })] });
    const lab = new Lab();
    await lab.netConfig(smallNetwork('172.18.0.11'), tenant);
    await lab.pool('172.18.0.0/24');
    await lab.start({ delay: [400, 400] });
    await lab.create('a', any, { name: 'Tenant', subnetName: 'subnet1' });
    // Its finalizer takes 800 ms, and the record of the other address as long.
    await lab.settle(1_200);
    await lab.world.client.delete(IPAddressPool, { name: 'pool', namespace: 'metallb-system' });
    await lab.settle(30_000);
    assert.equal(lab.state('a'), '172.18.0.10, 172.19.0.5');
    await lab.stop();
  });

  it('waits when they take all there is, and is served when a pool goes', async () => {
    const lab = await running(smallNetwork('172.18.0.11'));
    await lab.pool('172.18.0.0/24');
    await lab.ipSet('waiting');
    await lab.ipSet('behind');
    assert.match(lab.state('waiting'), /^False: /);
    await lab.world.client.delete(IPAddressPool, { name: 'pool', namespace: 'metallb-system' });
    await lab.settle();
    assert.equal(lab.state('waiting'), '172.18.0.10');
    assert.equal(lab.state('behind'), '172.18.0.11');
    await lab.stop();
  });
});
