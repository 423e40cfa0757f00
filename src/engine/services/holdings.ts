/**
 * Who has which address or port. A stored Service has what it says; a write under way has what it is about to store,
 * so that of two that want the same only one comes through.
 */
export class Holdings<Thing> {
  /** Thing → UID of a Service → how often: once for what is stored, once more for each write under way. */
  readonly #holders = new Map<Thing, Map<string, number>>();

  isFree(thing: Thing, uid: string): boolean {
    const holders = this.#holders.get(thing);
    return holders === undefined || (holders.size === 1 && holders.has(uid));
  }

  holdersOf(thing: Thing): string[] {
    return [...(this.#holders.get(thing)?.keys() ?? [])];
  }

  take(thing: Thing, uid: string): void {
    const holders = this.#holders.get(thing) ?? new Map<string, number>();
    holders.set(uid, (holders.get(uid) ?? 0) + 1);
    this.#holders.set(thing, holders);
  }

  giveBack(thing: Thing, uid: string): void {
    const holders = this.#holders.get(thing);
    const count = holders?.get(uid);
    if (holders === undefined || count === undefined) return;
    if (count > 1) holders.set(uid, count - 1);
    else holders.delete(uid);
    if (holders.size === 0) this.#holders.delete(thing);
  }
}
