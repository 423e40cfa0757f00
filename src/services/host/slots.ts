/**
 * Numbers things from 0 up, without a hole, so that one of them can be drawn by a random number below their count. What stays keeps
 * its number where it can: a change moves no more than it must.
 */
export class Slots<T> {
  readonly #keyOf: (item: T) => string;
  #items: readonly T[] = [];

  constructor(keyOf: (item: T) => string) {
    this.#keyOf = keyOf;
  }

  get items(): readonly T[] {
    return this.#items;
  }

  become(wanted: readonly T[]): SlotChange<T> {
    const keys = new Set(wanted.map(this.#keyOf));
    const before = this.#items;
    const known = new Set(before.map(this.#keyOf));
    const coming = wanted.filter((item) => !known.has(this.#keyOf(item)));
    const going = before.filter((item) => !keys.has(this.#keyOf(item)));
    const waiting = [...coming];
    const after: (T | undefined)[] = before.map((item) => (keys.has(this.#keyOf(item)) ? item : waiting.shift()));
    after.push(...waiting);
    this.#items = withoutHoles(after);
    const cleared: number[] = [];
    const filled: [number, T][] = [];
    for (let i = 0; i < Math.max(before.length, this.#items.length); i += 1) {
      const [old, now] = [before[i], this.#items[i]];
      if (old === now || (old !== undefined && now !== undefined && this.#keyOf(old) === this.#keyOf(now))) continue;
      if (old !== undefined) cleared.push(i);
      if (now !== undefined) filled.push([i, now]);
    }
    return { coming, going, cleared, filled };
  }
}

export interface SlotChange<T> {
  readonly coming: readonly T[];
  readonly going: readonly T[];
  /** Numbers that stood for something before, and stand for something else or nothing now. */
  readonly cleared: readonly number[];
  readonly filled: readonly (readonly [number, T])[];
}

/** The last ones move into the holes. */
function withoutHoles<T>(items: (T | undefined)[]): T[] {
  const result: T[] = [];
  let end = items.length;
  for (let i = 0; i < end; i += 1) {
    let item = items[i];
    while (item === undefined && end - 1 > i) {
      end -= 1;
      item = items[end];
    }
    if (item !== undefined) result.push(item);
  }
  return result;
}
