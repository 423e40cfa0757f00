import type { Chance } from '../../../src/runtime/clock.ts';

/** Chance, in the words of those who make up stories. */
export class Dice {
  readonly #chance: Chance;

  constructor(chance: Chance) {
    this.#chance = chance;
  }

  /** A whole number from 0, less than `limit`. */
  below(limit: number): number {
    return Math.floor(this.#chance.random() * limit);
  }

  between(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  oneIn(count: number): boolean {
    return this.below(count) === 0;
  }

  pick<T>(things: readonly T[]): T | undefined {
    return things[this.below(things.length)];
  }

  weighted<T>(things: readonly (readonly [weight: number, thing: T])[]): T {
    let point = this.below(things.reduce((sum, [weight]) => sum + weight, 0));
    for (const [weight, thing] of things) {
      if (point < weight) return thing;
      point -= weight;
    }
    throw new Error('there is nothing to choose from');
  }
}
