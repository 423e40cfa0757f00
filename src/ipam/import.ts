import { Address } from '../api/address.ts';
import type { IPSet } from '../api/network.openstack.org/ipset.ts';
import { Reservation } from '../api/network.openstack.org/reservation.ts';
import type { Outcome } from '../ledger/ledger.ts';
import type { Request, Space } from '../ledger/space.ts';
import { ipSetHolder } from './applicant.ts';
import { isFor } from './reservation.ts';

export interface ImportOptions {
  readonly hold: (requests: readonly Request[]) => Promise<readonly Outcome[]>;
  readonly space: Space;
  readonly reservations: readonly Reservation[];
  readonly ipSetOf: (reservation: Reservation) => IPSet | undefined;
}

/**
 * Puts on record what Reservations say that the ledger does not know of: those that were written before there was a ledger, restored
 * from a backup, or written by hand. Without it their addresses would look free.
 */
export async function importReservations({ hold, space, reservations, ipSetOf }: ImportOptions): Promise<void> {
  const requests = reservations.flatMap((reservation): Request[] => {
    const ipSet = ipSetOf(reservation);
    const holder =
      ipSet !== undefined && isFor(reservation, ipSet) ? ipSetHolder(ipSet) : reservationAsHolder(reservation);
    return Object.values(reservation.spec.reservation).flatMap(({ address: text, network, subnet }) => {
      const address = Address.parse(text);
      if (address === undefined) return [];
      const holding = space.holdingAt(address);
      if (holding !== undefined && holding.coolsUntil === undefined) return [];
      return [{ holder, network, subnet, from: address }];
    });
  });
  for (const outcome of await hold(requests)) if (outcome.is === 'unknown') throw outcome.error;
}

const reservationAsHolder = ({ metadata: { name, uid } }: Reservation) => ({
  apiGroup: Reservation.group,
  kind: Reservation.kind,
  name,
  uid,
});
