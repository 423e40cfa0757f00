import type { Address } from '../api/address.ts';
import type { LiveReader } from '../api/admission.ts';
import { Service } from '../api/core/service.ts';
import type { Kind } from '../api/kind.ts';
import type { AddressHolder } from '../api/netloom.io/address-block.ts';
import { AddressClaim } from '../api/netloom.io/address-claim.ts';
import { IPSet } from '../api/network.openstack.org/ipset.ts';
import { Reservation } from '../api/network.openstack.org/reservation.ts';
import { onRecord } from './on-record.ts';

/** Somebody who asks for exactly one address. */
export interface Applicant {
  readonly namespace: string;
  readonly kind: string;
  readonly name: string;
}

/**
 * Who has the address and is there to stay. Whoever is being deleted, or gone already, is about to give it back; and what cools
 * down comes free: one may wait for that. An IPSet takes over what the Reservation of its name has. Reads the one block that says who has the address.
 */
export async function whoHas(
  address: Address,
  applicant: Applicant,
  live: LiveReader,
): Promise<AddressHolder | undefined> {
  const { namespace } = applicant;
  const holding = await onRecord(address, namespace, live);
  if (holding === undefined || holding.coolsUntil !== undefined || isOwn(holding.holder, applicant)) return undefined;
  const { holder } = holding;
  const kind = HOLDERS.find((one) => one.group === (holder.apiGroup ?? '') && one.kind === holder.kind);
  // Of a kind that nobody here knows: that it holds the address is all that can be said.
  if (kind === undefined) return holder;
  const object = await live.get(kind, holder.name, holder.namespace ?? namespace);
  const stays = object?.metadata.uid === holder.uid && object.metadata.deletionTimestamp === undefined;
  return stays ? holder : undefined;
}

/** Why an address that somebody has is not given to another one who asks for it, and what would help. */
export function takenText({ kind, namespace, name }: AddressHolder): string {
  const where = namespace === undefined ? '' : ` in namespace ${namespace}`;
  return `the address is held by ${kind}/${name}${where}: ask for another one or for any, or delete ${kind}/${name} first`;
}

/** Held under its own name: by itself, or by the Reservation that it inherits from. */
const isOwn = (holder: AddressHolder, { kind, name }: Applicant): boolean =>
  holder.name === name && (holder.kind === kind || (kind === IPSet.kind && holder.kind === Reservation.kind));

const HOLDERS: readonly Kind[] = [IPSet, Reservation, AddressClaim, Service];
