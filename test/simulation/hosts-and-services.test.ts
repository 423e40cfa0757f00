import assert from 'node:assert/strict';
import { it } from 'node:test';
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
