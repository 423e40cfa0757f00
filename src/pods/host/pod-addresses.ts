import { Address, type Family } from '../../api/address.ts';
import type { Prefix } from '../../api/prefix.ts';

/**
 * Addresses for the pods of this host, one of each family for a pod. They are given in turn, so that one that is given back is used
 * again as late as can be: connections and name caches of others may still mean the pod that had it.
 */
export class PodAddresses {
  /** UID → its addresses, in the order in which it got them. */
  readonly #held = new Map<string, readonly Address[]>();
  /** address → UID */
  readonly #holders = new Map<string, string>();
  readonly #last = new Map<Family, Address>();

  of(uid: string): readonly string[] {
    return (this.#held.get(uid) ?? []).map(String);
  }

  /** It has this address already; false when another pod has it. */
  keep(uid: string, text: string): boolean {
    const address = Address.parse(text);
    if (address === undefined) return true;
    const holder = this.#holders.get(`${address}`);
    if (holder !== undefined && holder !== uid) return false;
    this.#hold(uid, address);
    const last = this.#last.get(address.family);
    if (last === undefined || address.value > last.value) this.#last.set(address.family, address);
    return true;
  }

  /** Undefined when all are taken. The first address of the range stands for the range, the last one may be its broadcast. */
  take(uid: string, range: Prefix): string | undefined {
    const held = this.#held.get(uid)?.find(({ family }) => family === range.family);
    if (held !== undefined) return `${held}`;
    const last = this.#last.get(range.family);
    const start = last !== undefined && range.contains(last) ? last : range.first;
    for (let next = after(start, range); ; next = after(next, range)) {
      if (isUsable(next, range) && !this.#holders.has(`${next}`)) {
        this.#last.set(range.family, next);
        this.#hold(uid, next);
        return `${next}`;
      }
      if (next.equals(start)) return undefined;
    }
  }

  release(uid: string): void {
    for (const address of this.#held.get(uid) ?? []) this.#holders.delete(`${address}`);
    this.#held.delete(uid);
  }

  /** Instead of what it had of this family. */
  #hold(uid: string, address: Address): void {
    const before = this.#held.get(uid) ?? [];
    for (const old of before) if (old.family === address.family) this.#holders.delete(`${old}`);
    this.#held.set(uid, [...before.filter(({ family }) => family !== address.family), address]);
    this.#holders.set(`${address}`, uid);
  }
}

const after = (address: Address, range: Prefix): Address =>
  address.equals(range.last) ? range.first : (address.next ?? range.first);

const isUsable = (address: Address, { first, last, family }: Prefix): boolean =>
  !address.equals(first) && !(family === 4 && address.equals(last));
