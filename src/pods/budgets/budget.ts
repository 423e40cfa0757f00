import type { Pod } from '../../api/core/pod.ts';
import type { PodDisruptionBudget } from '../../api/policy/pod-disruption-budget.ts';
import { timestamp } from '../../runtime/timestamp.ts';
import { isReady, isTerminating, withCondition } from '../pod-state.ts';

/** How many pods a workload is to have. */
export interface Scale {
  readonly uid: string;
  readonly replicas: number;
}

/** Who keeps up a pod; a sentence where nobody knows how many there are to be. */
export type Keeper = Scale | 'nobody' | { readonly unknown: string };

type Status = NonNullable<PodDisruptionBudget['status']>;

export interface Account {
  readonly status: Status;
  /** When to count anew even if nothing happens, in milliseconds since 1970. */
  readonly nextAt: number | undefined;
}

/** An eviction that nobody has seen the end of for so long came to nothing: the pod counts again. In milliseconds. */
const UNSEEN = 120_000;

/**
 * How many of these pods may go just now.
 * @param pods all that the budget is about
 */
export function accountOf(
  budget: PodDisruptionBudget,
  pods: readonly Pod[],
  keeperOf: (pod: Pod) => Keeper,
  now: number,
): Account {
  const counted = pods.filter((pod) => !isFinishedOrGoing(pod));
  const awaited = stillAwaited(budget, pods, now);
  const healthy = counted.filter((pod) => isReady(pod) && awaited[pod.metadata.name] === undefined).length;
  const goal = goalOf(budget, counted, keeperOf);
  const { expected, desired } = 'why' in goal ? { expected: 0, desired: 0 } : goal;
  const allowed = 'why' in goal || expected <= 0 ? 0 : Math.max(0, healthy - desired);
  const observedGeneration = budget.metadata.generation ?? 0;
  const said =
    'why' in goal
      ? { status: 'False' as const, reason: 'SyncFailed', message: goal.why }
      : { status: allowed > 0 ? ('True' as const) : ('False' as const), ...reasonFor(allowed) };
  const conditions = withCondition(budget.status?.conditions, { type: 'DisruptionAllowed', ...said }, now);
  const moments = Object.values(awaited).map((since) => Date.parse(since) + UNSEEN);
  return {
    status: {
      observedGeneration,
      disruptedPods: awaited,
      disruptionsAllowed: allowed,
      currentHealthy: healthy,
      desiredHealthy: desired,
      expectedPods: expected,
      conditions: conditions.map((each) => ({ ...each, observedGeneration })),
    },
    nextAt: moments.length === 0 ? undefined : Math.min(...moments),
  };
}

const reasonFor = (allowed: number) => ({ reason: allowed > 0 ? 'SufficientPods' : 'InsufficientPods', message: '' });

/** What has ended by itself is missed by nobody. */
const isFinishedOrGoing = (pod: Pod): boolean =>
  isTerminating(pod) || pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';

function stillAwaited({ status }: PodDisruptionBudget, pods: readonly Pod[], now: number): Record<string, string> {
  const staying = new Set(pods.filter((pod) => !isTerminating(pod)).map(({ metadata }) => metadata.name));
  const entries = Object.entries(status?.disruptedPods ?? {});
  return Object.fromEntries(
    entries
      .filter(([name, since]) => staying.has(name) && Date.parse(since) + UNSEEN > now)
      .map(([name, since]) => [name, timestamp(Date.parse(since))]),
  );
}

type Goal = { readonly expected: number; readonly desired: number } | { readonly why: string };

function goalOf({ spec }: PodDisruptionBudget, pods: readonly Pod[], keeperOf: (pod: Pod) => Keeper): Goal {
  const { minAvailable, maxUnavailable } = spec;
  if (typeof minAvailable === 'number' && maxUnavailable === undefined) {
    return { expected: pods.length, desired: minAvailable };
  }
  if (minAvailable === undefined && maxUnavailable === undefined) return { expected: pods.length, desired: 0 };
  const scales = new Map<string, number>();
  for (const pod of pods) {
    const keeper = keeperOf(pod);
    if (keeper === 'nobody') continue;
    if ('unknown' in keeper) return { why: keeper.unknown };
    scales.set(keeper.uid, keeper.replicas);
  }
  const expected = [...scales.values()].reduce((sum, replicas) => sum + replicas, 0);
  const desired =
    maxUnavailable === undefined ? partOf(minAvailable ?? 0, expected) : expected - partOf(maxUnavailable, expected);
  return { expected, desired: Math.max(0, desired) };
}

/** Rounded up, whether it says how many stay or how many may go. */
function partOf(amount: number | string, whole: number): number {
  if (typeof amount === 'number') return amount;
  return Math.ceil(((Number.parseInt(amount, 10) || 0) * whole) / 100);
}
