import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { age, humanDuration } from './human-duration.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

describe('a duration', () => {
  const examples: [milliseconds: number, text: string][] = [
    [0, '0s'],
    [119 * SECOND, '119s'],
    [2 * MINUTE, '2m'],
    [2 * MINUTE + 5 * SECOND, '2m5s'],
    [10 * MINUTE + 5 * SECOND, '10m'],
    [179 * MINUTE, '179m'],
    [3 * HOUR, '3h'],
    [7 * HOUR + 59 * MINUTE, '7h59m'],
    [47 * HOUR, '47h'],
    [2 * DAY, '2d'],
    [3 * DAY + 4 * HOUR, '3d4h'],
    [8 * DAY + 4 * HOUR, '8d'],
    [729 * DAY, '729d'],
    [2 * 365 * DAY, '2y'],
    [2 * 365 * DAY + 3 * DAY, '2y3d'],
    [8 * 365 * DAY + 3 * DAY, '8y'],
  ];
  for (const [milliseconds, text] of examples) {
    it(`of ${milliseconds / SECOND} seconds is ${text}`, () => assert.equal(humanDuration(milliseconds), text));
  }

  it('that ends a moment from now is none, because clocks differ', () => {
    assert.equal(humanDuration(-1500), '0s');
    assert.equal(humanDuration(-2500), '<invalid>');
  });

  it('never has more than two units', () => {
    fc.assert(
      fc.property(fc.nat({ max: 1e12 }), (milliseconds) => /^(\d+[smhdy]){1,2}$/.test(humanDuration(milliseconds))),
    );
  });
});

describe('the age since a timestamp', () => {
  const now = new Date('2024-01-02T00:00:00Z');

  it('is the time since then', () => assert.equal(age('2024-01-01T00:00:00Z', now), '24h'));
  it('is unknown without a timestamp', () => {
    assert.equal(age(undefined, now), '<unknown>');
    assert.equal(age('', now), '<unknown>');
  });
  it('is invalid for what is no timestamp', () => assert.equal(age('yesterday', now), '<invalid>'));
});
