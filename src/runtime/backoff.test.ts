import assert from 'node:assert/strict';
import { it } from 'node:test';
import { backoff } from './backoff.ts';

const bounds = { first: 10, max: 1000 };

it('each delay is twice the one before, up to the longest, however many failures there were', () => {
  const certain = { random: () => 0, uuid: () => '' };
  const delays = [1, 2, 3, 7, 8, 5000].map((failures) => backoff(failures, bounds, certain));
  assert.deepEqual(delays, [10, 20, 40, 640, 1000, 1000]);
});

it('chance takes up to a quarter off a delay', () => {
  const unlucky = { random: () => 0.999, uuid: () => '' };
  const delay = backoff(8, bounds, unlucky);
  assert.ok(delay > 750 && delay < 751);
});
