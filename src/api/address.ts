export type Family = 4 | 6;
export const bitsOf = (family: Family): number => (family === 4 ? 32 : 128);

/**
 * An IPv4 or IPv6 address. Text becomes one at the edge, once; two are the same when family and value are. Kept in two parts,
 * because numbers are several times as fast as bigints.
 */
export class Address {
  readonly family: Family;
  /** All but the last 48 bits; always 0n for IPv4. */
  readonly high: bigint;
  /** The last 48 bits. */
  readonly low: number;

  /** The parts must be within the family: text goes through `Address.parse`. */
  constructor(family: Family, high: bigint, low: number) {
    this.family = family;
    this.high = high;
    this.low = low;
  }

  static of(family: Family, value: bigint): Address {
    return family === 4 ? new Address(4, 0n, Number(value)) : new Address(6, value >> 48n, Number(value & LOW_MASK));
  }

  get value(): bigint {
    return this.family === 4 ? BigInt(this.low) : (this.high << 48n) | BigInt(this.low);
  }

  /**
   * Strict, so that an address has few spellings: decimal octets without leading zeros, no zone, and no IPv4 inside
   * `::ffff:0:0/96`, which some programs take for the IPv4 address and others for an IPv6 one.
   */
  static parse(text: string): Address | undefined {
    if (text.includes(':')) {
      const value = parseIpv6(text);
      return value === undefined || isIpv4Mapped(value) ? undefined : Address.of(6, value);
    }
    const value = parseIpv4(text);
    return value === undefined ? undefined : new Address(4, 0n, value);
  }

  /** The next higher address; nothing after the last one of the family. */
  get next(): Address | undefined {
    return this.value === highest(this.family) ? undefined : Address.of(this.family, this.value + 1n);
  }

  equals(other: Address): boolean {
    return this.low === other.low && this.high === other.high && this.family === other.family;
  }

  /** Canonical: dotted decimal, or RFC 5952. */
  toString(): string {
    return this.family === 4 ? ipv4Text(this.low) : ipv6Text(this.value);
  }
}

/** IPv4 before IPv6, then by value: for sorting. */
export function compareAddresses(a: Address, b: Address): number {
  if (a.family !== b.family) return a.family - b.family;
  if (a.high !== b.high) return a.high < b.high ? -1 : 1;
  return a.low - b.low;
}

/** Why text is not an address, to be read after the text. */
export function addressFault(text: string): string {
  if (text.includes('%')) return 'is not an IP address: a zone (%...) has no meaning here, leave it out';
  const mapped = text.includes(':') ? parseIpv6(text) : undefined;
  if (mapped !== undefined) return `is IPv4 written as IPv6: write it as ${ipv4Text(Number(mapped & 0xffff_ffffn))}`;
  if (/^\d+(\.\d+){3}$/.test(text) && /(^|\.)0\d/.test(text)) {
    return 'is not an IP address: write its numbers without leading zeros';
  }
  return 'is not an IP address';
}

export const highest = (family: Family): bigint => (family === 4 ? 0xffff_ffffn : (1n << 128n) - 1n);

const isIpv4Mapped = (value: bigint): boolean => value >> 32n === 0xffffn;

function parseIpv4(text: string): number | undefined {
  let value = 0;
  let octet = -1;
  let dots = 0;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code === DOT) {
      if (octet < 0) return undefined;
      value = value * 256 + octet;
      octet = -1;
      dots += 1;
    } else if (code < ZERO || code > NINE || octet === 0) {
      return undefined;
    } else {
      octet = octet < 0 ? code - ZERO : octet * 10 + code - ZERO;
      if (octet > 255) return undefined;
    }
  }
  return dots === 3 && octet >= 0 ? value * 256 + octet : undefined;
}

function parseIpv6(text: string): bigint | undefined {
  if (text.length > LONGEST_IPV6) return undefined;
  const gap = text.indexOf('::');
  if (gap < 0) {
    const groups = parseGroups(text, true);
    return groups?.length === 8 ? ofGroups(groups) : undefined;
  }
  const head = gap === 0 ? [] : parseGroups(text.slice(0, gap), false);
  const tail = gap + 2 === text.length ? [] : parseGroups(text.slice(gap + 2), true);
  if (head === undefined || tail === undefined) return undefined;
  const missing = 8 - head.length - tail.length;
  return missing < 1 ? undefined : ofGroups([...head, ...Array<number>(missing).fill(0), ...tail]);
}

function parseGroups(text: string, atEnd: boolean): number[] | undefined {
  const groups: number[] = [];
  const parts = text.split(':');
  for (const [i, part] of parts.entries()) {
    if (GROUP.test(part)) {
      groups.push(Number.parseInt(part, 16));
      continue;
    }
    const ipv4 = atEnd && i === parts.length - 1 ? parseIpv4(part) : undefined;
    if (ipv4 === undefined) return undefined;
    groups.push(Math.floor(ipv4 / 65_536), ipv4 % 65_536);
  }
  return groups;
}

const ofGroups = (groups: readonly number[]): bigint =>
  groups.reduce((value, group) => (value << 16n) | BigInt(group), 0n);

const ipv4Text = (value: number): string =>
  `${value >>> 24}.${(value >>> 16) & 255}.${(value >>> 8) & 255}.${value & 255}`;

function ipv6Text(value: bigint): string {
  const groups: number[] = [];
  for (let shift = 112n; shift >= 0n; shift -= 16n) groups.push(Number((value >> shift) & 0xffffn));
  const gap = longestZeros(groups);
  const hex = (from: number, to: number): string =>
    groups
      .slice(from, to)
      .map((group) => group.toString(16))
      .join(':');
  return gap.length < 2 ? hex(0, 8) : `${hex(0, gap.start)}::${hex(gap.start + gap.length, 8)}`;
}

function longestZeros(groups: readonly number[]): { start: number; length: number } {
  let longest = { start: 0, length: 0 };
  let start = 0;
  for (const [i, group] of groups.entries()) {
    if (group !== 0) start = i + 1;
    else if (i + 1 - start > longest.length) longest = { start, length: i + 1 - start };
  }
  return longest;
}

const LOW_MASK = (1n << 48n) - 1n;
const DOT = 46;
const ZERO = 48;
const NINE = 57;
const GROUP = /^[0-9a-f]{1,4}$/i;
const LONGEST_IPV6 = '0000:0000:0000:0000:0000:0000:255.255.255.255'.length;
