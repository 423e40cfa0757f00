import type { AddressClaim } from '../../api/netloom.io/address-claim.ts';
import type { IPSet, NetworkRequest } from '../../api/network.openstack.org/ipset.ts';
import type { Reservation, ReservationEntry } from '../../api/network.openstack.org/reservation.ts';
import { requestIn } from '../../ipam/applicant.ts';
import { isAbout, isFor } from '../../ipam/reservation.ts';

/** Somebody who asks for addresses. */
export interface Asker {
  readonly object: IPSet | AddressClaim;
  /** What it calls an address that it asks for by number. */
  readonly byNumber: 'fixedIP' | 'address';
  readonly lacking: readonly Lack[];
}

/** A request for which nothing is reserved, or only what somebody else has. */
export interface Lack extends NetworkRequest {
  /** That it asks for exactly this address was written down by a controller, not by a person. */
  readonly isPromised?: boolean;
}

/** `reservation`: the one of its name; `isAnothers`: whether somebody else is on record for an address. */
export function ipSetAsker(
  ipSet: IPSet,
  reservation: Reservation | undefined,
  isAnothers: (address: string) => boolean = () => false,
): Asker {
  const promised = promisedTo(ipSet, reservation);
  const vain = promised.filter(({ address }) => isAnothers(address));
  const lacking = without(
    ipSet.spec.networks,
    promised.filter((entry) => !vain.includes(entry)),
  );
  return {
    object: ipSet,
    byNumber: 'fixedIP',
    lacking: lacking.map((request): Lack => {
      const entry = vain.find((each) => isAbout(request, each));
      return entry === undefined ? request : { ...request, fixedIP: entry.address, isPromised: true };
    }),
  };
}

/** What is promised to exactly this IPSet. */
export const promisedTo = (ipSet: IPSet, reservation: Reservation | undefined): ReservationEntry[] =>
  reservation !== undefined && isFor(reservation, ipSet) ? Object.values(reservation.spec.reservation) : [];

/** By what its own status says: for one that is looked at only because it is there too. */
export const ipSetNeighbour = (ipSet: IPSet): Asker => ({
  object: ipSet,
  byNumber: 'fixedIP',
  lacking: without(ipSet.spec.networks, ipSet.status?.reservations ?? []),
});

export const claimAsker = (claim: AddressClaim): Asker => ({
  object: claim,
  byNumber: 'address',
  lacking: claim.status?.address === undefined ? [requestIn(claim)] : [],
});

function without(
  requests: readonly NetworkRequest[],
  reserved: readonly { readonly network: string; readonly subnet: string }[],
): NetworkRequest[] {
  const left = [...reserved];
  return requests.filter(({ name, subnetName }) => {
    const found = left.findIndex((entry) => isAbout({ name, subnetName }, entry));
    if (found >= 0) left.splice(found, 1);
    return found < 0;
  });
}
