/**
 * What is due when: a binary heap whose entries know their place, so that taking out or moving one is as cheap as
 * adding one. Entries due at the same moment come out in the order in which they were put in.
 */
export class Schedule<T> {
  readonly #heap: Entry<T>[] = [];
  #order = 0;

  get size(): number {
    return this.#heap.length;
  }

  get first(): Scheduled<T> | undefined {
    return this.#heap[0];
  }

  add(due: number, item: T): Scheduled<T> {
    this.#order += 1;
    const entry = { due, item, order: this.#order, at: this.#heap.length };
    this.#heap.push(entry);
    this.#rise(entry);
    return entry;
  }

  /** Takes out the first entry if it is due. */
  takeDue(now: number): Scheduled<T> | undefined {
    const first = this.#heap[0];
    if (first === undefined || first.due > now) return undefined;
    this.#takeOut(first);
    return first;
  }

  /** Does nothing for an entry that is no longer in the schedule. */
  remove(entry: Scheduled<T>): void {
    const own = this.#heap[entry.at];
    if (own === entry) this.#takeOut(own);
  }

  clear(): void {
    this.#heap.length = 0;
  }

  #takeOut(entry: Entry<T>): void {
    const last = this.#heap.pop();
    if (last !== undefined && last !== entry) {
      this.#place(last, entry.at);
      this.#rise(last);
      this.#sink(last);
    }
    entry.at = -1;
  }

  #rise(entry: Entry<T>): void {
    while (entry.at > 0) {
      const parent = this.#heap[(entry.at - 1) >> 1];
      if (parent === undefined || !before(entry, parent)) return;
      this.#swap(entry, parent);
    }
  }

  #sink(entry: Entry<T>): void {
    for (;;) {
      const left = this.#heap[2 * entry.at + 1];
      const right = this.#heap[2 * entry.at + 2];
      const child = left !== undefined && right !== undefined && before(right, left) ? right : left;
      if (child === undefined || !before(child, entry)) return;
      this.#swap(entry, child);
    }
  }

  #swap(a: Entry<T>, b: Entry<T>): void {
    const place = a.at;
    this.#place(a, b.at);
    this.#place(b, place);
  }

  #place(entry: Entry<T>, at: number): void {
    this.#heap[at] = entry;
    entry.at = at;
  }
}

export interface Scheduled<T> {
  readonly due: number;
  readonly item: T;
  /** Where in the heap; -1 once it is out. */
  readonly at: number;
}

interface Entry<T> extends Scheduled<T> {
  at: number;
  readonly order: number;
}

const before = <T>(a: Entry<T>, b: Entry<T>): boolean => a.due < b.due || (a.due === b.due && a.order < b.order);
