import type { Chance } from './clock.ts';

export interface BackoffBounds {
  /** The first delay in milliseconds; each further one is twice as long. */
  first: number;
  /** No delay is longer. */
  max: number;
}

/** How long to wait after the n-th failure in a row (from 1): up to a quarter less, so that many do not come back at once. */
export function backoff(failures: number, { first, max }: BackoffBounds, chance: Chance): number {
  const delay = Math.min(max, first * 2 ** Math.min(failures - 1, 40));
  return delay * (1 - chance.random() / 4);
}
