import type { Kind } from '../api/kind.ts';
import type { AddressHolder } from '../api/netloom.io/address-block.ts';
import { AddressClaim } from '../api/netloom.io/address-claim.ts';
import { IPSet, type NetworkRequest } from '../api/network.openstack.org/ipset.ts';
import type { Reservation, ReservationEntry } from '../api/network.openstack.org/reservation.ts';
import type { ApiObject } from '../api/object.ts';
import { type Ref, refOf } from '../runtime/ref.ts';
import { isObserved } from '../runtime/status.ts';
import { isFor } from './reservation.ts';

/** Somebody who is to have addresses, of whichever kind. */
export interface Applicant {
  readonly holder: AddressHolder;
  readonly ref: Ref;
  /** When it came to be: older ones are served first. */
  readonly created: string;
  readonly requests: readonly NetworkRequest[];
  readonly promises: Promises;
  /** What its status says that it has; `areOwn`: as an answer to what it asks for now. */
  readonly told: Promises;
  /** The UID of an object whose addresses it takes over. */
  readonly heirOf?: string;
}

/** Addresses that are promised in writing. */
export interface Promises {
  /** Made to exactly this object, and not to an earlier one of its name. */
  readonly areOwn: boolean;
  readonly entries: readonly ReservationEntry[];
}

/** `reservation`: the one of its name, whoever it was made for. */
export function ipSetApplicant(ipSet: IPSet, reservation: Reservation | undefined): Applicant {
  return {
    holder: ipSetHolder(ipSet),
    ref: refOf(ipSet),
    created: ipSet.metadata.creationTimestamp,
    requests: ipSet.spec.networks,
    promises: {
      areOwn: reservation !== undefined && isFor(reservation, ipSet),
      entries: Object.values(reservation?.spec.reservation ?? {}),
    },
    told: { areOwn: isObserved(ipSet), entries: ipSet.status?.reservations ?? [] },
    // A Reservation that was there before its IPSet held the addresses itself.
    ...(reservation === undefined ? {} : { heirOf: reservation.metadata.uid }),
  };
}

/** What a claim has been told is promised to it: its status is written under the version of the object. */
export function claimApplicant(claim: AddressClaim): Applicant {
  const promises = { areOwn: true, entries: promisedTo(claim) };
  return {
    holder: claimHolder(claim),
    ref: refOf(claim),
    created: claim.metadata.creationTimestamp,
    requests: [requestIn(claim)],
    promises,
    told: promises,
  };
}

/** What a claim asks for, in the words of an IPSet. */
export const requestIn = ({ spec: { network, subnet, address } }: AddressClaim): NetworkRequest => ({
  name: network,
  subnetName: subnet,
  ...(address === undefined ? {} : { fixedIP: address }),
});

export function promisedTo({ spec: { network, subnet }, status }: AddressClaim): ReservationEntry[] {
  return status?.address === undefined ? [] : [{ network, subnet, address: status.address }];
}

/** What its status says that somebody has; undefined where nothing has been said yet. */
export function addressesTold({ status }: IPSet | AddressClaim): readonly string[] | undefined {
  if (status?.observedGeneration === undefined) return undefined;
  if ('address' in status) return status.address === undefined ? [] : [status.address];
  return 'reservations' in status ? (status.reservations ?? []).map(({ address }) => address) : [];
}

export const ipSetHolder = (ipSet: IPSet): AddressHolder => holderOf(IPSet, ipSet);
export const claimHolder = (claim: AddressClaim): AddressHolder => holderOf(AddressClaim, claim);

const holderOf = ({ group, kind }: Kind, { metadata: { name, uid } }: ApiObject): AddressHolder => ({
  apiGroup: group,
  kind,
  name,
  uid,
});
