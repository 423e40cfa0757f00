import { Address, bitsOf, compareAddresses, type Family } from './address.ts';

/** A network: every address that begins with the same bits. */
export class Prefix {
  readonly family: Family;
  readonly length: number;
  readonly first: Address;
  readonly last: Address;

  /** The prefix of this length that `member` lies in. */
  constructor(member: Address, length: number) {
    const hostBits = BigInt(bitsOf(member.family) - length);
    const first = (member.value >> hostBits) << hostBits;
    this.family = member.family;
    this.length = length;
    this.first = Address.of(member.family, first);
    this.last = Address.of(member.family, first + (1n << hostBits) - 1n);
  }

  /** Host bits may be set: `10.0.0.5/24` is `10.0.0.0/24`. */
  static parse(text: string): Prefix | undefined {
    const slash = text.indexOf('/');
    if (slash < 0) return undefined;
    const address = Address.parse(text.slice(0, slash));
    const digits = text.slice(slash + 1);
    if (address === undefined || !/^(0|[1-9]\d{0,2})$/.test(digits)) return undefined;
    const length = Number(digits);
    return length <= bitsOf(address.family) ? new Prefix(address, length) : undefined;
  }

  contains(address: Address): boolean {
    return compareAddresses(address, this.first) >= 0 && compareAddresses(address, this.last) <= 0;
  }

  overlaps(other: Prefix): boolean {
    return this.contains(other.first) || other.contains(this.first);
  }

  equals(other: Prefix): boolean {
    return this.length === other.length && this.first.equals(other.first);
  }

  toString(): string {
    return `${this.first}/${this.length}`;
  }
}

/** From the first to the last address, both included; never empty. */
export interface AddressRange {
  readonly first: Address;
  readonly last: Address;
}

export const rangeText = ({ first, last }: AddressRange): string =>
  first.equals(last) ? `${first}` : `${first}-${last}`;
