import { type Address, compareAddresses, type Family } from '../api/address.ts';
import { type AddressRange, rangeText } from '../api/prefix.ts';
import { type FreeSpace, givableIn, isGivable } from './free-space.ts';
import { type Selection, segmentsOf } from './segments.ts';
import { Vacancies } from './vacancies.ts';

/** Where addresses are taken from for those who ask for any: ranges in order of preference, less what is excluded. */
export class Pool {
  readonly family: Family;
  readonly ranges: readonly AddressRange[];
  /** Disjoint, in order of preference. */
  readonly #segments: readonly AddressRange[];
  /** The places in `#segments`, by address. */
  readonly #byAddress: readonly number[];
  /** The places in `#segments` where an address may be free; one that turns out to be full is closed. */
  readonly #open = new Vacancies();

  constructor(selection: Selection) {
    this.family = selection.family;
    this.ranges = selection.ranges;
    this.#segments = segmentsOf(selection);
    this.#byAddress = this.#segments
      .map((segment, place) => ({ segment, place }))
      .sort((a, b) => compareAddresses(a.segment.first, b.segment.first))
      .map(({ place }) => place);
  }

  /** The first free address, without taking it. */
  lowestFree(space: FreeSpace): Address | undefined {
    for (let place = this.#open.next(0); ; place = this.#open.next(place)) {
      const segment = this.#segments[place];
      if (segment === undefined) return undefined;
      const address = space.lowest(segment.first, segment.last);
      if (address !== undefined) return address;
      this.#open.close(place);
    }
  }

  /** How many addresses the ranges have, whether they are given or not. */
  get span(): bigint {
    return segmentsOf({ family: this.family, ranges: this.ranges, excluded: [] }).reduce(
      (sum, { first, last }) => sum + last.value - first.value + 1n,
      0n,
    );
  }

  /** How many addresses there are for those who ask for any. */
  get capacity(): bigint {
    return this.#segments.reduce((sum, segment) => sum + givableIn(segment), 0n);
  }

  /** Whether the address is one of those. */
  gives(address: Address): boolean {
    return isGivable(address) && this.contains(address);
  }

  contains(address: Address): boolean {
    return this.#placeOf(address) !== undefined;
  }

  /** Must be called for every address that becomes free. */
  becameFree(address: Address): void {
    const place = this.#placeOf(address);
    if (place !== undefined) this.#open.open(place);
  }

  toString(): string {
    return this.ranges.map(rangeText).join(', ');
  }

  #placeOf(address: Address): number | undefined {
    let from = 0;
    let to = this.#byAddress.length;
    while (from < to) {
      const middle = (from + to) >> 1;
      const place = this.#byAddress[middle];
      const segment = place === undefined ? undefined : this.#segments[place];
      if (segment === undefined) return undefined;
      if (compareAddresses(address, segment.first) < 0) to = middle;
      else if (compareAddresses(address, segment.last) > 0) from = middle + 1;
      else return place;
    }
    return undefined;
  }
}
