import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { sleep } from './clock.ts';
import { SimulatedClock } from './simulated-clock.ts';
import { WorkQueue, type WorkQueueOptions, type WorkResult } from './work-queue.ts';

type Options = Partial<WorkQueueOptions> & { result?: (key: string) => WorkResult; lasts?: number };

/** A queue whose work takes `lasts` milliseconds and notes when it began, and on what. */
function queueOf({ result = () => 'done', lasts = 10, ...options }: Options = {}) {
  const clock = new SimulatedClock();
  const calls: { at: number; keys: readonly string[] }[] = [];
  const work = async (keys: readonly string[]): Promise<WorkResult[]> => {
    calls.push({ at: clock.uptime(), keys });
    await sleep(clock, lasts);
    return keys.map(result);
  };
  const queue = new WorkQueue({ system: clock, work, ...options });
  queue.start();
  return { clock, queue, calls, seen: () => calls.map(({ at, keys }) => `${at}: ${keys.join(' ')}`) };
}

describe('a work queue', () => {
  it('works on a key once, however often it was added', async () => {
    const { clock, queue, seen } = queueOf();
    for (const key of ['a', 'b', 'a', 'a']) queue.add(key);
    await clock.advance(100);
    assert.deepEqual(seen(), ['0: a', '10: b']);
  });

  it('works on a key once more when it is added while being worked on, and never on one key twice at once', async () => {
    const { clock, queue, seen } = queueOf({ parallel: 4 });
    queue.add('a');
    await clock.advance(5);
    queue.add('a');
    queue.add('a');
    await clock.advance(100);
    assert.deepEqual(seen(), ['0: a', '10: a']);
  });

  it('works on several keys at once, but on no more than it may', async () => {
    const { clock, queue, seen } = queueOf({ parallel: 2 });
    for (const key of ['a', 'b', 'c']) queue.add(key);
    await clock.advance(100);
    assert.deepEqual(seen(), ['0: a', '0: b', '10: c']);
  });

  it('hands out in one batch what was added in one go or became ready meanwhile', async () => {
    const { clock, queue, seen } = queueOf({ batch: 3 });
    for (const key of ['a', 'b']) queue.add(key);
    await clock.advance(5);
    for (const key of ['c', 'd', 'e', 'f']) queue.add(key);
    await clock.advance(100);
    assert.deepEqual(seen(), ['0: a b', '10: c d e', '20: f']);
  });

  it('lets more come together after a batch of several, unless the next one is full already', async () => {
    const { clock, queue, seen } = queueOf({ batch: 3, pause: 20 });
    for (const key of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) queue.add(key);
    await clock.advance(25);
    queue.add('h');
    await clock.advance(100);
    assert.deepEqual(seen(), ['0: a b c', '10: d e f', '40: g h']);
    queue.add('i');
    queue.add('j');
    await clock.advance(15);
    await queue.stop();
    assert.equal(clock.pending, 0);
  });

  it('does not let those wait who come one by one', async () => {
    const { clock, queue, seen } = queueOf({ batch: 3, pause: 20 });
    queue.add('a');
    await clock.advance(5);
    queue.add('b');
    await clock.advance(100);
    assert.deepEqual(seen(), ['0: a', '10: b']);
  });

  it('does not begin before it is started', async () => {
    const clock = new SimulatedClock();
    const begun: string[] = [];
    const work = async (keys: readonly string[]): Promise<WorkResult[]> => {
      begun.push(...keys);
      return keys.map(() => 'done');
    };
    const queue = new WorkQueue({ system: clock, work, batch: 10 });
    for (const key of ['a', 'b', 'a']) queue.add(key);
    await clock.advance(10);
    assert.deepEqual(begun, []);
    queue.start();
    await clock.advance(0);
    assert.deepEqual(begun, ['a', 'b']);
  });

  it('tries a failed key again after ever longer delays, and the others meanwhile', async () => {
    const { clock, queue, calls } = queueOf({
      result: (key) => (key === 'bad' ? 'failed' : 'done'),
      lasts: 0,
      retry: { first: 100, max: 800 },
    });
    queue.add('bad');
    await clock.advance(50);
    queue.add('good');
    await clock.advance(5_000);
    const tries = calls.filter(({ keys }) => keys[0] === 'bad').map(({ at }) => at);
    const delays = tries.slice(1).map((at, i) => at - (tries[i] ?? 0));
    [100, 200, 400, 800, 800].forEach((most, i) => {
      const delay = delays[i] ?? 0;
      assert.ok(delay <= most && delay >= most * 0.75, `delay ${i} is ${delay} ms`);
    });
    assert.ok(calls.some(({ at, keys }) => at === 50 && keys[0] === 'good'));
  });

  it('forgets earlier failures after a success', async () => {
    let fails = 6;
    const result = (): WorkResult => {
      fails -= 1;
      return fails >= 0 ? 'failed' : 'done';
    };
    const { clock, queue, calls } = queueOf({ result, lasts: 0, retry: { first: 100, max: 60_000 } });
    queue.add('a');
    await clock.advance(60_000);
    assert.equal(calls.length, 7);
    fails = 1;
    queue.add('a');
    await clock.advance(100);
    assert.equal(calls.length, 9);
  });

  it('wakes a failing key when it is added, but no more often than once a second', async () => {
    const { clock, queue, calls } = queueOf({
      result: () => 'failed',
      lasts: 0,
      retry: { first: 60_000, max: 60_000 },
    });
    queue.add('a');
    await clock.advance(500);
    for (let i = 0; i < 500; i += 1) {
      queue.add('a');
      await clock.advance(10);
    }
    assert.equal(calls.length, 6);
    await clock.advance(20_000);
    queue.add('a');
    await clock.advance(0);
    assert.equal(calls.length, 8);
  });

  it('looks again when the work said so, or earlier when it is added', async () => {
    const { clock, queue, seen } = queueOf({ result: () => ({ after: 1_000 }), lasts: 0 });
    queue.add('a');
    await clock.advance(1_500);
    queue.add('a');
    await clock.advance(1_100);
    assert.deepEqual(seen(), ['0: a', '1000: a', '1500: a', '2500: a']);
  });

  it('tries those alone that failed together', async () => {
    const clock = new SimulatedClock();
    const batches: string[] = [];
    const work = async (keys: readonly string[]): Promise<WorkResult[]> => {
      batches.push(keys.join(' '));
      if (keys.includes('slow')) await sleep(clock, 100);
      if (!keys.includes('poison')) return keys.map(() => 'done');
      return keys.map(() => (keys.length > 1 ? 'failed together' : 'failed'));
    };
    const queue = new WorkQueue({ system: clock, work, batch: 10, retry: { first: 100, max: 100 } });
    queue.start();
    for (const key of ['a', 'poison', 'b']) queue.add(key);
    await clock.advance(70);
    queue.add('slow');
    await clock.advance(1);
    for (const key of ['c', 'd']) queue.add(key);
    await clock.advance(100);
    assert.deepEqual(batches.slice(0, 3), ['a poison b', 'slow', 'c d']);
    assert.deepEqual(batches.slice(3).sort(), ['a', 'b', 'poison']);
    queue.add('c');
    queue.add('a');
    await clock.advance(0);
    assert.equal(batches.at(-1), 'c a');
  });

  it('begins nothing more once stopped, waits for what is under way, and leaves no timer', async () => {
    const { clock, queue, seen } = queueOf({ result: () => 'failed' });
    for (const key of ['a', 'b']) queue.add(key);
    await clock.advance(5);
    let stopped = false;
    void queue.stop().then(() => {
      stopped = true;
    });
    queue.add('c');
    await clock.advance(4);
    assert.equal(stopped, false);
    await clock.advance(1_000);
    assert.equal(stopped, true);
    assert.deepEqual(seen(), ['0: a']);
    assert.equal(clock.pending, 0);
  });

  it('takes 100 000 keys, waiting or delayed, in a moment', async () => {
    const clock = new SimulatedClock();
    let count = 0;
    const work = async (keys: readonly string[]): Promise<WorkResult[]> => {
      count += keys.length;
      return keys.map(() => (count <= 100_000 ? { after: 1_000 + (count % 100) } : 'done'));
    };
    const queue = new WorkQueue({ system: clock, work, batch: 100 });
    queue.start();
    const began = performance.now();
    for (let i = 0; i < 100_000; i += 1) queue.add(`k${i}`);
    await clock.advance(2_000);
    assert.equal(count, 200_000);
    assert.ok(performance.now() - began < 5_000);
  });

  it('keeps its promises whatever is added whenever, and whatever becomes of it', async () => {
    const key = fc.constantFrom('a', 'b', 'c', 'd', 'e');
    const step = fc.record({ key, pause: fc.integer({ min: 0, max: 300 }) });
    const options = fc.record({
      seed: fc.integer(),
      parallel: fc.integer({ min: 1, max: 3 }),
      batch: fc.integer({ min: 1, max: 4 }),
      rest: fc.constantFrom(0, 20),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), options, async (steps, { seed, rest, ...limits }) => {
        const { parallel, batch } = limits;
        const clock = new SimulatedClock({ seed });
        const busy = new Set<string>();
        const asked = new Map<string, number>();
        const looked = new Map<string, number>();
        let running = 0;
        let calm = false;
        const work = async (keys: readonly string[]): Promise<WorkResult[]> => {
          running += 1;
          assert.ok(running <= parallel && keys.length >= 1 && keys.length <= batch);
          assert.equal(new Set(keys).size, keys.length);
          for (const key of keys) {
            assert.ok(!busy.has(key), `${key} is worked on twice at once`);
            busy.add(key);
            looked.set(key, clock.uptime());
          }
          await sleep(clock, clock.random() * 100);
          for (const key of keys) busy.delete(key);
          running -= 1;
          const results: WorkResult[] = ['done', 'failed', 'failed together', { after: clock.random() * 500 }];
          return keys.map(() => (calm ? 'done' : (results[Math.floor(clock.random() * results.length)] ?? 'done')));
        };
        const queue = new WorkQueue({ system: clock, work, ...limits, pause: rest });
        queue.start();
        for (const { key, pause } of steps) {
          asked.set(key, clock.uptime());
          queue.add(key);
          await clock.advance(pause);
        }
        calm = true;
        await clock.advance(60_000);
        // Everything that was asked for has been looked at since.
        for (const [key, at] of asked) assert.ok((looked.get(key) ?? -1) >= at, `${key} was forgotten`);
        assert.deepEqual(queue.depth, { ready: 0, later: 0, running: 0 });
        await queue.stop();
        assert.equal(clock.pending, 0);
      }),
      { numRuns: 100 },
    );
  });
});
