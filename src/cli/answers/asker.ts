import type { AddressClaim } from '../../api/netloom.io/address-claim.ts';
import type { IPSet, NetworkRequest } from '../../api/network.openstack.org/ipset.ts';
import type { Reservation } from '../../api/network.openstack.org/reservation.ts';
import { sameName } from '../../api/network.openstack.org/shapes.ts';
import { requestIn } from '../../ipam/applicant.ts';
import { isFor } from '../../ipam/reservation.ts';

/** Somebody who asks for addresses. */
export interface Asker {
  readonly object: IPSet | AddressClaim;
  /** What it calls an address that it asks for by number. */
  readonly byNumber: 'fixedIP' | 'address';
  /** The requests for which nothing is reserved. */
  readonly lacking: readonly NetworkRequest[];
}

/** `reservation`: the one of its name. */
export const ipSetAsker = (ipSet: IPSet, reservation: Reservation | undefined): Asker => ({
  object: ipSet,
  byNumber: 'fixedIP',
  lacking: without(
    ipSet.spec.networks,
    reservation !== undefined && isFor(reservation, ipSet) ? Object.values(reservation.spec.reservation) : [],
  ),
});

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
    const found = left.findIndex(({ network, subnet }) => sameName(network, name) && sameName(subnet, subnetName));
    if (found >= 0) left.splice(found, 1);
    return found < 0;
  });
}
