import { Address } from '../api/address.ts';
import { AddressBlock, blockName, blockPrefix } from '../api/netloom.io/address-block.ts';
import { AddressClaim } from '../api/netloom.io/address-claim.ts';
import { modified } from '../api/status.ts';
import type { Holding } from '../ledger/space.ts';
import type { Client } from '../runtime/client.ts';
import type { Allotment } from './allocator.ts';
import { UNDERLAY } from './environment.ts';

/** On a claim: it stays until its address is given back. */
export const CLAIM_FINALIZER = { name: 'netloom.io/addressclaim' };

/** Before a claim hears that somebody else has its address: the record of it is looked up at the server. */
export async function requireThatClaimLost({ metadata, status }: AddressClaim, client: Client): Promise<void> {
  const address = Address.parse(status?.address ?? '');
  if (address === undefined) return;
  const block = await client.get(AddressBlock, blockName(UNDERLAY, blockPrefix(address)), metadata.namespace);
  const holding = block?.spec.holdings.find((each) => each.address === address.toString());
  if (holding === undefined || holding.holder.uid === metadata.uid) throw modified(AddressBlock, `of ${address}`);
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
