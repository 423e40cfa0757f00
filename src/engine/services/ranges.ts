import { Address } from '../../api/address.ts';
import { Prefix } from '../../api/prefix.ts';

export interface ServiceRanges {
  /** What ClusterIPs are taken from: one network, or one of each family, the preferred first. */
  readonly networks: readonly Prefix[];
  readonly nodePorts: PortRange;
}

/** From the first to the last, both included. */
export interface PortRange {
  readonly first: number;
  readonly last: number;
}

/** As in most clusters: 10.96.0.0/16. */
export const USUAL_RANGES: ServiceRanges = {
  networks: [new Prefix(new Address(4, 0n, 0x0a_60_00_00), 16)],
  nodePorts: { first: 30_000, last: 32_767 },
};
