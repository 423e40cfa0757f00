import { IPAddressPool } from '../../../src/api/metallb.io/ip-address-pool.ts';
import { AddressBlock } from '../../../src/api/netloom.io/address-block.ts';
import { NetConfig } from '../../../src/api/network.openstack.org/netconfig.ts';
import { Books } from './books.ts';
import { addressesBetween, addressesOf, familyOf, NEVER_GIVEN } from './facts.ts';
import type { Sight } from './sight.ts';

/** Where a NetConfig tells other numbers than one gets by counting. */
export function fullnessFaults(sight: Sight): string[] {
  const books = new Books(sight);
  const pools = new Set(sight.stored(IPAddressPool).flatMap(addressesOf));
  return sight.stored(NetConfig).flatMap(({ metadata: { namespace }, spec, status }) =>
    spec.networks.flatMap(({ name: network, subnets }) =>
      subnets.flatMap(({ name, allocationRanges, excludeAddresses = [] }) => {
        const given = allocationRanges
          .flatMap(({ start, end }) => addressesBetween(start, end))
          .filter((one) => !NEVER_GIVEN.has(one) && !pools.has(one) && !excludeAddresses.includes(one));
        const free = given.filter((one) => books.holding(`${namespace}/underlay`, one) === undefined);
        const counted = { total: given.length, held: given.length - free.length, free: free.length };
        const said = status?.subnets?.find((one) => one.network === network && one.subnet === name);
        const told = { total: said?.total, held: said?.held, free: said?.free };
        return differing(`NetConfig ${namespace}: subnet ${network}/${name}`, told, counted);
      }),
    ),
  );
}

/** The same of pools. */
export function givenPoolFaults(sight: Sight): string[] {
  const blocks = sight.stored(AddressBlock);
  const used = new Set<string>();
  const taken = new Set<string>();
  const from = new Map<string, string[]>();
  for (const { spec } of blocks) {
    for (const { address, holder, network } of spec.holdings) {
      if (spec.space === 'vips') {
        used.add(address);
        from.set(network, [...(from.get(network) ?? []), address]);
      }
      if (spec.space === 'vips' || holder.kind !== 'Service') taken.add(address);
    }
  }
  return sight.stored(IPAddressPool).flatMap((pool) => {
    const { name, deletionTimestamp } = pool.metadata;
    const assigned = from.get(name) ?? [];
    if (deletionTimestamp !== undefined && assigned.length === 0)
      return [`IPAddressPool ${name} does not come to its end`];
    const usable = addressesOf(pool).filter((one) => !(pool.spec.avoidBuggyIPs && /\.(0|255)$/.test(one)));
    const left = usable.filter((one) => !taken.has(one));
    const count = (addresses: readonly string[], family: number): number =>
      addresses.filter((one) => familyOf(one) === family).length;
    const families = ([4, 6] as const).flatMap((family) => {
      const total = count(usable, family);
      const excluded = count(addressesOf(pool), family) - total;
      const free = count(left, family);
      return total === 0 ? [] : [{ family: `IPv${family}`, total, held: total - free, free, excluded }];
    });
    const counted = {
      assignedIPv4: count(assigned, 4),
      assignedIPv6: count(assigned, 6),
      availableIPv4: count(left, 4),
      availableIPv6: count(left, 6),
      families,
    };
    const { assignedIPv4, assignedIPv6, availableIPv4, availableIPv6, families: said } = pool.status ?? {};
    const told = {
      assignedIPv4,
      assignedIPv6,
      availableIPv4,
      availableIPv6,
      families: said?.map(({ next: _, ...numbers }) => numbers),
    };
    return differing(`IPAddressPool ${name}`, told, counted);
  });
}

/** Where others give from the pools, we leave them alone. */
export const foreignPoolFaults = (sight: Sight): string[] =>
  sight
    .stored(IPAddressPool)
    .flatMap(({ metadata: { name, finalizers = [] }, status }) =>
      finalizers.length > 0 || status !== undefined ? [`IPAddressPool ${name} is MetalLB's, and we wrote to it`] : [],
    );

function differing(what: string, told: object, counted: object): string[] {
  const [said, is] = [JSON.stringify(told), JSON.stringify(counted)];
  return said === is ? [] : [`${what} says ${said}, and it is ${is}`];
}
