import type { Pool } from './pool.ts';
import type { Holding } from './space.ts';

/** What cools down in a space, and what of a pool comes free first. */
export class Cooling {
  readonly #all = new Set<Holding>();
  /** Of the pools that somebody asked about. */
  readonly #orders = new Map<Pool, Order>();

  add(holding: Holding): void {
    this.#all.add(holding);
    for (const [pool, order] of this.#orders) if (pool.gives(holding.address)) order.add(holding);
  }

  remove(holding: Holding): void {
    this.#all.delete(holding);
    for (const order of this.#orders.values()) order.remove(holding);
  }

  /** Until when the first of those cools down that the pool gives to who asks for any. Looks at all only the first time. */
  firstEnd(pool: Pool): string | undefined {
    let order = this.#orders.get(pool);
    if (order === undefined) {
      order = new Order();
      for (const holding of this.#all) if (pool.gives(holding.address)) order.add(holding);
      this.#orders.set(pool, order);
    }
    return order.firstEnd;
  }

  /** Nobody asks about the pool any more. */
  forget(pool: Pool): void {
    this.#orders.delete(pool);
  }
}

/** As all cool down for the same time, they nearly always come in the order in which they end. */
class Order {
  #holdings = new Set<Holding>();
  #latest = '';
  #isSorted = true;

  add(holding: Holding): void {
    const end = endOf(holding);
    this.#holdings.add(holding);
    if (end < this.#latest) this.#isSorted = false;
    else this.#latest = end;
  }

  remove(holding: Holding): void {
    this.#holdings.delete(holding);
  }

  get firstEnd(): string | undefined {
    if (!this.#isSorted) {
      this.#holdings = new Set([...this.#holdings].sort((a, b) => (endOf(a) < endOf(b) ? -1 : 1)));
      this.#isSorted = true;
    }
    const [first] = this.#holdings;
    return first?.coolsUntil;
  }
}

const endOf = ({ coolsUntil = '' }: Holding): string => coolsUntil;
