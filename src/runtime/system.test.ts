import assert from 'node:assert/strict';
import { it } from 'node:test';
import { sleep } from './clock.ts';
import { system } from './system.ts';

it('a timer of more than 25 days does not ring at once', async () => {
  const cancel = system.timer(30 * 24 * 3600 * 1000, () => assert.fail('rang'));
  await sleep(system, 20);
  cancel();
});

it('the real clock sleeps about as long as asked', async () => {
  const began = system.uptime();
  await sleep(system, 20);
  const took = system.uptime() - began;
  assert.ok(took >= 18 && took < 200 * 10, `took ${took} ms`);
});

it('what is overdue rings at once, without a warning in the log', async () => {
  const warnings: string[] = [];
  const note = ({ name }: Error): void => void warnings.push(name);
  process.on('warning', note);
  const { promise, resolve } = Promise.withResolvers<void>();
  system.timer(-0.005, resolve);
  await promise;
  await sleep(system, 0);
  process.off('warning', note);
  assert.deepEqual(warnings, []);
});
