import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { IPSet, IPSetStatus } from '../api/network.openstack.org/ipset.ts';
import { Contest } from './contest.ts';

const says = (reservation: string): IPSetStatus => ({ observedGeneration: 1, reservation });
const ipSet = (status?: IPSetStatus): IPSet => ({
  apiVersion: 'network.openstack.org/v1beta1',
  kind: 'IPSet',
  metadata: { name: 'a', uid: 'a', resourceVersion: '1', generation: 1, creationTimestamp: '' },
  spec: { immutable: false, networks: [] },
  ...(status === undefined ? {} : { status }),
});

test('the first word, a new word and an unchanged one are never held back', () => {
  const contest = new Contest();
  assert.equal(contest.delay(ipSet(), says('x'), 0), 0);
  assert.equal(contest.delay(ipSet(says('x')), says('x'), 1), 0);
  assert.equal(contest.delay(ipSet(says('x')), says('y'), 2), 0);
  assert.equal(contest.delay(ipSet(says('y')), says('z'), 3), 0);
});

test('saying again what somebody replaced takes longer each time, up to a minute', () => {
  const contest = new Contest();
  const gaps: number[] = [];
  let now = 0;
  contest.delay(ipSet(says('theirs')), says('ours'), now);
  for (let i = 0; i < 10; i += 1) {
    const gap = contest.delay(ipSet(says('theirs')), says('ours'), now);
    gaps.push(gap);
    now += gap;
    assert.equal(contest.delay(ipSet(says('theirs')), says('ours'), now), 0);
  }
  assert.deepEqual(gaps.slice(0, 4), [1_000, 2_000, 4_000, 8_000]);
  assert.equal(gaps.at(-1), 60_000);
});

test('an old quarrel is forgotten', () => {
  const contest = new Contest();
  contest.delay(ipSet(says('theirs')), says('ours'), 0);
  assert.equal(contest.delay(ipSet(says('theirs')), says('ours'), 3_600_000), 0);
});
