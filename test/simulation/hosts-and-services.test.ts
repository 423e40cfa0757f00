import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Namespace } from '../../src/api/core/namespace.ts';
import { Service } from '../../src/api/core/service.ts';
import { IPAddressPool } from '../../src/api/metallb.io/ip-address-pool.ts';
import { L2Advertisement } from '../../src/api/metallb.io/l2-advertisement.ts';
import { AddressBlock } from '../../src/api/netloom.io/address-block.ts';
import { AddressClaim } from '../../src/api/netloom.io/address-claim.ts';
import { IPSet } from '../../src/api/network.openstack.org/ipset.ts';
import { NetConfig } from '../../src/api/network.openstack.org/netconfig.ts';
import { Reservation } from '../../src/api/network.openstack.org/reservation.ts';
import { ipamControllers } from '../../src/ipam/index.ts';
import { Event } from '../../src/runtime/builtin.ts';
import { Manager } from '../../src/runtime/manager.ts';
import { vipsControllers } from '../../src/vips/index.ts';
import { storm } from './faults.ts';
import { type World, world } from './world.ts';

const NAMESPACE = 'openstack';
const kinds = [
  ...[Service, Namespace, IPAddressPool, L2Advertisement],
  ...[NetConfig, IPSet, Reservation, AddressClaim, AddressBlock, Event],
];

/** A network of six addresses, of which a pool has four. */
async function prepare({ client }: World): Promise<void> {
  const metadata = { name: 'netconfig', namespace: NAMESPACE };
  const allocationRanges = [{ start: '172.17.0.80', end: '172.17.0.85' }];
  const subnets = [{ name: 'subnet1', cidr: '172.17.0.0/24', allocationRanges }];
  await client.create(NetConfig, { metadata, spec: { networks: [{ name: 'InternalApi', mtu: 1500, subnets }] } });
  await client.create(IPAddressPool, {
    metadata: { name: 'internalapi', namespace: 'metallb-system' },
    spec: { addresses: ['172.17.0.82-172.17.0.85'], autoAssign: true, avoidBuggyIPs: false },
  });
}

/** Who says, in its status, that it has an address. */
function assertNobodyIsRobbed({ api }: World): void {
  const holders = new Map<string, string>();
  const say = (address: string, who: string): void => {
    assert.equal(holders.get(address), undefined, `${address} of ${who} as well`);
    holders.set(address, who);
  };
  for (const { metadata, status } of api.objects(IPSet)) {
    // One that is being deleted gives back its address before it is gone.
    if (metadata.deletionTimestamp !== undefined) continue;
    for (const { address } of status?.reservations ?? []) say(address, `IPSet ${metadata.name}`);
  }
  for (const { metadata, status } of api.objects(Service)) {
    for (const { ip = '' } of status?.loadBalancer?.ingress ?? []) say(ip, `Service ${metadata.name}`);
  }
}

async function run(seed: number): Promise<void> {
  const one = world({ seed, kinds, level: 'error' });
  const { api, client, clock, log } = one;
  await prepare(one);
  const managers = ['a', 'b'].map((instance) => {
    const controllers = [...ipamControllers(), ...vipsControllers()];
    const transport = api.transport(storm);
    return new Manager({ transport, controllers, system: clock, log, fieldManager: 'netloom', instance, freeze: true });
  });
  for (const manager of managers) manager.start();
  const living = new Set<string>();
  for (let i = 0; i < 40; i += 1) {
    const kind = clock.random() < 0.5 ? IPSet : Service;
    const name = `${kind.plural}-${Math.floor(clock.random() * 5)}`;
    const metadata = { name, namespace: NAMESPACE };
    if (living.delete(name)) {
      await client.delete(kind, metadata);
    } else if (!api.objects(kind).some((object) => object.metadata.name === name)) {
      living.add(name);
      if (kind === Service) {
        await client.create(Service, { metadata, spec: { type: 'LoadBalancer', ports: [{ port: 80 }] } });
      } else {
        const networks = [{ name: 'InternalApi', subnetName: 'subnet1' }];
        await client.create(IPSet, { metadata, spec: { immutable: false, networks } });
      }
    }
    await clock.advance(Math.floor(clock.random() * 2_000));
    assertNobodyIsRobbed(one);
  }
  await clock.advance(300_000);
  assertNobodyIsRobbed(one);
  await Promise.all(managers.map((manager) => clock.run(manager.stop({ within: 1_000 }))));
}

/** Whoever of the controllers comes first, depending on what is slow to be heard. */
async function firstStart(seed: number): Promise<string> {
  const one = world({ seed, kinds, level: 'error' });
  const { api, client, clock, log } = one;
  await prepare(one);
  const metadata = { name: 'n', namespace: NAMESPACE };
  const networks = [{ name: 'InternalApi', subnetName: 'subnet1' }];
  const ipSet = await client.create(IPSet, { metadata, spec: { immutable: false, networks } });
  const entry = { network: 'InternalApi', subnet: 'subnet1', address: '172.17.0.82' };
  await client.create(Reservation, {
    metadata,
    spec: { ipSetRef: { uid: ipSet.metadata.uid }, reservation: { InternalApi: entry } },
  });
  await client.create(Service, {
    metadata: { name: 's', namespace: NAMESPACE },
    spec: { type: 'LoadBalancer', ports: [{ port: 80 }] },
  });
  const controllers = [...vipsControllers(), ...ipamControllers()];
  const transport = api.transport({ delay: [0, 1_000] });
  const manager = new Manager({ transport, controllers, system: clock, log, fieldManager: 'netloom', instance: 'a' });
  manager.start();
  await clock.advance(60_000);
  await clock.run(manager.stop({ within: 1_000 }));
  const ingress = api.objects(Service)[0]?.status?.loadBalancer?.ingress ?? [];
  return `${api.objects(IPSet)[0]?.status?.reservation} and ${ingress.map(({ ip }) => ip)}`;
}

it('gives no Service what an older installation has promised to a host', async () => {
  for (let seed = 1; seed <= 10; seed += 1) assert.equal(await firstStart(seed), '172.17.0.82 and 172.17.0.83');
});

describe('hosts and Services on one network in a storm, with two that believe they lead', () => {
  for (const seed of [1, 2, 3, 535]) {
    it(`no address is given to a host and to a Service (seed ${seed})`, () => run(seed));
  }
});
