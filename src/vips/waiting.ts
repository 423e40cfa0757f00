import type { Address } from '../api/address.ts';
import type { Service } from '../api/core/service.ts';
import { keyOf, keyOfObject, type Ref, refOf } from '../runtime/ref.ts';
import type { Pools } from './pools.ts';
import type { Wishes } from './wishes.ts';

interface Waiter {
  readonly ref: Ref;
  readonly created: string;
  readonly wishes: Wishes;
}

/** The Services that lack an address, and which addresses could help them. */
export class Waiting {
  /** By `keyOf` of the Service. */
  readonly #waiters = new Map<string, Waiter>();

  add(service: Service, wishes: Wishes): void {
    const { creationTimestamp: created } = service.metadata;
    this.#waiters.set(keyOfObject(service), { ref: refOf(service), created, wishes });
  }

  remove(ref: Ref): void {
    this.#waiters.delete(keyOf(ref));
  }

  has(ref: Ref): boolean {
    return this.#waiters.has(keyOf(ref));
  }

  /** Who might be served now that these are free, the oldest first. */
  for(freed: readonly Address[], pools: Pools): Ref[] {
    if (freed.length === 0 || this.#waiters.size === 0) return [];
    const texts = new Set(freed.map(String));
    const names = new Set(freed.flatMap((address) => pools.around(address)?.name ?? []));
    return [...this.#waiters.values()]
      .filter(({ wishes: { addresses, pool } }) => {
        if ('fault' in addresses) return false;
        if (addresses.length > 0) return addresses.some((address) => texts.has(address.toString()));
        return pool === '' ? names.size > 0 : names.has(pool);
      })
      .sort((a, b) => (a.created < b.created ? -1 : Number(a.created > b.created)))
      .map(({ ref }) => ref);
  }
}
