import { type Address, compareAddresses } from '../api/address.ts';
import { namedRanges, overlappingRanges } from '../api/metallb.io/address-ranges.ts';
import { overlapDetail, poolFaults } from '../api/metallb.io/ip-address-pool.faults.ts';
import type { IPAddressPool } from '../api/metallb.io/ip-address-pool.ts';
import type { AddressRange } from '../api/prefix.ts';
import { type Client, Pool } from './pool.ts';

/** All pools that can be given from. Where two overlap, which admission prevents, the older one counts. */
export class Pools {
  /** By name. */
  readonly #pools = new Map<string, Pool>();
  /** UID of a pool that cannot be given from → why. */
  readonly #faults = new Map<string, string>();
  readonly #byAddress: readonly { readonly range: AddressRange; readonly pool: Pool }[];

  constructor(objects: readonly IPAddressPool[]) {
    const sound = objects.filter((object) => !this.#isFaulty(object)).sort(byAge);
    const ages = new Map(sound.map(({ metadata }, age) => [metadata.name, age]));
    const overlaps = overlappingRanges(
      sound.flatMap(({ metadata, spec }) => namedRanges(metadata.name, spec.addresses)),
    );
    for (const { range, before } of overlaps) {
      if (range.pool === before.pool) continue;
      const [younger, older] =
        (ages.get(range.pool) ?? 0) > (ages.get(before.pool) ?? 0) ? [range, before] : [before, range];
      const uid = sound[ages.get(younger.pool) ?? 0]?.metadata.uid ?? '';
      if (!this.#faults.has(uid)) this.#faults.set(uid, overlapDetail(younger, older));
    }
    for (const object of sound) {
      if (!this.#faults.has(object.metadata.uid)) this.#pools.set(object.metadata.name, new Pool(object));
    }
    this.#byAddress = [...this.#pools.values()]
      .flatMap((pool) => pool.ranges.map((range) => ({ range, pool })))
      .sort((a, b) => compareAddresses(a.range.first, b.range.first));
  }

  get isEmpty(): boolean {
    return this.#pools.size === 0;
  }

  get all(): Iterable<Pool> {
    return this.#pools.values();
  }

  find(name: string): Pool | undefined {
    return this.#pools.get(name);
  }

  /** Why nothing is given from a pool. */
  faultOf({ metadata: { uid } }: IPAddressPool): string | undefined {
    return this.#faults.get(uid);
  }

  /** The pool whose ranges the address is in, whether it gives it or not. */
  around(address: Address): Pool | undefined {
    const entry = this.#byAddress[this.#firstNotBelow(address)];
    return entry !== undefined && compareAddresses(entry.range.first, address) <= 0 ? entry.pool : undefined;
  }

  /** The pools that have addresses of this range. */
  meeting({ first, last }: AddressRange): Set<Pool> {
    const found = new Set<Pool>();
    for (let i = this.#firstNotBelow(first); i < this.#byAddress.length; i += 1) {
      const entry = this.#byAddress[i];
      if (entry === undefined || compareAddresses(entry.range.first, last) > 0) break;
      found.add(entry.pool);
    }
    return found;
  }

  /** The one pool that gives all of these. */
  giving(addresses: readonly Address[]): Pool | undefined {
    const [first] = addresses;
    const pool = first === undefined ? undefined : this.around(first);
    return pool !== undefined && addresses.every((address) => pool.gives(address)) ? pool : undefined;
  }

  /** Where a Service that names no pool gets addresses from: pools that are meant for it, then those for everybody. */
  automaticFor(client: Client): Pool[][] {
    const automatic = [...this.#pools.values()].filter(({ object, isLeaving }) => object.spec.autoAssign && !isLeaving);
    const pinned = automatic.filter((pool) => pool.isPinned && pool.serves(client));
    const open = automatic.filter((pool) => !pool.isPinned);
    return [pinned.sort((a, b) => byPriority(a, b) || byName(a, b)), open.sort(byName)];
  }

  /** The place of the first range that does not end before the address. */
  #firstNotBelow(address: Address): number {
    let from = 0;
    let to = this.#byAddress.length;
    while (from < to) {
      const middle = (from + to) >> 1;
      const entry = this.#byAddress[middle];
      if (entry !== undefined && compareAddresses(entry.range.last, address) < 0) from = middle + 1;
      else to = middle;
    }
    return from;
  }

  #isFaulty(object: IPAddressPool): boolean {
    // Where admission does not run, anything may be in a pool. A pool that is being deleted is not judged any more.
    const { deletionTimestamp: _, ...metadata } = object.metadata;
    const [fault] = poolFaults({ ...object, metadata });
    if (fault !== undefined) this.#faults.set(object.metadata.uid, `${fault.field}: ${fault.detail}`);
    return fault !== undefined;
  }
}

const byName = (a: Pool, b: Pool): number => (a.name < b.name ? -1 : 1);
const byPriority = (a: Pool, b: Pool): number => (a.priority === b.priority ? 0 : a.priority - b.priority);

function byAge({ metadata: a }: IPAddressPool, { metadata: b }: IPAddressPool): number {
  if (a.creationTimestamp !== b.creationTimestamp) return a.creationTimestamp < b.creationTimestamp ? -1 : 1;
  return a.name < b.name ? -1 : 1;
}
