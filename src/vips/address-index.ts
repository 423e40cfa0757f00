/** Key → texts of addresses. */
export class AddressIndex {
  readonly #sets = new Map<string, Set<string>>();

  get(key: string): ReadonlySet<string> {
    return this.#sets.get(key) ?? NOTHING;
  }

  add(key: string, text: string): void {
    const set = this.#sets.get(key);
    if (set === undefined) this.#sets.set(key, new Set([text]));
    else set.add(text);
  }

  delete(key: string, text: string): void {
    const set = this.#sets.get(key);
    set?.delete(text);
    if (set?.size === 0) this.#sets.delete(key);
  }
}

const NOTHING: ReadonlySet<string> = new Set();

/** Which objects of a name are on record, and how often. */
export class NameCounts {
  readonly #counts = new Map<string, Map<string, number>>();

  uidsOf(name: string): Iterable<string> {
    return this.#counts.get(name)?.keys() ?? [];
  }

  count(name: string, uid: string, difference: 1 | -1): void {
    const uids = this.#counts.get(name) ?? new Map<string, number>();
    const count = (uids.get(uid) ?? 0) + difference;
    if (count > 0) uids.set(uid, count);
    else uids.delete(uid);
    if (uids.size > 0) this.#counts.set(name, uids);
    else this.#counts.delete(name);
  }
}
