import { namedRanges } from '../api/metallb.io/address-ranges.ts';
import { IPAddressPool } from '../api/metallb.io/ip-address-pool.ts';
import type { AddressRange } from '../api/prefix.ts';
import type { Caches } from '../runtime/cache.ts';

/** The ranges from which somebody else gives addresses: hosts get none of theirs unless they ask for it by number. */
export interface KeptOut {
  readonly ranges: readonly AddressRange[];
  /** Changes when the ranges may have changed. */
  readonly version: string;
}

export function keptOut(caches: Caches): KeptOut {
  const pools = caches.of(IPAddressPool).list();
  return {
    ranges: pools.flatMap(({ metadata, spec }) => namedRanges(metadata.name, spec.addresses)),
    version: pools
      .map(({ metadata: { uid, generation } }) => `${uid} ${generation}`)
      .sort()
      .join(),
  };
}
