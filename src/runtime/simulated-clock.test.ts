import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sleep } from './clock.ts';
import { SimulatedClock, skewed } from './simulated-clock.ts';

describe('the simulated clock', () => {
  it('rings timers in the order of their moments, and those of one moment in the order in which they were set', async () => {
    const clock = new SimulatedClock();
    const rung: string[] = [];
    for (const [name, ms] of [
      ['c', 20],
      ['a', 10],
      ['b', 10],
    ] as const)
      clock.timer(ms, () => rung.push(name));
    await clock.advance(15);
    assert.deepEqual(rung, ['a', 'b']);
    await clock.advance(5);
    assert.deepEqual(rung, ['a', 'b', 'c']);
  });

  it('finishes everything that a timer sets off before the next one rings', async () => {
    const clock = new SimulatedClock();
    const steps: string[] = [];
    const walk = async (name: string, ms: number): Promise<void> => {
      await sleep(clock, ms);
      for (let i = 0; i < 20; i += 1) await Promise.resolve();
      steps.push(`${name} at ${clock.uptime()}`);
    };
    void walk('first', 1);
    void walk('second', 2);
    await clock.advance(5);
    assert.deepEqual(steps, ['first at 1', 'second at 2']);
  });

  it('does not ring what was cancelled', async () => {
    const clock = new SimulatedClock();
    const cancel = clock.timer(1, () => assert.fail('rang'));
    cancel();
    await clock.advance(10);
    assert.equal(clock.pending, 0);
  });

  it('rings timers that timers set, within the same advance', async () => {
    const clock = new SimulatedClock();
    const rung: number[] = [];
    const again = (): void => {
      rung.push(clock.uptime());
      clock.timer(10, again);
    };
    clock.timer(10, again);
    await clock.advance(35);
    assert.deepEqual(rung, [10, 20, 30]);
  });

  it('ends a sleep early when the signal aborts, and leaves no timer behind', async () => {
    const clock = new SimulatedClock();
    const stop = new AbortController();
    const sleeping = sleep(clock, 1000, stop.signal);
    stop.abort();
    await sleeping;
    assert.equal(clock.pending, 0);
  });

  it('runs to the moment in which a condition holds, and says so when it never does', async () => {
    const clock = new SimulatedClock();
    clock.timer(30, () => {});
    await clock.until(() => clock.uptime() >= 30);
    assert.equal(clock.uptime(), 30);
    await assert.rejects(
      clock.until(() => false, { within: 100 }),
      /still not so after 100 ms/,
    );
  });

  it('derives chance from the seed alone', () => {
    const draw = (seed: number): unknown[] => {
      const clock = new SimulatedClock({ seed });
      return [clock.random(), clock.uuid(), clock.random()];
    };
    assert.deepEqual(draw(5), draw(5));
    assert.notDeepEqual(draw(5), draw(6));
  });

  it('shows a wrong and hasty clock to one machine while the others see the right one', async () => {
    const clock = new SimulatedClock();
    const hasty = skewed(clock, { ahead: 5_000, rate: 2 });
    const rung: number[] = [];
    hasty.timer(100, () => rung.push(clock.uptime()));
    const before = hasty.now() - clock.now();
    await clock.advance(60);
    assert.deepEqual(rung, [50]);
    assert.equal(before, 5_000);
    assert.equal(hasty.uptime(), 120);
  });
});
