import type { Chance } from './clock.ts';

/** Chance that is the same for the same seed, on every machine. */
export class SeededChance implements Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** Mulberry32: small and well spread. */
  random(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  uuid(): string {
    const digits = (count: number): string =>
      Array.from({ length: count }, () => Math.floor(this.random() * 16).toString(16)).join('');
    const variant = '89ab'.charAt(Math.floor(this.random() * 4));
    return `${digits(8)}-${digits(4)}-4${digits(3)}-${variant}${digits(3)}-${digits(12)}`;
  }
}
