import { compareAddresses } from '../api/address.ts';
import { type NamedRange, namedRanges } from '../api/metallb.io/address-ranges.ts';
import type { IPAddressPool } from '../api/metallb.io/ip-address-pool.ts';
import { type AddressRange, rangeText } from '../api/prefix.ts';
import type { Networks, Subnet } from './networks.ts';

/** Where subnets give addresses to hosts that pools give to Services, a phrase each: `RANGE of network N/S overlaps RANGE of pool P`. */
export function overlaps({ subnets }: Networks, pools: readonly IPAddressPool[]): string[] {
  const given = subnets.flatMap((subnet) => subnet.pool.ranges.map((range) => ({ ...range, subnet })));
  const pooled = pools.flatMap(({ metadata, spec }) => namedRanges(metadata.name, spec.addresses));
  const phrases = meetings(given, pooled).map(
    ([ours, theirs]) => `${textOf(ours)} overlaps ${rangeText(theirs)} of pool ${theirs.pool}`,
  );
  return [...new Set(phrases)];
}

type GivenRange = AddressRange & { readonly subnet: Subnet };

const textOf = ({ subnet: { network, definition }, ...range }: GivenRange): string =>
  `${rangeText(range)} of network ${network.name}/${definition.name}`;

/**
 * Every range that overlaps one of the other side, with one of those: in a pass over all of them in the order of their
 * beginnings it is enough to know, for either side, which one of those before reaches farthest.
 */
function meetings(given: readonly GivenRange[], pooled: readonly NamedRange[]): [GivenRange, NamedRange][] {
  const all = [
    ...given.map((range) => ({ side: 'given' as const, range })),
    ...pooled.map((range) => ({ side: 'pooled' as const, range })),
  ].sort((a, b) => byBeginning(a.range, b.range));
  const found: [GivenRange, NamedRange][] = [];
  let ours: GivenRange | undefined;
  let theirs: NamedRange | undefined;
  for (const entry of all) {
    if (entry.side === 'given') {
      if (theirs !== undefined && reaches(theirs, entry.range)) found.push([entry.range, theirs]);
      ours = farther(ours, entry.range);
    } else {
      if (ours !== undefined && reaches(ours, entry.range)) found.push([ours, entry.range]);
      theirs = farther(theirs, entry.range);
    }
  }
  return found;
}

const byBeginning = (a: AddressRange, b: AddressRange): number => compareAddresses(a.first, b.first);

/** Of a range that does not begin after the other one. */
const reaches = (before: AddressRange, range: AddressRange): boolean =>
  before.last.family === range.first.family && compareAddresses(before.last, range.first) >= 0;

const farther = <R extends AddressRange>(known: R | undefined, range: R): R =>
  known !== undefined && compareAddresses(known.last, range.last) > 0 ? known : range;
