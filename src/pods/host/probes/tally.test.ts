import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Tally } from './tally.ts';

const conclusions = (said: string, thresholds: ConstructorParameters<typeof Tally>[0]): string => {
  const tally = new Tally(thresholds);
  return [...said].map((each) => ({ true: '+', false: '-', undefined: '.' })[`${tally.count(each === '+')}`]).join('');
};

test('what a probe says counts when it has said it as often in a row as it must', () => {
  assert.equal(conclusions('+-+--+---+', {}), '+.+..+..-+');
  assert.equal(conclusions('-+++-+', { failureThreshold: 1, successThreshold: 3 }), '-..+-.');
  assert.equal(conclusions('++++', { successThreshold: 2 }), '.+++');
  assert.equal(conclusions('-+-+-+', { failureThreshold: 2, successThreshold: 2 }), '......');
});
