import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Queue } from './queue.ts';

test('a queue gives back what was put in, in order, however far its front has moved', () => {
  const queue = new Queue<{ number: number }>();
  let first = 0;
  for (let number = 0; number < 10_000; number++) {
    queue.push({ number });
    if (number % 5 !== 0) assert.equal(queue.shift()?.number, first++);
    assert.equal(queue.length, number + 1 - first);
    assert.equal(queue.at(0)?.number, queue.length === 0 ? undefined : first);
  }
  assert.equal(queue.at(-1), undefined);
  assert.deepEqual(
    queue.sliceFrom(queue.length - 2).map((item) => item.number),
    [9998, 9999],
  );
});
