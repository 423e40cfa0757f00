import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Slots } from './slots.ts';

const set = fc.uniqueArray(fc.integer({ min: 0, max: 30 }));

describe('slots', () => {
  it('number everything once, without a hole, and say exactly what changed', () => {
    fc.assert(
      fc.property(fc.array(set, { maxLength: 20 }), (wishes) => {
        const slots = new Slots<number>(String);
        const told = new Map<number, number>();
        for (const wanted of wishes) {
          const { cleared, filled } = slots.become(wanted);
          for (const slot of cleared) assert.ok(told.delete(slot));
          for (const [slot, item] of filled) {
            assert.ok(!told.has(slot));
            told.set(slot, item);
          }
          assert.deepEqual(
            [...told.keys()].sort((a, b) => a - b),
            wanted.map((_, i) => i),
          );
          assert.deepEqual(new Set(told.values()), new Set(wanted));
        }
      }),
    );
  });

  it('move one other item at most when one goes, however many there are', () => {
    const all = Array.from({ length: 1_000 }, (_, i) => i);
    for (const gone of [0, 500, 999]) {
      const slots = new Slots<number>(String);
      slots.become(all);
      const { cleared, filled } = slots.become(all.filter((item) => item !== gone));
      assert.ok(cleared.length <= 2 && filled.length <= 1);
    }
  });

  it('put what comes into the place of what goes', () => {
    const slots = new Slots<string>(String);
    slots.become(['a', 'b', 'c']);
    assert.deepEqual(slots.become(['a', 'x', 'c']), {
      coming: ['x'],
      going: ['b'],
      cleared: [1],
      filled: [[1, 'x']],
    });
  });
});
