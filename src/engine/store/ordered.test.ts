import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Ordered } from './ordered.ts';

const bound = fc.option(fc.integer({ min: 0, max: 3000 }), { nil: undefined });
const change = fc.record({
  key: fc.integer({ min: 0, max: 2999 }),
  run: fc.integer({ min: 1, max: 700 }),
  add: fc.boolean(),
});

test('an ordered map answers like a sorted array, however it grew and shrank', () => {
  fc.assert(
    fc.property(
      fc.array(change, { maxLength: 25 }),
      bound,
      bound,
      fc.integer({ min: 0, max: 900 }),
      (changes, a, b, limit) => {
        const ordered = new Ordered<number>();
        const model = new Map<string, number>();
        let written = 0;
        for (const { key, run, add } of changes) {
          for (let i = 0; i < run; i++) {
            const name = keyOf((key + i) % 3000);
            if (add) assert.equal(ordered.set(name, ++written), model.get(name));
            else assert.equal(ordered.delete(name), model.get(name));
            if (add) model.set(name, written);
            else model.delete(name);
          }
        }
        const sorted = [...model].sort(([x], [y]) => (x < y ? -1 : 1));
        const from = a === undefined ? '' : keyOf(a);
        const to = b === undefined ? undefined : keyOf(b);
        const within = sorted
          .filter(([key]) => key >= from && (to === undefined || key < to))
          .map(([, value]) => value);
        assert.equal(ordered.size, sorted.length);
        assert.deepEqual(ordered.slice(from, to), within);
        assert.deepEqual(ordered.slice(from, to, limit), within.slice(0, limit));
        assert.equal(ordered.countBetween(from, to), within.length);
        for (const probe of [0, 1500, 2999]) assert.equal(ordered.get(keyOf(probe)), model.get(keyOf(probe)));
      },
    ),
    { numRuns: 60 },
  );
});

test('keys of any characters that arrive in any order are found again, and come in order of their code units', () => {
  fc.assert(
    fc.property(fc.uint16Array({ minLength: 1000, maxLength: 2000 }), (units) => {
      // Halves of surrogate pairs are among them.
      const names = Array.from(units, (unit, i) => String.fromCharCode(unit, units[i - 1] ?? 0));
      const ordered = new Ordered<string>();
      for (const name of names) ordered.set(name, name);
      assert.deepEqual(ordered.slice('', undefined), [...new Set(names)].sort());
      assert.ok(names.every((name) => ordered.get(name) === name));
    }),
    { numRuns: 10 },
  );
});

function keyOf(number: number): string {
  return String(number).padStart(4, '0');
}
