interface Leaf<V> {
  readonly keys: string[];
  readonly values: V[];
}

const FULL = 512;
/** A leaf this small looks for a neighbour to merge with, unless the two together would soon be split again. */
const SPARSE = 64;
const ROOMY = 384;

/**
 * A sorted map in leaves of a few hundred keys: one more key costs the same among a hundred thousand as among ten.
 * Keys are ordered by UTF-16 code unit, as `<` does.
 */
export class Ordered<V> {
  readonly #leaves: Leaf<V>[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(key: string): V | undefined {
    const leaf = this.#leaves[this.#leafFor(key)];
    if (leaf === undefined) return undefined;
    const position = lowerBound(leaf.keys, key);
    return leaf.keys[position] === key ? leaf.values[position] : undefined;
  }

  /** Returns the value it replaces. */
  set(key: string, value: V): V | undefined {
    const index = this.#leafFor(key);
    const leaf = this.#leaves[index];
    if (leaf === undefined) {
      this.#leaves.push({ keys: [key], values: [value] });
      this.#size = 1;
      return undefined;
    }
    const position = lowerBound(leaf.keys, key);
    if (leaf.keys[position] === key) {
      const replaced = leaf.values[position];
      leaf.values[position] = value;
      return replaced;
    }
    this.#size++;
    if (leaf.keys.length === FULL && position === FULL && index === this.#leaves.length - 1) {
      // Keys that arrive in order, as when a snapshot is read, leave full leaves behind.
      this.#leaves.push({ keys: [key], values: [value] });
      return undefined;
    }
    leaf.keys.splice(position, 0, key);
    leaf.values.splice(position, 0, value);
    if (leaf.keys.length > FULL) {
      const half = leaf.keys.length >> 1;
      this.#leaves.splice(index + 1, 0, { keys: leaf.keys.splice(half), values: leaf.values.splice(half) });
    }
    return undefined;
  }

  /** Returns the value that was there. */
  delete(key: string): V | undefined {
    const index = this.#leafFor(key);
    const leaf = this.#leaves[index];
    if (leaf === undefined) return undefined;
    const position = lowerBound(leaf.keys, key);
    if (leaf.keys[position] !== key) return undefined;
    leaf.keys.splice(position, 1);
    const [removed] = leaf.values.splice(position, 1);
    this.#size--;
    if (leaf.keys.length === 0) this.#leaves.splice(index, 1);
    else if (leaf.keys.length < SPARSE) this.#merge(index);
    return removed;
  }

  /** The values from one key to before another, in order, at most `limit` of them. */
  slice(from: string, to: string | undefined, limit = Number.POSITIVE_INFINITY): V[] {
    const parts: V[][] = [];
    let room = limit;
    for (let index = this.#leafFor(from); room > 0; index++) {
      const leaf = this.#leaves[index];
      if (leaf === undefined) break;
      const start = lowerBound(leaf.keys, from);
      const end = to === undefined ? leaf.keys.length : lowerBound(leaf.keys, to);
      const part = leaf.values.slice(start, Math.min(end, start + room));
      parts.push(part);
      room -= part.length;
      if (end < leaf.keys.length) break;
    }
    return parts.flat();
  }

  /** How many keys there are from one to before another. */
  countBetween(from: string, to: string | undefined): number {
    return Math.max(0, (to === undefined ? this.#size : this.#rank(to)) - this.#rank(from));
  }

  #rank(key: string): number {
    const index = this.#leafFor(key);
    let rank = 0;
    for (let before = 0; before < index; before++) rank += this.#leaves[before]?.keys.length ?? 0;
    const leaf = this.#leaves[index];
    return leaf === undefined ? rank : rank + lowerBound(leaf.keys, key);
  }

  /** The leaf that holds the key, or would. */
  #leafFor(key: string): number {
    let low = 0;
    let high = this.#leaves.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      const first = this.#leaves[middle]?.keys[0];
      if (first !== undefined && first <= key) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #merge(index: number): void {
    for (const left of [index, index - 1]) {
      const leaf = this.#leaves[left];
      const next = this.#leaves[left + 1];
      if (leaf === undefined || next === undefined || leaf.keys.length + next.keys.length > ROOMY) continue;
      leaf.keys.push(...next.keys);
      leaf.values.push(...next.values);
      this.#leaves.splice(left + 1, 1);
      return;
    }
  }
}

function lowerBound(keys: readonly string[], key: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const found = keys[middle];
    if (found !== undefined && found < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
