import { Address } from '../address.ts';
import { type AddressRange, Prefix } from '../prefix.ts';

/** What an entry of `spec.addresses` means: a CIDR, whose host bits do not count, or `first-last`. Or why it means nothing. */
export function addressRange(text: string): AddressRange | string {
  const dash = text.indexOf('-');
  if (dash < 0) {
    return (
      Prefix.parse(text) ??
      `invalid CIDR "${text}": write it like 192.168.10.0/24, or as a range like 192.168.10.1-192.168.10.9; a single address is written with /32 or /128`
    );
  }
  const [start, end] = [text.slice(0, dash).trim(), text.slice(dash + 1).trim()];
  const first = Address.parse(start);
  if (first === undefined) return `invalid IP range "${text}": invalid start IP "${start}"`;
  const last = Address.parse(end);
  if (last === undefined) return `invalid IP range "${text}": invalid end IP "${end}"`;
  if (first.family !== last.family) {
    return `invalid IP range "${text}": start IP "${start}" is IPv${first.family} and end IP "${end}" is IPv${last.family}`;
  }
  if (first.value > last.value) {
    return `invalid IP range "${text}": start IP "${start}" is after the end IP "${end}"`;
  }
  return { first, last };
}

/** A range, and what was written to mean it. */
export interface NamedRange extends AddressRange {
  readonly text: string;
  readonly pool: string;
}

/** The ranges of a pool that can be understood, in the order in which they are written. */
export const namedRanges = (pool: string, addresses: readonly string[]): NamedRange[] =>
  addresses.flatMap((text) => {
    const range = addressRange(text);
    return typeof range === 'string' ? [] : [{ text, pool, first: range.first, last: range.last }];
  });

/** Every range that overlaps one that begins before it, with that one; in one pass over the ranges. */
export function overlappingRanges<R extends AddressRange>(ranges: readonly R[]): { range: R; before: R }[] {
  const sorted = [...ranges].sort(
    (a, b) =>
      a.first.family - b.first.family || compare(a.first.value, b.first.value) || compare(a.last.value, b.last.value),
  );
  const found: { range: R; before: R }[] = [];
  let reach: R | undefined;
  for (const range of sorted) {
    if (reach !== undefined && reach.first.family === range.first.family && range.first.value <= reach.last.value) {
      found.push({ range, before: reach });
      if (range.last.value <= reach.last.value) continue;
    }
    reach = range;
  }
  return found;
}

const compare = (a: bigint, b: bigint): number => (a < b ? -1 : Number(a > b));
