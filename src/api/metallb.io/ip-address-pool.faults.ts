import type { FieldError } from '../status.ts';
import { addressRange, type NamedRange, overlappingRanges } from './address-ranges.ts';
import type { IPAddressPool } from './ip-address-pool.ts';
import { nameFaults, selectorFaults } from './shapes.ts';

/** Everything that is wrong with a pool by itself. */
export function poolFaults({ metadata, spec }: IPAddressPool): FieldError[] {
  // Finalizers must come off even when the rules were stricter than the object from the start.
  if (metadata.deletionTimestamp !== undefined) return [];
  const { namespaces, namespaceSelectors, serviceSelectors } = spec.serviceAllocation ?? {};
  const at = 'spec.serviceAllocation';
  return [
    ...addressFaults(metadata.name, spec.addresses),
    ...nameFaults(namespaces, `${at}.namespaces`, 'duplicate definition in namespaces field'),
    ...selectorFaults(namespaceSelectors, `${at}.namespaceSelectors`),
    ...selectorFaults(serviceSelectors, `${at}.serviceSelectors`),
  ];
}

/** How MetalLB says that two ranges overlap, whichever pools they are of. */
export const overlapDetail = (range: NamedRange, before: NamedRange): string =>
  `CIDR "${range.text}" in pool "${range.pool}" overlaps with already defined CIDR "${before.text}"${before.pool === range.pool ? '' : ` of pool "${before.pool}"`}`;

function addressFaults(pool: string, addresses: readonly string[]): FieldError[] {
  if (addresses.length === 0) {
    const detail = `parsing address pool ${pool}: pool has no prefixes defined`;
    return [{ type: 'Required', field: 'spec.addresses', detail }];
  }
  const faults: FieldError[] = [];
  const ranges: (NamedRange & { place: number })[] = [];
  for (const [place, text] of addresses.entries()) {
    const range = addressRange(text);
    if (typeof range === 'string') {
      faults.push(invalid(place, text, `invalid CIDR "${text}" in pool "${pool}": ${range}`));
    } else {
      ranges.push({ text, pool, place, first: range.first, last: range.last });
    }
  }
  for (const { range, before } of overlappingRanges(ranges)) {
    const [later, earlier] = range.place > before.place ? [range, before] : [before, range];
    faults.push(invalid(later.place, later.text, overlapDetail(later, earlier)));
  }
  return faults;
}

const invalid = (place: number, value: string, detail: string): FieldError => ({
  type: 'Invalid',
  field: `spec.addresses[${place}]`,
  value,
  detail,
});
