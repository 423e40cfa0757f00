import { Service } from '../../../src/api/core/service.ts';
import { IPSet } from '../../../src/api/network.openstack.org/ipset.ts';
import { Reservation } from '../../../src/api/network.openstack.org/reservation.ts';
import { ownedBy } from '../../../src/runtime/owner.ts';
import type { World } from '../world.ts';
import type { Dice } from './dice.ts';
import { NAMESPACES } from './networks.ts';

/** What an older installation has left: promises to hosts and Services that no AddressBlock knows of. Answers with whose they are. */
export async function drawPast({ client, clock }: World, dice: Dice): Promise<Set<string>> {
  const uids = new Set<string>();
  const taken = new Set<string>();
  const any = (start: string, from: number, count: number, space: string): string => {
    const address = `${start}${from + dice.below(count)}`;
    if (taken.has(`${space} ${address}`)) return any(start, from, count, space);
    taken.add(`${space} ${address}`);
    return address;
  };
  const run = <T>(promise: Promise<T>): Promise<T> => clock.run(promise);
  for (const namespace of NAMESPACES) {
    for (let i = dice.below(4); i > 0; i -= 1) {
      const metadata = { namespace, name: `n${i}` };
      const networks = [{ name: 'Storage', subnetName: 'subnet1' }];
      const ipSet = await run(client.create(IPSet, { metadata, spec: { immutable: false, networks } }));
      uids.add(ipSet.metadata.uid);
      const entry = { network: 'Storage', subnet: 'subnet1', address: any('172.18.0.', 12, 6, namespace) };
      const reservation = await run(
        client.create(Reservation, {
          metadata: { ...metadata, finalizers: ['IPSet'], ownerReferences: [ownedBy(ipSet)] },
          spec: { ipSetRef: { uid: ipSet.metadata.uid }, reservation: { Storage: entry } },
        }),
      );
      uids.add(reservation.metadata.uid);
      if (dice.oneIn(2)) continue;
      const status = { observedGeneration: 1, reservation: entry.address, reservations: [entry] };
      await run(client.updateStatus(IPSet, { ...ipSet, status }));
    }
  }
  for (let i = dice.below(3); i > 0; i -= 1) {
    const annotations = { 'metallb.io/ip-allocated-from-pool': 'internalapi' };
    const metadata = { namespace: 'east', name: `s${i}`, annotations };
    const spec = { type: 'LoadBalancer' as const, ports: [{ port: 80 }] };
    const service = await run(client.create(Service, { metadata, spec }));
    uids.add(service.metadata.uid);
    const status = { loadBalancer: { ingress: [{ ip: any('172.17.0.', 82, 2, 'vips') }] } };
    await run(client.updateStatus(Service, { ...service, status }));
  }
  return uids;
}
