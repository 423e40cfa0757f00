import { Address } from '../api/address.ts';
import type { LiveReader } from '../api/admission.ts';
import { AddressBlock, type AddressHolding, blockName, blockPrefix } from '../api/netloom.io/address-block.ts';
import type { ObjectMeta } from '../api/object.ts';
import { modified } from '../api/status.ts';
import { UNDERLAY } from './environment.ts';

/** What the server itself has on record for an address: caches may be behind. */
export async function onRecord(
  address: Address,
  namespace: string | undefined,
  live: LiveReader,
): Promise<AddressHolding | undefined> {
  const block = await live.get(AddressBlock, blockName(UNDERLAY, blockPrefix(address)), namespace);
  const text = address.toString();
  return block?.spec.holdings.find((holding) => holding.address === text);
}

export interface Loss {
  /** What was promised to it, as it is written. */
  readonly promised: string;
  /** What it keeps instead. */
  readonly kept: readonly Address[];
}

/**
 * Before somebody is told that it does not get what was promised to it: another one must have that on record, or it something in its
 * place.
 * @throws ApiError when the server has it otherwise on record than we know, and one should look again
 */
export async function requireLoss({ promised, kept }: Loss, of: ObjectMeta, live: LiveReader): Promise<void> {
  const isOwn = async (address: Address): Promise<boolean | undefined> => {
    const holding = await onRecord(address, of.namespace, live);
    return holding === undefined ? undefined : holding.holder.uid === of.uid;
  };
  const lost = Address.parse(promised);
  if (lost !== undefined) {
    const own = await isOwn(lost);
    if (own === true || (own === undefined && kept.length === 0)) throw modified(AddressBlock, `of ${lost}`);
  }
  for (const address of kept) {
    if ((await isOwn(address)) !== true) throw modified(AddressBlock, `of ${address}`);
  }
}
