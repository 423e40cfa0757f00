import { AddressBlock } from '../api/netloom.io/address-block.ts';
import { IPSet } from '../api/network.openstack.org/ipset.ts';
import { Reservation } from '../api/network.openstack.org/reservation.ts';
import { Ledger } from '../ledger/ledger.ts';
import { type Controller, controller } from '../runtime/controller.ts';
import { removeFinalizers } from '../runtime/finalizers.ts';
import { done } from '../runtime/outcome.ts';
import { refOf } from '../runtime/ref.ts';
import { UNDERLAY } from './environment.ts';
import { importReservations } from './import.ts';
import { isFor } from './plan.ts';
import { FINALIZERS, isOurs } from './reservation.ts';

/**
 * Looks after Reservations without an IPSet: what they reserve is nobody else's as long as they are there, and one that is
 * being deleted does not wait for an IPSet that will never come to let it go.
 */
export const reservations = (): Controller => ({
  name: Reservation.plural,
  start(host) {
    const ledger = Ledger.of(host);
    return controller({
      for: Reservation,
      // An IPSet and its Reservation have the same name.
      watches: [
        { kind: IPSet, wakes: (ipSet) => [refOf(ipSet)] },
        { kind: AddressBlock, wakes: () => [] },
      ],
      parallel: 16,
      async reconcile(reservation, { caches, client }) {
        const ref = refOf(reservation);
        const isOwner = (ipSet: IPSet | undefined): boolean => ipSet !== undefined && isFor(reservation, ipSet);
        if (isOwner(caches.of(IPSet).get(ref))) return done();
        const { deletionTimestamp, finalizers = [] } = reservation.metadata;
        if (deletionTimestamp === undefined) {
          const space = ledger.space(ref.namespace, UNDERLAY);
          await importReservations({ ledger, space, reservations: [reservation], ipSetOf: () => undefined });
        } else if (finalizers.some(isOurs) && !isOwner(await client.get(IPSet, ref.name, ref.namespace))) {
          await removeFinalizers(client, Reservation, reservation, FINALIZERS);
        }
        return done();
      },
    }).start(host);
  },
});
