import { Address } from '../../api/address.ts';
import type { Prefix } from '../../api/prefix.ts';

/**
 * Addresses for the pods of this host. They are given in turn, so that one that is given back is used again as late as can
 * be: connections and name caches of others may still mean the pod that had it.
 */
export class PodAddresses {
  readonly #held = new Map<string, string>();
  readonly #holders = new Map<string, string>();
  #last: Address | undefined;

  of(uid: string): string | undefined {
    return this.#held.get(uid);
  }

  /** It has this address already; false when another pod has it. */
  keep(uid: string, address: string): boolean {
    const holder = this.#holders.get(address);
    if (holder !== undefined && holder !== uid) return false;
    this.#hold(uid, address);
    const parsed = Address.parse(address);
    if (parsed !== undefined && (this.#last === undefined || parsed.value > this.#last.value)) this.#last = parsed;
    return true;
  }

  /** Undefined when all are taken. The first address of the range stands for the range, the last one may be its broadcast. */
  take(uid: string, range: Prefix): string | undefined {
    const held = this.#held.get(uid);
    if (held !== undefined) return held;
    const start = this.#last !== undefined && range.contains(this.#last) ? this.#last : range.first;
    for (let next = after(start, range); ; next = after(next, range)) {
      if (isUsable(next, range) && !this.#holders.has(next.toString())) {
        this.#last = next;
        this.#hold(uid, next.toString());
        return next.toString();
      }
      if (next.equals(start)) return undefined;
    }
  }

  release(uid: string): void {
    const address = this.#held.get(uid);
    this.#held.delete(uid);
    if (address !== undefined) this.#holders.delete(address);
  }

  #hold(uid: string, address: string): void {
    this.release(uid);
    this.#held.set(uid, address);
    this.#holders.set(address, uid);
  }
}

const after = (address: Address, range: Prefix): Address =>
  address.equals(range.last) ? range.first : (address.next ?? range.first);

const isUsable = (address: Address, { first, last, family }: Prefix): boolean =>
  !address.equals(first) && !(family === 4 && address.equals(last));
