import { Address, compareAddresses, type Family } from '../api/address.ts';
import type { AddressRange } from '../api/prefix.ts';
import { Vacancies } from './vacancies.ts';

/**
 * Which addresses of a family may be given to somebody who asks for any. Those that end in 0 (IPv6: in 16 zero bits)
 * never are: too many programs and people take them for networks.
 */
export class FreeSpace {
  readonly #family: Family;
  /** The high part of an address → its low parts. */
  readonly #regions = new Map<bigint, Vacancies>();
  /** Stands for every region of which nothing was ever taken. */
  readonly #untouched: Vacancies;

  constructor(family: Family) {
    this.#family = family;
    this.#untouched = this.#newRegion();
  }

  isFree({ high, low }: Address): boolean {
    return this.#region(high).isOpen(low);
  }

  take({ high, low }: Address): void {
    let region = this.#regions.get(high);
    if (region === undefined) {
      region = this.#newRegion();
      this.#regions.set(high, region);
    }
    region.close(low);
  }

  giveBack({ high, low }: Address): void {
    this.#regions.get(high)?.open(low);
  }

  /** The lowest free address from `first` to `last`, both included. */
  lowest(first: Address, last: Address): Address | undefined {
    let from = first;
    while (compareAddresses(from, last) <= 0) {
      const low = this.#region(from.high).next(from.low);
      if (low < REGION_SIZE) {
        const address = new Address(this.#family, from.high, low);
        return compareAddresses(address, last) <= 0 ? address : undefined;
      }
      // The rest of a region can be full, a whole one never: there are too many addresses in it.
      from = new Address(this.#family, from.high + 1n, 0);
    }
    return undefined;
  }

  #region(high: bigint): Vacancies {
    return this.#regions.get(high) ?? this.#untouched;
  }

  #newRegion(): Vacancies {
    return this.#family === 4 ? new Vacancies(() => true) : new Vacancies((group) => group % 256 === 0);
  }
}

/** Whether somebody who asks for any address may ever get this one, as far as its number goes. */
export const isGivable = ({ family, low }: Address): boolean => low % STEP[family] !== 0;

/** How many such addresses a range has. */
export function givableIn({ first, last }: AddressRange): bigint {
  const step = BigInt(STEP[first.family]);
  const never = last.value / step - (first.value + step - 1n) / step + 1n;
  return last.value - first.value + 1n - never;
}

/** How far it is from one address that is never free to the next. */
const STEP: Readonly<Record<Family, number>> = { 4: 256, 6: 65_536 };

const REGION_SIZE = 2 ** 48;
