import { Address, type Family } from '../api/address.ts';
import type { AddressRange } from '../api/prefix.ts';
import { Vacancies } from './vacancies.ts';

export interface Selection {
  readonly family: Family;
  /** May overlap; an address that lies in several belongs to the first of them. */
  readonly ranges: readonly AddressRange[];
  readonly excluded: readonly AddressRange[];
}

/** What is left of the ranges: disjoint pieces, those of the first range first, ascending within a range. */
export function segmentsOf(selection: Selection): AddressRange[] {
  return pieces(selection)
    .sort((a, b) => a.range - b.range || (a.first.value < b.first.value ? -1 : 1))
    .map(({ first, last }) => ({ first, last }));
}

/** Passes every border once, from the lowest to the highest, and keeps book of what it is in. */
function pieces({ family, ranges, excluded }: Selection): Piece[] {
  const sorted = [...borders(ranges, 'range'), ...borders(excluded, 'hole')].sort((a, b) =>
    a.at < b.at ? -1 : Number(a.at > b.at),
  );
  /** Open are the ranges that we are in. */
  const inside = new Vacancies();
  for (let range = 0; range < ranges.length; range += 1) inside.close(range);
  let holes = 0;
  const found: Piece[] = [];
  for (const [i, { at, of, enters, number }] of sorted.entries()) {
    if (of === 'hole') holes += enters ? 1 : -1;
    else if (enters) inside.open(number);
    else inside.close(number);
    const next = sorted[i + 1];
    const range = inside.next(0);
    if (next === undefined || next.at === at || holes > 0 || range >= ranges.length) continue;
    const last = Address.of(family, next.at - 1n);
    const previous = found.at(-1);
    if (previous?.range === range && previous.last.value === at - 1n) previous.last = last;
    else found.push({ range, first: Address.of(family, at), last });
  }
  return found;
}

const borders = (ranges: readonly AddressRange[], of: Border['of']): Border[] =>
  ranges.flatMap(({ first, last }, number) => [
    { at: first.value, of, enters: true, number },
    { at: last.value + 1n, of, enters: false, number },
  ]);

interface Border {
  at: bigint;
  of: 'range' | 'hole';
  enters: boolean;
  /** Which range, in the order in which they are listed. */
  number: number;
}

interface Piece {
  range: number;
  first: Address;
  last: Address;
}
