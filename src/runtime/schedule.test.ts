import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Schedule, type Scheduled } from './schedule.ts';

describe('a schedule', () => {
  it('gives what is due in the order of time, then of entry, whatever was added and removed before', () => {
    const step = fc.oneof(
      fc.record({ add: fc.integer({ min: 0, max: 50 }) }),
      fc.record({ remove: fc.nat() }),
      fc.record({ take: fc.integer({ min: 0, max: 50 }) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const schedule = new Schedule<number>();
        let model: Scheduled<number>[] = [];
        let count = 0;
        const removed: Scheduled<number>[] = [];
        for (const step of steps) {
          if ('add' in step) {
            model.push(schedule.add(step.add, count));
            count += 1;
          } else if ('remove' in step) {
            const entry = model[step.remove % Math.max(1, model.length)];
            if (entry === undefined) continue;
            schedule.remove(entry);
            removed.push(entry);
            model = model.filter((other) => other !== entry);
          } else {
            const due = model.filter(({ due }) => due <= step.take).sort((a, b) => a.due - b.due || a.item - b.item);
            assert.equal(schedule.takeDue(step.take)?.item, due[0]?.item);
            model = model.filter((other) => other !== due[0]);
          }
          // Removing what is out already changes nothing.
          for (const entry of removed) schedule.remove(entry);
          assert.equal(schedule.size, model.length);
          const first = model.reduce((least, { due }) => Math.min(least, due), Number.POSITIVE_INFINITY);
          assert.equal(schedule.first?.due ?? Number.POSITIVE_INFINITY, first);
        }
      }),
    );
  });

  it('moves 100 000 entries in and out in a moment', () => {
    const schedule = new Schedule<number>();
    const entries = Array.from({ length: 100_000 }, (_, i) => schedule.add((i * 7919) % 100_000, i));
    const began = performance.now();
    for (const entry of entries) {
      schedule.remove(entry);
      schedule.add(entry.due + 1, entry.item);
    }
    let last = -1;
    for (let next = schedule.takeDue(200_000); next !== undefined; next = schedule.takeDue(200_000)) {
      assert.ok(next.due >= last);
      last = next.due;
    }
    assert.ok(performance.now() - began < 5_000);
  });
});
