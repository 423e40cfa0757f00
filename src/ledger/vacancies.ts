/**
 * Which of the numbers 0, 1, 2 … are open; all of them at first. The next open number is found by structure, not by
 * looking: numbers are kept as bits in groups of 256, and a full group is one bit in a group of groups. So a run of
 * closed numbers costs nothing however long it is, and memory goes with what is closed.
 */
export class Vacancies {
  readonly #firstIsShut: (group: number) => boolean;
  /** Per level: group → a bit for each member that is closed. A group without an entry is as it was at first. */
  readonly #levels: Map<number, Uint32Array>[] = [];

  /** `firstIsShut`: whether the first number of a group (0 is that of 0 to 255) never opens. */
  constructor(firstIsShut: (group: number) => boolean = () => false) {
    this.#firstIsShut = firstIsShut;
  }

  isOpen(number: number): boolean {
    const group = Math.floor(number / SIZE);
    const bits = this.#levels[0]?.get(group);
    const member = number - group * SIZE;
    return bits === undefined ? member > 0 || !this.#firstIsShut(group) : !hasBit(bits, member);
  }

  close(number: number): void {
    let member = number;
    for (let level = 0; ; level += 1) {
      const group = Math.floor(member / SIZE);
      const bits = this.#bitsAt(level, group);
      setBit(bits, member - group * SIZE);
      if (!isFull(bits)) return;
      member = group;
    }
  }

  open(number: number): void {
    if (number % SIZE === 0 && this.#firstIsShut(number / SIZE)) return;
    let member = number;
    for (let level = 0; ; level += 1) {
      const group = Math.floor(member / SIZE);
      const bits = this.#levels[level]?.get(group);
      if (bits === undefined) return;
      const wasFull = isFull(bits);
      clearBit(bits, member - group * SIZE);
      if (this.#isAsAtFirst(level, group, bits)) this.#levels[level]?.delete(group);
      if (!wasFull) return;
      member = group;
    }
  }

  /** The lowest open number that is not below `from`. */
  next(from: number): number {
    return this.#next(from, 0);
  }

  #next(from: number, level: number): number {
    const group = Math.floor(from / SIZE);
    const start = from - group * SIZE;
    const bits = this.#levels[level]?.get(group);
    if (bits === undefined) return start === 0 && level === 0 && this.#firstIsShut(group) ? from + 1 : from;
    const member = firstClear(bits, start);
    if (member < SIZE) return group * SIZE + member;
    return this.#next(this.#next(group + 1, level + 1) * SIZE, level);
  }

  #bitsAt(level: number, group: number): Uint32Array {
    let groups = this.#levels[level];
    if (groups === undefined) {
      groups = new Map();
      this.#levels[level] = groups;
    }
    let bits = groups.get(group);
    if (bits === undefined) {
      bits = new Uint32Array(WORDS);
      if (level === 0 && this.#firstIsShut(group)) bits[0] = 1;
      groups.set(group, bits);
    }
    return bits;
  }

  #isAsAtFirst(level: number, group: number, bits: Uint32Array): boolean {
    for (let i = 1; i < WORDS; i += 1) if (bits[i] !== 0) return false;
    return bits[0] === (level === 0 && this.#firstIsShut(group) ? 1 : 0);
  }
}

const SIZE = 256;
const WORDS = SIZE / 32;
const ALL = 0xffff_ffff;

const hasBit = (bits: Uint32Array, member: number): boolean => (wordAt(bits, member >> 5) & (1 << (member & 31))) !== 0;

function setBit(bits: Uint32Array, member: number): void {
  bits[member >> 5] = wordAt(bits, member >> 5) | (1 << (member & 31));
}

function clearBit(bits: Uint32Array, member: number): void {
  bits[member >> 5] = wordAt(bits, member >> 5) & ~(1 << (member & 31));
}

function isFull(bits: Uint32Array): boolean {
  for (let i = 0; i < WORDS; i += 1) if (bits[i] !== ALL) return false;
  return true;
}

/** `SIZE` when every bit from `start` on is set. */
function firstClear(bits: Uint32Array, start: number): number {
  let word = start >> 5;
  let clear = ~wordAt(bits, word) & (-1 << (start & 31));
  while (clear === 0) {
    word += 1;
    if (word === WORDS) return SIZE;
    clear = ~wordAt(bits, word);
  }
  return word * 32 + 31 - Math.clz32(clear & -clear);
}

const wordAt = (bits: Uint32Array, i: number): number => bits[i] ?? 0;
