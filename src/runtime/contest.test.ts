import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApiObject } from '../api/object.ts';
import { Contest, type Said } from './contest.ts';

const says = (text: string): Said & { readonly text: string } => ({ observedGeneration: 1, text });
const net = (status?: Said): ApiObject & { readonly status?: Said } => ({
  apiVersion: 'sim.netloom.test/v1',
  kind: 'Net',
  metadata: { name: 'a', uid: 'a', resourceVersion: '1', generation: 1, creationTimestamp: '' },
  ...(status === undefined ? {} : { status }),
});

test('the first word, a new word and an unchanged one are never held back', () => {
  const contest = new Contest();
  assert.equal(contest.delay(net(), says('x'), 0), 0);
  assert.equal(contest.delay(net(says('x')), says('x'), 1), 0);
  assert.equal(contest.delay(net(says('x')), says('y'), 2), 0);
  assert.equal(contest.delay(net(says('y')), says('z'), 3), 0);
});

test('saying again what somebody replaced takes longer each time, up to a minute', () => {
  const contest = new Contest();
  const gaps: number[] = [];
  let now = 0;
  contest.delay(net(says('theirs')), says('ours'), now);
  for (let i = 0; i < 10; i += 1) {
    const gap = contest.delay(net(says('theirs')), says('ours'), now);
    gaps.push(gap);
    now += gap;
    assert.equal(contest.delay(net(says('theirs')), says('ours'), now), 0);
  }
  assert.deepEqual(gaps.slice(0, 4), [1_000, 2_000, 4_000, 8_000]);
  assert.equal(gaps.at(-1), 60_000);
});

test('an old quarrel is forgotten', () => {
  const contest = new Contest();
  contest.delay(net(says('theirs')), says('ours'), 0);
  assert.equal(contest.delay(net(says('theirs')), says('ours'), 3_600_000), 0);
});
