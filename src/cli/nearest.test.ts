import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { editDistance, suggestion } from './nearest.ts';

const word = fc.string({ maxLength: 8 });

test('the edit distance is 0 for equal words only, and the same both ways', () => {
  fc.assert(
    fc.property(word, word, (one, other) => {
      const [there, back] = [editDistance(one, other), editDistance(other, one)];
      assert.equal(there === 0, one === other);
      if (Number.isFinite(there) && Number.isFinite(back)) assert.equal(there, back);
    }),
  );
});

test('one slip of the finger is a distance of one', () => {
  assert.equal(editDistance('aply', 'apply'), 1);
  assert.equal(editDistance('appply', 'apply'), 1);
  assert.equal(editDistance('spply', 'apply'), 1);
  assert.equal(editDistance('appyl', 'apply'), 1);
});

test('the beginning of a word suggests the word', () => {
  assert.equal(suggestion('desc', ['delete', 'describe']), ' Did you mean "describe"?');
});

test('a word far from all suggests none', () => {
  assert.equal(suggestion('xyzzy', ['delete', 'describe']), '');
});

test('an endless word costs nothing', () => {
  assert.equal(suggestion('x'.repeat(1_000_000), ['delete']), '');
});
