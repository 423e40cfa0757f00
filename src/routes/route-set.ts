import type { Words } from './address.ts';
import { at, grown } from './columns.ts';
import { routeWords } from './route.ts';

/**
 * Gives every route a small number, its slot, and finds it again. A hash table whose entries are columns.
 * Slots of routes that were removed are given out again.
 */
export class RouteSet {
  /** The route in slot n begins at n * routeWords. The array is replaced when the set grows. */
  words: Words = new Uint32Array(firstCapacity * routeWords);
  /** bucket -> slot of its first route. There are as many buckets as there is room for routes. */
  #first = new Int32Array(firstCapacity).fill(none);
  /** slot -> slot of the next route in the same bucket; or, for an empty slot, the next empty one. */
  #next = new Int32Array(firstCapacity).fill(none);
  /** slot -> hash of its route, so that most comparisons need not look at the route */
  #hashes = new Int32Array(firstCapacity);
  #empty = none;
  #used = 0;
  #size = 0;
  /** Unknown to whoever chooses the prefixes, so that nobody can aim at one bucket. */
  readonly #seed: number;

  constructor(seed: number) {
    this.#seed = seed;
  }

  get size(): number {
    return this.#size;
  }

  /** All slots that were ever given out are below this number. */
  get bound(): number {
    return this.#used;
  }

  /** The slot of the route in `words`, or -1. */
  find(words: Words): number {
    return this.#findHashed(words, this.#hash(words));
  }

  /** The slot of the route in `words`, which is added if it is not there. */
  ensure(words: Words): number {
    const hash = this.#hash(words);
    const known = this.#findHashed(words, hash);
    if (known >= 0) return known;
    if (this.#empty === none && this.#used === this.#next.length) this.#grow();
    const slot = this.#takeEmpty();
    this.words.set(words, slot * routeWords);
    this.#hashes[slot] = hash;
    this.#link(slot);
    this.#size += 1;
    return slot;
  }

  remove(slot: number): void {
    const bucket = this.#bucketOf(slot);
    let before = none;
    for (let other = at(this.#first, bucket); other !== slot; other = at(this.#next, other)) before = other;
    const after = at(this.#next, slot);
    if (before === none) this.#first[bucket] = after;
    else this.#next[before] = after;
    this.#next[slot] = this.#empty;
    this.#empty = slot;
    this.#size -= 1;
  }

  #takeEmpty(): number {
    const slot = this.#empty;
    if (slot === none) {
      this.#used += 1;
      return this.#used - 1;
    }
    this.#empty = at(this.#next, slot);
    return slot;
  }

  #link(slot: number): void {
    const bucket = this.#bucketOf(slot);
    this.#next[slot] = at(this.#first, bucket);
    this.#first[bucket] = slot;
  }

  /** Only called when every slot is taken. */
  #grow(): void {
    const capacity = this.#next.length * 2;
    this.words = grown(this.words, capacity * routeWords);
    this.#hashes = grown(this.#hashes, capacity);
    this.#next = grown(this.#next, capacity, none);
    this.#first = new Int32Array(capacity).fill(none);
    for (let slot = 0; slot < this.#used; slot += 1) this.#link(slot);
  }

  #findHashed(words: Words, hash: number): number {
    let slot = at(this.#first, hash & (this.#first.length - 1));
    while (slot >= 0 && (this.#hashes[slot] !== hash || !this.#holds(slot, words))) slot = at(this.#next, slot);
    return slot;
  }

  #holds(slot: number, words: Words): boolean {
    const base = slot * routeWords;
    for (let i = 0; i < routeWords; i += 1) {
      if (this.words[base + i] !== words[i]) return false;
    }
    return true;
  }

  #bucketOf(slot: number): number {
    return at(this.#hashes, slot) & (this.#first.length - 1);
  }

  #hash(words: Words): number {
    let hash = this.#seed;
    for (let i = 0; i < routeWords; i += 1) {
      hash = Math.imul(hash ^ at(words, i), 0x9e3779b1);
      hash ^= hash >>> 15;
    }
    return hash;
  }
}

const none = -1;
/** A power of two: buckets are picked by the lower bits of a hash. */
const firstCapacity = 64;
