import type { Address } from '../../api/address.ts';
import { subnetFaults } from '../../api/network.openstack.org/netconfig.faults.ts';
import type { NetConfig } from '../../api/network.openstack.org/netconfig.ts';
import { sameName } from '../../api/network.openstack.org/shapes.ts';
import { type AddressRange, Prefix } from '../../api/prefix.ts';
import { KeptBack } from '../../ipam/kept-back.ts';
import { Subnet as SubnetOfNetConfig } from '../../ipam/networks.ts';
import { FreeSpace } from '../../ledger/free-space.ts';
import { Pool } from '../../ledger/pool.ts';

/** A subnet of a NetConfig with the answers that its allocator would give. */
export class Subnet extends SubnetOfNetConfig {
  roleOf(address: Address): 'network' | 'broadcast' | 'gateway' | 'nexthop' | undefined {
    const { family, length, first, last } = this.prefix;
    if (this.gateway?.equals(address) === true) return 'gateway';
    if (this.isNexthop(address)) return 'nexthop';
    if (length > (family === 4 ? 30 : 126)) return undefined;
    if (address.equals(first)) return 'network';
    return family === 4 && address.equals(last) ? 'broadcast' : undefined;
  }

  /** How much of its ranges is taken. */
  capacity(held: readonly Address[]): Capacity {
    return this.#capacityOf(this.pool.ranges, held);
  }

  /** The same, if all of the subnet were one allocation range. */
  capacityOfAll(held: readonly Address[]): Capacity {
    return this.#capacityOf([this.prefix], held);
  }

  #capacityOf(ranges: readonly AddressRange[], held: readonly Address[]): Capacity {
    const { family } = this.prefix;
    const pool = new Pool({ family, ranges, excluded: this.withheld });
    const space = new FreeSpace(family);
    const taken = new Map(held.map((address) => [address.value, address]));
    for (const address of taken.values()) space.take(address);
    const counted = [...taken.values()].filter((address) => pool.gives(address)).length;
    const total = pool.capacity;
    const next = pool.lowestFree(space);
    return {
      total,
      withheld: pool.span - total,
      held: counted,
      free: total - BigInt(counted),
      ...(next === undefined ? {} : { next }),
    };
  }
}

export interface Capacity {
  /** What can be given to those who ask for any address. */
  readonly total: bigint;
  /** In the ranges, but excluded, the gateway, in a pool for Services, or of a number that is not given unasked. */
  readonly withheld: bigint;
  readonly held: number;
  readonly free: bigint;
  /** The next one to be given. */
  readonly next?: Address;
}

/**
 * The subnets that addresses can be given from; those with faults are none. Of `keptOut`, the ranges of pools, hosts are
 * given only what they ask for by number.
 */
export function subnetsOf(netConfig: NetConfig, keptOut: readonly AddressRange[] = []): Subnet[] {
  const keptBack = new KeptBack(netConfig, keptOut);
  return netConfig.spec.networks.flatMap((network) =>
    network.subnets.flatMap((definition) => {
      const prefix = Prefix.parse(definition.cidr);
      const isUsable = prefix !== undefined && subnetFaults(definition, '').length === 0;
      return isUsable ? [new Subnet(network, definition, prefix, keptBack)] : [];
    }),
  );
}

export const findSubnet = (
  netConfig: NetConfig,
  { network, subnet }: { readonly network: string; readonly subnet: string },
  keptOut: readonly AddressRange[] = [],
): Subnet | undefined =>
  subnetsOf(netConfig, keptOut).find(
    (each) => sameName(each.network.name, network) && sameName(each.definition.name, subnet),
  );
