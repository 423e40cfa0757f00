import type { IPAddressPool } from '../api/metallb.io/ip-address-pool.ts';
import type { L2Advertisement } from '../api/metallb.io/l2-advertisement.ts';
import { selectorOf } from '../api/metallb.io/shapes.ts';

/** The advertisements that make the addresses of a pool known. */
export const advertising = (
  { metadata: { name, labels } }: IPAddressPool,
  advertisements: readonly L2Advertisement[],
): L2Advertisement[] =>
  advertisements.filter(({ metadata, spec }) => {
    if (metadata.deletionTimestamp !== undefined) return false;
    const { ipAddressPools = [], ipAddressPoolSelectors = [] } = spec;
    if (ipAddressPools.length === 0 && ipAddressPoolSelectors.length === 0) return true;
    return ipAddressPools.includes(name) || ipAddressPoolSelectors.some((one) => selectorOf(one).matches(labels));
  });
