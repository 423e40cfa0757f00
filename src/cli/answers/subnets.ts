import { Address } from '../../api/address.ts';
import { subnetFaults } from '../../api/network.openstack.org/netconfig.faults.ts';
import type { NetConfig } from '../../api/network.openstack.org/netconfig.ts';
import { sameName } from '../../api/network.openstack.org/shapes.ts';
import { type AddressRange, Prefix } from '../../api/prefix.ts';
import { Subnet as SubnetOfNetConfig } from '../../ipam/networks.ts';
import { FreeSpace } from '../../ledger/free-space.ts';
import { Pool } from '../../ledger/pool.ts';
import { segmentsOf } from '../../ledger/segments.ts';

/** A subnet of a NetConfig with the answers that its allocator would give. */
export class Subnet extends SubnetOfNetConfig {
  /** Whether somebody who asks for any address may get this one, once it is free. */
  givesFreely(address: Address): boolean {
    return this.pool.contains(address) && new FreeSpace(address.family).isFree(address);
  }

  roleOf(address: Address): 'network' | 'broadcast' | 'gateway' | undefined {
    const { family, length, first, last } = this.prefix;
    if (this.gateway?.equals(address) === true) return 'gateway';
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
    const { family, first, last } = this.prefix;
    const never = (this.definition.excludeAddresses ?? []).flatMap((text) => Address.parse(text) ?? []);
    for (const address of [first, last, this.gateway]) {
      if (address !== undefined && this.roleOf(address) !== undefined) never.push(address);
    }
    const excluded = never.map((address) => ({ first: address, last: address }));
    const selection = { family, ranges, excluded };
    const space = new FreeSpace(family);
    const pool = new Pool(selection);
    const taken = new Map(held.map((address) => [address.value, address]));
    const counted = [...taken.values()].filter((address) => pool.contains(address) && space.isFree(address));
    for (const address of taken.values()) space.take(address);
    const size = sizeOf(segmentsOf({ ...selection, excluded: [] }));
    const givable = segmentsOf(selection);
    const total = sizeOf(givable) - neverGiven(givable);
    const next = pool.lowestFree(space);
    return {
      total,
      withheld: size - total,
      held: counted.length,
      free: total - BigInt(counted.length),
      ...(next === undefined ? {} : { next }),
    };
  }
}

export interface Capacity {
  /** What can be given to those who ask for any address. */
  readonly total: bigint;
  /** In the ranges, but excluded, the gateway, or of a number that is not given unasked. */
  readonly withheld: bigint;
  readonly held: number;
  readonly free: bigint;
  /** The next one to be given. */
  readonly next?: Address;
}

/** The subnets that addresses can be given from; those with faults are none. */
export const subnetsOf = ({ spec }: NetConfig): Subnet[] =>
  spec.networks.flatMap((network) =>
    network.subnets.flatMap((definition) => {
      const prefix = Prefix.parse(definition.cidr);
      const isUsable = prefix !== undefined && subnetFaults(definition, '').length === 0;
      return isUsable ? [new Subnet(network, definition, prefix)] : [];
    }),
  );

export const findSubnet = (netConfig: NetConfig, network: string, subnet: string): Subnet | undefined =>
  subnetsOf(netConfig).find((each) => sameName(each.network.name, network) && sameName(each.definition.name, subnet));

const sizeOf = (ranges: readonly AddressRange[]): bigint =>
  ranges.reduce((sum, { first, last }) => sum + last.value - first.value + 1n, 0n);

/** How many end in 0, as FreeSpace has it: they are given to those only who ask for exactly them. */
function neverGiven(ranges: readonly AddressRange[]): bigint {
  return ranges.reduce((sum, { first, last }) => {
    const every = first.family === 4 ? 1n << 8n : 1n << 16n;
    return sum + last.value / every - (first.value + every - 1n) / every + 1n;
  }, 0n);
}
