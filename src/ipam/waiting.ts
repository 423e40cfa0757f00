import type { Address } from '../api/address.ts';
import type { IPSet } from '../api/network.openstack.org/ipset.ts';
import { folded } from '../api/network.openstack.org/shapes.ts';
import { type Ref, refOf } from '../runtime/ref.ts';
import type { Subnet } from './networks.ts';

/** What an IPSet waits for: some address of a subnet, or a certain one. */
export interface Wanted {
  readonly subnet: Subnet;
  /** Undefined: any. */
  readonly address?: Address;
}

/** Who waits for addresses in a namespace, and who is next: IPSets that are older come first. */
export class Waiting {
  readonly #queues = new Map<string, Queue>();
  /** UID of an IPSet → the queues that it stands in. */
  readonly #standing = new Map<string, Set<string>>();
  #arrivals = 0;

  get isEmpty(): boolean {
    return this.#queues.size === 0;
  }

  /** From now on the IPSet waits for this, and for nothing else. */
  set(ipSet: IPSet, wanted: readonly Wanted[]): void {
    const { uid } = ipSet.metadata;
    const keys = new Set(wanted.map(keyOf));
    for (const key of this.#standing.get(uid) ?? []) if (!keys.has(key)) this.#leave(key, uid);
    for (const want of wanted) this.#queueFor(want).join(this.#waiter(ipSet));
    if (keys.size === 0) this.#standing.delete(uid);
    else this.#standing.set(uid, keys);
  }

  forget(uid: string): void {
    for (const key of this.#standing.get(uid) ?? []) this.#leave(key, uid);
    this.#standing.delete(uid);
  }

  /** Who is to be asked before this IPSet: one that comes before it and is not among `present`. */
  ahead(ipSet: IPSet, wanted: Wanted, present: ReadonlySet<string>): { name: string; uid: string } | undefined {
    const queue = this.#queues.get(keyOf(wanted));
    const first = queue?.firstBut(present);
    if (queue === undefined || first === undefined) return undefined;
    const isAhead = isBefore(first, queue.find(ipSet.metadata.uid) ?? this.#waiter(ipSet));
    return isAhead ? { name: first.ref.name, uid: first.uid } : undefined;
  }

  /**
   * Who may have one of these addresses, which have become free: in each queue as many as there are addresses. Everybody who waits
   * for exactly one of them is told: who does not get it learns who has it now.
   */
  nextFor(freed: readonly Address[]): Ref[] {
    return [...this.#queues.values()].flatMap((queue) => {
      const count = freed.filter((address) => queue.takes(address)).length;
      return queue.first(count > 0 && queue.isForOne ? Number.POSITIVE_INFINITY : count);
    });
  }

  /** Who is next in each queue that these addresses could serve. */
  headsAmong(addresses: readonly Address[]): Ref[] {
    return [...this.#queues.values()].flatMap((queue) =>
      queue.first(addresses.some((address) => queue.takes(address)) ? 1 : 0),
    );
  }

  heads(): Ref[] {
    return [...this.#queues.values()].flatMap((queue) => queue.first(1));
  }

  #waiter(ipSet: IPSet): Waiter {
    this.#arrivals += 1;
    const { uid, creationTimestamp: created } = ipSet.metadata;
    return { uid, ref: refOf(ipSet), created, arrived: this.#arrivals };
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

interface Waiter {
  readonly uid: string;
  readonly ref: Ref;
  readonly created: string;
  /** Creation times are whole seconds. */
  readonly arrived: number;
}

class Queue {
  wanted: Wanted;
  readonly #byUid = new Map<string, Waiter>();
  /** The next one first. */
  readonly #inOrder: Waiter[] = [];

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

  find(uid: string): Waiter | undefined {
    return this.#byUid.get(uid);
  }

  join(waiter: Waiter): void {
    if (this.#byUid.has(waiter.uid)) return;
    this.#byUid.set(waiter.uid, waiter);
    let place = this.#inOrder.length;
    for (
      let last = this.#inOrder[place - 1];
      last !== undefined && isBefore(waiter, last);
      last = this.#inOrder[place - 1]
    ) {
      place -= 1;
    }
    this.#inOrder.splice(place, 0, waiter);
  }

  leave(uid: string): void {
    const waiter = this.#byUid.get(uid);
    if (waiter === undefined) return;
    this.#byUid.delete(uid);
    this.#inOrder.splice(this.#inOrder.indexOf(waiter), 1);
  }

  first(count: number): Ref[] {
    return this.#inOrder.slice(0, count).map(({ ref }) => ref);
  }

  firstBut(uids: ReadonlySet<string>): Waiter | undefined {
    return this.#inOrder.find(({ uid }) => !uids.has(uid));
  }
}

const isBefore = (a: Waiter, b: Waiter): boolean =>
  a.created < b.created || (a.created === b.created && a.arrived < b.arrived);

const keyOf = ({ subnet: { network, definition }, address }: Wanted): string =>
  address === undefined ? `${folded(network.name)}/${folded(definition.name)}` : `${address}`;
