import { AddressBlock } from '../api/netloom.io/address-block.ts';
import { IPSet } from '../api/network.openstack.org/ipset.ts';
import { Reservation } from '../api/network.openstack.org/reservation.ts';
import { Ledger } from '../ledger/ledger.ts';
import type { Holding, Request, Space } from '../ledger/space.ts';
import type { Client } from '../runtime/client.ts';
import { type Controller, controller } from '../runtime/controller.ts';
import { removeFinalizers } from '../runtime/finalizers.ts';
import { done } from '../runtime/outcome.ts';
import { type Ref, refOf } from '../runtime/ref.ts';
import { UNDERLAY } from './environment.ts';
import { importReservations } from './import.ts';
import { addressesIn, FINALIZERS, isFor } from './reservation.ts';

/**
 * Looks after Reservations without an IPSet: what they reserve is nobody else's as long as they are there, and one that is
 * being deleted does not wait for an IPSet that will never come to let it go.
 */
export const reservations = ({ coolDown }: { coolDown: number }): Controller => ({
  name: Reservation.plural,
  start(host) {
    const ledger = Ledger.of(host);
    return controller({
      for: Reservation,
      watches: [
        // An IPSet and its Reservation have the same name.
        { kind: IPSet, wakes: (ipSet) => [refOf(ipSet)] },
        { kind: AddressBlock, wakes: reservationsHolding },
      ],
      parallel: 16,
      async reconcile(reservation, { caches, client }) {
        const ref = refOf(reservation);
        const space = ledger.space(ref.namespace, UNDERLAY);
        const isOwner = (ipSet: IPSet | undefined): boolean => ipSet !== undefined && isFor(reservation, ipSet);
        if (isOwner(caches.of(IPSet).get(ref))) {
          await ledger.release(space, leftovers(reservation, space), { coolDown });
          return done();
        }
        if (isOwner(await client.get(IPSet, ref.name, ref.namespace))) return done();
        const { deletionTimestamp } = reservation.metadata;
        if (deletionTimestamp !== undefined) {
          await removeFinalizers(client, Reservation, reservation, FINALIZERS);
        } else if (await isNewest(reservation, client)) {
          const hold = (requests: readonly Request[]) => ledger.hold(space, requests);
          await importReservations({ hold, space, reservations: [reservation], ipSetOf: () => undefined });
        }
        return done();
      },
    }).start(host);
  },
});

/** What the Reservation held itself before it had an IPSet, and what that one did not take over. */
function leftovers(reservation: Reservation, space: Space): Holding[] {
  const said = addressesIn(reservation);
  return space.heldBy(reservation.metadata.uid).filter(({ address }) => !said.has(address.toString()));
}

/** Otherwise a newer one is on its way to us, and it counts. */
async function isNewest(reservation: Reservation, client: Client): Promise<boolean> {
  const { name, namespace, resourceVersion } = reservation.metadata;
  const newest = await client.get(Reservation, name, namespace);
  return newest?.metadata.resourceVersion === resourceVersion;
}

const reservationsHolding = ({ metadata: { namespace = '' }, spec }: AddressBlock): Ref[] =>
  spec.holdings
    .filter(({ holder }) => holder.kind === Reservation.kind)
    .map(({ holder }) => ({ namespace, name: holder.name }));
