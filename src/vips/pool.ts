import { Address, compareAddresses, type Family } from '../api/address.ts';
import { addressRange } from '../api/metallb.io/address-ranges.ts';
import type { IPAddressPool } from '../api/metallb.io/ip-address-pool.ts';
import { selectorOf } from '../api/metallb.io/shapes.ts';
import type { AddressRange } from '../api/prefix.ts';
import type { Labels, Selector } from '../api/selector.ts';
import { Vacancies } from '../ledger/vacancies.ts';

/** What of a Service decides which pools serve it. */
export interface Client {
  readonly namespace: string;
  readonly labels: Labels;
  readonly namespaceLabels: Labels;
}

/** A pool that is free of faults, and which of its addresses are taken. */
export class Pool {
  readonly object: IPAddressPool;
  readonly ranges: readonly AddressRange[];
  /** Infinity: after all that have a priority. */
  readonly priority: number;
  readonly #namespaces: ReadonlySet<string>;
  readonly #namespaceSelectors: readonly Selector[];
  readonly #serviceSelectors: readonly Selector[];
  readonly #restrictsNamespaces: boolean;
  readonly #rooms: Readonly<Record<Family, Room>>;
  /** The places of ranges, by address. */
  readonly #byAddress: readonly { readonly range: AddressRange; readonly place: number }[];

  constructor(object: IPAddressPool) {
    this.object = object;
    const { addresses, avoidBuggyIPs, serviceAllocation } = object.spec;
    this.ranges = addresses.map(addressRange).filter((range) => typeof range !== 'string');
    this.#rooms = { 4: new Room(this.ranges, 4, avoidBuggyIPs), 6: new Room(this.ranges, 6, false) };
    this.#byAddress = this.ranges
      .map((range, place) => ({ range, place }))
      .sort((a, b) => compareAddresses(a.range.first, b.range.first));
    const { priority = 0, namespaces = [], namespaceSelectors = [], serviceSelectors = [] } = serviceAllocation ?? {};
    this.priority = priority === 0 ? Number.POSITIVE_INFINITY : priority;
    this.#namespaces = new Set(namespaces);
    this.#namespaceSelectors = namespaceSelectors.map(selectorOf);
    this.#serviceSelectors = serviceSelectors.map(selectorOf);
    this.#restrictsNamespaces = namespaces.length + namespaceSelectors.length > 0;
  }

  get name(): string {
    return this.object.metadata.name;
  }

  /** Whether some Services are meant more than others. */
  get isPinned(): boolean {
    return this.object.spec.serviceAllocation !== undefined;
  }

  /** Nothing more is given from a pool that somebody has deleted. */
  get isLeaving(): boolean {
    return this.object.metadata.deletionTimestamp !== undefined;
  }

  serves({ namespace, labels, namespaceLabels }: Client): boolean {
    const fromHere =
      !this.#restrictsNamespaces ||
      this.#namespaces.has(namespace) ||
      this.#namespaceSelectors.some((selector) => selector.matches(namespaceLabels));
    return (
      fromHere &&
      (this.#serviceSelectors.length === 0 || this.#serviceSelectors.some((selector) => selector.matches(labels)))
    );
  }

  /** Whether the address is one that the pool gives. */
  gives(address: Address): boolean {
    return this.placeOf(address) !== undefined && !(this.object.spec.avoidBuggyIPs && isBuggy(address));
  }

  /** The lowest free address of the first range that has one. */
  firstFree(family: Family): Address | undefined {
    return this.#rooms[family].firstFree();
  }

  /** How many addresses the pool can give. */
  capacity(family: Family): bigint {
    return this.#rooms[family].capacity;
  }

  /** How many addresses of its ranges the pool gives to nobody. */
  excluded(family: Family): bigint {
    return this.#rooms[family].excluded;
  }

  /** How many of those that it can give somebody has, be it a Service or a host. */
  taken(family: Family): number {
    return this.#rooms[family].taken;
  }

  take(address: Address): void {
    const place = this.placeOf(address);
    if (place !== undefined) this.#rooms[address.family].take(address, place);
  }

  giveBack(address: Address): void {
    const place = this.placeOf(address);
    if (place !== undefined) this.#rooms[address.family].giveBack(address, place);
  }

  /** Which of the ranges the address is in. */
  placeOf(address: Address): number | undefined {
    let from = 0;
    let to = this.#byAddress.length;
    while (from < to) {
      const middle = (from + to) >> 1;
      const entry = this.#byAddress[middle];
      if (entry === undefined) return undefined;
      if (compareAddresses(address, entry.range.first) < 0) to = middle;
      else if (compareAddresses(address, entry.range.last) > 0) from = middle + 1;
      else return entry.place;
    }
    return undefined;
  }
}

/** The addresses of one family, and which are taken. */
class Room {
  readonly #family: Family;
  readonly #ranges: readonly AddressRange[];
  readonly #avoidsBuggy: boolean;
  /** The places of ranges that may have a free address; one that turns out to be full is closed. */
  readonly #open = new Vacancies();
  /** Place of a range → its addresses, counted from the first. */
  readonly #vacancies = new Map<number, Vacancies>();
  readonly #taken = new Set<bigint>();

  constructor(ranges: readonly AddressRange[], family: Family, avoidsBuggy: boolean) {
    this.#family = family;
    this.#ranges = ranges;
    this.#avoidsBuggy = avoidsBuggy;
    for (const [place, range] of ranges.entries()) if (range.first.family !== family) this.#open.close(place);
  }

  get capacity(): bigint {
    return this.#sum(sizeOf) - this.excluded;
  }

  get excluded(): bigint {
    return this.#avoidsBuggy ? this.#sum(buggyIn) : 0n;
  }

  get taken(): number {
    return this.#taken.size;
  }

  firstFree(): Address | undefined {
    for (let place = this.#open.next(0); ; place = this.#open.next(place)) {
      const range = this.#ranges[place];
      if (range === undefined) return undefined;
      const address = this.#firstFreeIn(range, place);
      if (address !== undefined) return address;
      this.#open.close(place);
    }
  }

  take(address: Address, place: number): void {
    if (!(this.#avoidsBuggy && isBuggy(address))) this.#taken.add(address.value);
    const offset = this.#offset(address, place);
    if (offset !== undefined) this.#vacanciesAt(place).close(offset);
  }

  giveBack(address: Address, place: number): void {
    this.#taken.delete(address.value);
    const offset = this.#offset(address, place);
    if (offset === undefined || (this.#avoidsBuggy && isBuggy(address))) return;
    this.#vacanciesAt(place).open(offset);
    this.#open.open(place);
  }

  #sum(count: (range: AddressRange) => bigint): bigint {
    const own = this.#ranges.filter(({ first }) => first.family === this.#family);
    return own.reduce((sum, range) => sum + count(range), 0n);
  }

  #firstFreeIn(range: AddressRange, place: number): Address | undefined {
    const vacancies = this.#vacanciesAt(place);
    for (let offset = vacancies.next(0); ; offset = vacancies.next(offset)) {
      const value = range.first.value + BigInt(offset);
      if (offset >= REACH || value > range.last.value) return undefined;
      const address = Address.of(this.#family, value);
      if (!this.#avoidsBuggy || !isBuggy(address)) return address;
      vacancies.close(offset);
    }
  }

  #vacanciesAt(place: number): Vacancies {
    let vacancies = this.#vacancies.get(place);
    if (vacancies === undefined) {
      vacancies = new Vacancies();
      this.#vacancies.set(place, vacancies);
    }
    return vacancies;
  }

  #offset({ value }: Address, place: number): number | undefined {
    const offset = value - (this.#ranges[place]?.first.value ?? value);
    return offset < BigInt(REACH) ? Number(offset) : undefined;
  }
}

/** How far into a range addresses are looked for; nobody will ever hold so many. */
const REACH = 2 ** 48;

const isBuggy = ({ family, low }: Address): boolean => family === 4 && (low % 256 === 0 || low % 256 === 255);

const sizeOf = ({ first, last }: AddressRange): bigint => last.value - first.value + 1n;

function buggyIn({ first, last }: AddressRange): bigint {
  const upTo = (end: bigint, rest: bigint): bigint => (end < rest ? 0n : (end - rest) / 256n + 1n);
  const count = (rest: bigint): bigint =>
    upTo(last.value, rest) - (first.value === 0n ? 0n : upTo(first.value - 1n, rest));
  return count(0n) + count(255n);
}
