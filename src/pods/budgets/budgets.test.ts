import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Pod } from '../../api/core/pod.ts';
import { PodDisruptionBudget } from '../../api/policy/pod-disruption-budget.ts';
import { timestamp } from '../../runtime/timestamp.ts';
import { NAMESPACE } from '../lab.fixture.ts';
import { Workloads } from '../workloads/workloads.fixture.ts';
import { accountOf, type Keeper } from './budget.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');

function budget(spec: Partial<PodDisruptionBudget['spec']>, disruptedPods: Record<string, string> = {}) {
  const metadata = { name: 'b', namespace: NAMESPACE, uid: 'b', resourceVersion: '1', generation: 3 };
  const counts = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 };
  return { metadata, spec: { selector: {}, ...spec }, status: { ...counts, disruptedPods } } as PodDisruptionBudget;
}

function pods(count: number, { ready = count, going = 0 } = {}): Pod[] {
  return Array.from({ length: count }, (_, i) => {
    const deletion = i >= count - going ? { deletionTimestamp: timestamp(NOW) } : {};
    const conditions = [{ type: 'Ready', status: i < ready ? 'True' : 'False', lastTransitionTime: timestamp(NOW) }];
    const metadata = { name: `p${i}`, namespace: NAMESPACE, uid: `p${i}`, resourceVersion: '1', ...deletion };
    return { metadata, spec: { containers: [] }, status: { phase: 'Running', conditions } } as unknown as Pod;
  });
}

const byOne = (replicas: number) => (): Keeper => ({ uid: 'set', replicas });

function sums(spec: Partial<PodDisruptionBudget['spec']>, all: readonly Pod[], keeperOf: (pod: Pod) => Keeper) {
  const { status } = accountOf(budget(spec), all, keeperOf, NOW);
  return [status.expectedPods, status.desiredHealthy, status.currentHealthy, status.disruptionsAllowed];
}

describe('the account of a disruption budget', () => {
  test('lets those go that are not needed', () => {
    assert.deepEqual(sums({ minAvailable: 2 }, pods(3), byOne(3)), [3, 2, 3, 1]);
    assert.deepEqual(sums({ minAvailable: 2 }, pods(3, { ready: 1 }), byOne(3)), [3, 2, 1, 0]);
    assert.deepEqual(sums({ maxUnavailable: 1 }, pods(3), byOne(3)), [3, 2, 3, 1]);
    assert.deepEqual(sums({ maxUnavailable: 5 }, pods(3), byOne(3)), [3, 0, 3, 3]);
  });

  test('rounds parts up, and takes them of what the workload is to have, not of what is there', () => {
    assert.deepEqual(sums({ minAvailable: '50%' }, pods(4), byOne(7)), [7, 4, 4, 0]);
    assert.deepEqual(sums({ maxUnavailable: '30%' }, pods(7), byOne(7)), [7, 4, 7, 3]);
  });

  test('counts every workload once, and nobody’s pods not at all where parts are meant', () => {
    const keeperOf = ({ metadata }: Pod): Keeper =>
      metadata.name === 'p0' ? 'nobody' : { uid: metadata.name === 'p1' ? 'one' : 'two', replicas: 2 };
    assert.deepEqual(sums({ maxUnavailable: 1 }, pods(4), keeperOf), [4, 3, 4, 1]);
  });

  test('does not count what goes already, nor what may go and has not been seen to', () => {
    assert.deepEqual(sums({ minAvailable: 1 }, pods(3, { going: 1 }), byOne(3)), [2, 1, 2, 1]);
    const since = timestamp(NOW - 10_000);
    const seen = accountOf(budget({ minAvailable: 1 }, { p0: since, gone: since }), pods(3), byOne(3), NOW);
    assert.deepEqual([seen.status.currentHealthy, seen.status.disruptionsAllowed], [2, 1]);
    assert.deepEqual(seen.status.disruptedPods, { p0: since });
    assert.equal(seen.nextAt, NOW + 110_000);
    const later = accountOf(budget({ minAvailable: 1 }, { p0: since }), pods(3), byOne(3), NOW + 110_000);
    assert.deepEqual([later.status.currentHealthy, later.status.disruptedPods, later.nextAt], [3, {}, undefined]);
  });

  test('lets nobody go where it cannot count, and says why', () => {
    const { status } = accountOf(budget({ maxUnavailable: 1 }), pods(2), () => ({ unknown: 'nobody knows' }), NOW);
    assert.equal(status.disruptionsAllowed, 0);
    const [condition] = status.conditions ?? [];
    assert.deepEqual(
      [condition?.type, condition?.status, condition?.reason, condition?.message, condition?.observedGeneration],
      ['DisruptionAllowed', 'False', 'SyncFailed', 'nobody knows', 3],
    );
  });
});

test('budgets follow the pods and the size of their workloads', async (t) => {
  const lab = new Workloads();
  t.after(() => lab.stop());
  lab.start();
  for (const name of ['a', 'b']) lab.host(name);
  const account = (): string => {
    const [found] = lab.world.api.objects(PodDisruptionBudget);
    const { expectedPods, desiredHealthy, currentHealthy, disruptionsAllowed } = found?.status ?? {};
    return [expectedPods, desiredHealthy, currentHealthy, disruptionsAllowed].join(' ');
  };
  await lab.deploy('web', { replicas: 4 });
  await lab.world.client.create(PodDisruptionBudget, {
    metadata: { name: 'web', namespace: NAMESPACE },
    spec: { selector: { matchLabels: { app: 'web' } }, maxUnavailable: '25%' },
  });
  await lab.settle(10_000);
  assert.equal(account(), '4 3 4 1');
  await lab.change('web', { replicas: 8 });
  await lab.settle(10_000);
  assert.equal(account(), '8 6 8 2');
  await lab.cut('a');
  const seen: string[] = [];
  for (let second = 0; second < 60; second += 1) {
    await lab.settle(1_000);
    seen.push(account());
  }
  assert.ok(
    seen.some((each) => /^8 6 [0-7] [01]$/.test(each)),
    seen.join(', '),
  );
  assert.equal(seen.at(-1), '8 6 8 2');
});
