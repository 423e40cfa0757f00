import type { Address } from '../api/address.ts';
import type { AddressHolder } from '../api/netloom.io/address-block.ts';
import { folded, sameName } from '../api/network.openstack.org/shapes.ts';
import type { Applicant } from './applicant.ts';
import type { Networks, Subnet } from './networks.ts';

/** What somebody waits for: some address of a subnet, or a certain one. */
export interface Wanted {
  readonly subnet: Subnet;
  /** Undefined: any. */
  readonly address?: Address;
}

/** Somebody who may have to wait. */
export type Waiter = Pick<Applicant, 'holder' | 'ref' | 'created'>;

/** An address on record for somebody. */
export interface Served {
  readonly address: Address;
  readonly uid: string;
  readonly network: string;
  readonly subnet: string;
  /** We are about to put it on record ourselves: he will know without being told. */
  readonly isUnderWay: boolean;
}

/** Who waits for addresses in a namespace, and who is next: those that are older come first, of whichever kind. */
export class Waiting {
  readonly #queues = new Map<string, Queue>();
  /** UID → the queues that it stands in. */
  readonly #standing = new Map<string, Set<string>>();
  readonly #heldBy: (uid: string) => readonly Address[];
  readonly #isLeft: (wanted: Wanted) => boolean;
  #arrivals = 0;

  /** `heldBy`: what somebody has on record. Who has been served may not know it yet, and has not left the queue. `isLeft`: whether
   * there is something now for somebody who wants this. */
  constructor(
    heldBy: (uid: string) => readonly Address[] = () => [],
    isLeft: (wanted: Wanted) => boolean = () => false,
  ) {
    this.#heldBy = heldBy;
    this.#isLeft = isLeft;
  }

  get isEmpty(): boolean {
    return this.#queues.size === 0;
  }

  /** From now on it waits for this, and for nothing else. */
  set(waiter: Waiter, wanted: readonly Wanted[]): void {
    const { uid } = waiter.holder;
    const keys = new Set(wanted.map(keyOf));
    for (const key of this.#standing.get(uid) ?? []) if (!keys.has(key)) this.#leave(key, uid);
    for (const want of wanted) this.#queueFor(want).join(this.#place(waiter));
    if (keys.size === 0) this.#standing.delete(uid);
    else this.#standing.set(uid, keys);
  }

  forget(uid: string): void {
    for (const key of this.#standing.get(uid) ?? []) this.#leave(key, uid);
    this.#standing.delete(uid);
  }

  /** The subnets have been defined anew: from now on other addresses may be for those who wait. */
  redefine(networks: Networks): void {
    for (const queue of this.#queues.values()) {
      const { network, definition } = queue.wanted.subnet;
      const subnet = networks.find(network.name, definition.name);
      if (typeof subnet !== 'string') queue.wanted = { ...queue.wanted, subnet };
    }
  }

  /** Who is to be asked before this one: somebody who comes before it and is not among `present`. */
  ahead(waiter: Waiter, wanted: Wanted, present: ReadonlySet<string>): AddressHolder | undefined {
    const queue = this.#queues.get(keyOf(wanted));
    const first = queue?.firstWho((uid) => !present.has(uid) && !this.#heldBy(uid).some((one) => queue.takes(one)));
    if (queue === undefined || first === undefined) return undefined;
    const isAhead = isBefore(first, queue.find(waiter.holder.uid) ?? this.#place(waiter));
    return isAhead ? first.waiter.holder : undefined;
  }

  /**
   * Who may have one of these addresses, which have become free: in each queue as many as there are addresses. Everybody who waits
   * for exactly one of them is told: who does not get it learns who has it now.
   */
  nextFor(freed: readonly Address[]): Waiter[] {
    return [...this.#queues.values()].flatMap((queue) => {
      const count = freed.filter((address) => queue.takes(address)).length;
      return queue.first(count > 0 && queue.isForOne ? Number.POSITIVE_INFINITY : count);
    });
  }

  /**
   * Who has been served with one of these, and has not left the queue: he may not know it, because another controller did it, or because
   * nobody could say whether it was done. And who is next in each of these queues: as many as are served together where something is left,
   * as when a range grew; where all wait for the same address, all, so that each says who has it.
   */
  afterServing(served: readonly Served[]): Waiter[] {
    return [...this.#queues.values()].flatMap((queue) => {
      const leaving = new Set(served.flatMap((one) => (queue.isServedBy(one) ? [one.uid] : [])));
      if (leaving.size === 0) return [];
      const unaware = served.filter(({ uid, isUnderWay }) => leaving.has(uid) && !isUnderWay);
      const most = queue.isForOne ? Number.POSITIVE_INFINITY : this.#isLeft(queue.wanted) ? TOGETHER : 1;
      const behind = queue.firstBehind(leaving, most);
      return [...unaware.flatMap(({ uid }) => queue.find(uid)?.waiter ?? []), ...behind];
    });
  }

  heads(): Waiter[] {
    return [...this.#queues.values()].flatMap((queue) => queue.first(1));
  }

  /** Everybody, whatever he waits for. */
  inOrder(): Waiter[] {
    const places = [...this.#queues.values()].flatMap((queue) => queue.places);
    const byUid = new Map(places.map((place) => [place.waiter.holder.uid, place]));
    return [...byUid.values()].sort((a, b) => (isBefore(a, b) ? -1 : 1)).map(({ waiter }) => waiter);
  }

  #place(waiter: Waiter): Place {
    this.#arrivals += 1;
    return { waiter, arrived: this.#arrivals };
  }

  /** A queue always goes by the newest definition of its subnet. */
  #queueFor(wanted: Wanted): Queue {
    let queue = this.#queues.get(keyOf(wanted));
    if (queue === undefined) {
      queue = new Queue(wanted);
      this.#queues.set(keyOf(wanted), queue);
    }
    queue.wanted = wanted;
    return queue;
  }

  #leave(key: string, uid: string): void {
    const queue = this.#queues.get(key);
    queue?.leave(uid);
    if (queue?.isEmpty === true) this.#queues.delete(key);
  }
}

interface Place {
  readonly waiter: Waiter;
  /** Creation times are whole seconds. */
  readonly arrived: number;
}

class Queue {
  wanted: Wanted;
  readonly #byUid = new Map<string, Place>();
  /** The next one first. */
  readonly #inOrder: Place[] = [];

  constructor(wanted: Wanted) {
    this.wanted = wanted;
  }

  get isEmpty(): boolean {
    return this.#byUid.size === 0;
  }

  /** Whether everybody in it waits for the same address. */
  get isForOne(): boolean {
    return this.wanted.address !== undefined;
  }

  takes(address: Address): boolean {
    const { address: certain, subnet } = this.wanted;
    return certain === undefined ? subnet.pool.contains(address) : certain.equals(address);
  }

  /** Whether who has this waits no more, also where the subnet does not give that address any more. */
  isServedBy({ address, network, subnet: name }: Served): boolean {
    const { address: certain, subnet } = this.wanted;
    const isThere = sameName(subnet.network.name, network) && sameName(subnet.definition.name, name);
    return this.takes(address) || (certain === undefined && isThere);
  }

  find(uid: string): Place | undefined {
    return this.#byUid.get(uid);
  }

  join(place: Place): void {
    const { uid } = place.waiter.holder;
    if (this.#byUid.has(uid)) return;
    this.#byUid.set(uid, place);
    let at = this.#inOrder.length;
    for (let last = this.#inOrder[at - 1]; last !== undefined && isBefore(place, last); last = this.#inOrder[at - 1]) {
      at -= 1;
    }
    this.#inOrder.splice(at, 0, place);
  }

  leave(uid: string): void {
    const place = this.#byUid.get(uid);
    if (place === undefined) return;
    this.#byUid.delete(uid);
    this.#inOrder.splice(this.#inOrder.indexOf(place), 1);
  }

  get places(): readonly Place[] {
    return this.#inOrder;
  }

  /** The first who are not among these. */
  firstBehind(uids: ReadonlySet<string>, count: number): Waiter[] {
    const found: Waiter[] = [];
    for (const { waiter } of this.#inOrder) {
      if (found.length === count) break;
      if (!uids.has(waiter.holder.uid)) found.push(waiter);
    }
    return found;
  }

  first(count: number): Waiter[] {
    return this.#inOrder.slice(0, count).map(({ waiter }) => waiter);
  }

  firstWho(is: (uid: string) => boolean): Place | undefined {
    return this.#inOrder.find(({ waiter }) => is(waiter.holder.uid));
  }
}

function isBefore(a: Place, b: Place): boolean {
  const [ofA, ofB] = [a.waiter.created, b.waiter.created];
  return ofA < ofB || (ofA === ofB && a.arrived < b.arrived);
}

const keyOf = ({ subnet: { network, definition }, address }: Wanted): string =>
  address === undefined ? `${folded(network.name)}/${folded(definition.name)}` : `${address}`;

/** How many of those who wait are looked at together. */
const TOGETHER = 256;
