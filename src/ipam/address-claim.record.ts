import { AddressClaim } from '../api/netloom.io/address-claim.ts';
import type { Holding } from '../ledger/space.ts';
import type { Client } from '../runtime/client.ts';
import type { Allotment } from './allocator.ts';
import { promisedTo } from './applicant.ts';
import { requireLoss } from './on-record.ts';

/** On a claim: it stays until its address is given back. */
export const CLAIM_FINALIZER = { name: 'netloom.io/addressclaim' };

/** Before a claim hears that somebody else has its address: the server must have it on record so. */
export async function requireThatClaimLost(
  claim: AddressClaim,
  { reserved }: Pick<Allotment, 'reserved'>,
  client: Client,
): Promise<void> {
  const kept = reserved.map(({ address }) => address);
  for (const { address: promised } of promisedTo(claim)) await requireLoss({ promised, kept }, claim.metadata, client);
}

/** What a claim holds and does not use, by the newest that its status says: two that lead may each have given it an address. */
export async function surplusOf(
  { metadata: { name, namespace, uid } }: AddressClaim,
  { surplus }: Pick<Allotment, 'surplus'>,
  client: Client,
): Promise<Holding[]> {
  if (surplus.length === 0) return [];
  const newest = await client.get(AddressClaim, name, namespace);
  const used = newest?.status?.address;
  if (newest?.metadata.uid !== uid || used === undefined) return [];
  return surplus.filter(({ address }) => address.toString() !== used);
}
