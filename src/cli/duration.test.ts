import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readDuration } from './duration.ts';

test('a time is written with its units', () => {
  const times: [string, number][] = [
    ['0s', 0],
    ['90s', 90_000],
    ['10m', 600_000],
    ['1h30m', 5_400_000],
    ['1d', 86_400_000],
  ];
  for (const [text, ms] of times) assert.equal(readDuration(text, '--cool-down'), ms, text);
});

test('what is no time is refused with an example', () => {
  for (const text of ['', '10', '10min', '-5s', 'm', '1.5h']) {
    assert.throws(() => readDuration(text, '--cool-down'), {
      message: `--cool-down takes a time such as 90s, 10m or 1h30m, not "${text}"`,
    });
  }
});
