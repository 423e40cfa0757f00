import { Address } from '../api/address.ts';
import type { AddressHolder } from '../api/netloom.io/address-block.ts';
import type { AddressClaim } from '../api/netloom.io/address-claim.ts';
import type { IPSet } from '../api/network.openstack.org/ipset.ts';
import { Reservation, type ReservationEntry } from '../api/network.openstack.org/reservation.ts';
import type { Outcome } from '../ledger/ledger.ts';
import type { Request, Space } from '../ledger/space.ts';
import { claimHolder, ipSetHolder, promisedTo } from './applicant.ts';
import { isFor } from './reservation.ts';

interface Books {
  readonly hold: (requests: readonly Request[]) => Promise<readonly Outcome[]>;
  readonly space: Space;
}

export interface ImportOptions extends Books {
  readonly reservations: readonly Reservation[];
  readonly ipSetOf: (reservation: Reservation) => IPSet | undefined;
}

/**
 * Puts on record what Reservations say that the ledger does not know of: those that were written before there was a ledger, restored
 * from a backup, or written by hand. Without it their addresses would look free.
 */
export async function importReservations({ reservations, ipSetOf, ...books }: ImportOptions): Promise<void> {
  const promises = reservations.map((reservation) => {
    const ipSet = ipSetOf(reservation);
    const holder =
      ipSet !== undefined && isFor(reservation, ipSet) ? ipSetHolder(ipSet) : reservationAsHolder(reservation);
    return { holder, entries: Object.values(reservation.spec.reservation) };
  });
  await putOnRecord(promises, books);
}

/** The same for what AddressClaims have been told. */
export async function importClaims({ claims, ...books }: Books & { claims: readonly AddressClaim[] }): Promise<void> {
  const promises = claims.map((claim) => ({ holder: claimHolder(claim), entries: promisedTo(claim) }));
  await putOnRecord(promises, books);
}

async function putOnRecord(
  promises: readonly { readonly holder: AddressHolder; readonly entries: readonly ReservationEntry[] }[],
  { hold, space }: Books,
): Promise<void> {
  const requests = promises.flatMap(({ holder, entries }) =>
    entries.flatMap(({ address: text, network, subnet }): Request[] => {
      const address = Address.parse(text);
      if (address === undefined) return [];
      const holding = space.holdingAt(address);
      if (holding !== undefined && holding.coolsUntil === undefined) return [];
      return [{ holder, network, subnet, from: address }];
    }),
  );
  for (const outcome of await hold(requests)) if (outcome.is === 'unknown') throw outcome.error;
}

const reservationAsHolder = ({ metadata: { name, uid } }: Reservation) => ({
  apiGroup: Reservation.group,
  kind: Reservation.kind,
  name,
  uid,
});
