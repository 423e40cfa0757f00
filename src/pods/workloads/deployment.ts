import type { Deployment, ReplicaSet } from '../../api/apps/workloads.ts';
import { conditionOf } from './conditions.ts';
import { isSameTemplate } from './template.ts';

/** A Deployment and what it controls. */
export interface Rollout {
  readonly deployment: Deployment;
  /** The one whose pods are as the Deployment wants them now. */
  readonly current: ReplicaSet | undefined;
  /** All others, the oldest first. */
  readonly old: readonly ReplicaSet[];
}

export function rolloutOf(deployment: Deployment, sets: readonly ReplicaSet[]): Rollout {
  const byAge = [...sets].sort(olderFirst);
  // Of several that fit, which only hands of people can make, the oldest counts.
  const current = byAge.find(({ spec }) => spec.template && isSameTemplate(spec.template, deployment.spec.template));
  return { deployment, current, old: byAge.filter((set) => set !== current) };
}

export const allOf = ({ current, old }: Rollout): ReplicaSet[] =>
  current === undefined ? [...old] : [...old, current];

export const wantedOf = ({ spec }: Deployment): number => spec.replicas ?? 1;
export const sizeOf = ({ spec }: ReplicaSet): number => spec.replicas ?? 1;
export const availableIn = ({ status }: ReplicaSet): number => status?.availableReplicas ?? 0;
export const podsIn = ({ status }: ReplicaSet): number => status?.replicas ?? 0;
export const total = (sets: readonly ReplicaSet[], count: (set: ReplicaSet) => number): number =>
  sets.reduce((sum, set) => sum + count(set), 0);

export const isRolling = ({ spec }: Deployment): boolean =>
  (spec.strategy?.type ?? 'RollingUpdate') === 'RollingUpdate';

/** How many pods there may be beyond those wanted, and how many of those wanted may be missing, while pods are replaced. */
export function leeway(deployment: Deployment): { surge: number; unavailable: number } {
  if (!isRolling(deployment)) return { surge: 0, unavailable: 0 };
  const wanted = wantedOf(deployment);
  const { maxSurge = '25%', maxUnavailable = '25%' } = deployment.spec.strategy?.rollingUpdate ?? {};
  const surge = resolve(maxSurge, wanted, Math.ceil);
  const unavailable = resolve(maxUnavailable, wanted, Math.floor);
  // Percentages of few pods come to nothing, and with nothing to spare nothing could ever be replaced.
  const least = surge === 0 && unavailable === 0 ? 1 : unavailable;
  return { surge, unavailable: Math.min(wanted, least) };
}

function resolve(amount: number | string, wanted: number, round: (value: number) => number): number {
  if (typeof amount === 'number') return Math.max(0, amount);
  const percent = Number.parseInt(amount, 10);
  return Number.isNaN(percent) ? 0 : Math.max(0, round((percent * wanted) / 100));
}

const NEVER = 2 ** 31 - 1;

/** In milliseconds; undefined where nobody waits for progress. */
export function deadlineOf({ spec }: Deployment): number | undefined {
  const seconds = spec.progressDeadlineSeconds;
  return seconds === undefined || seconds === NEVER ? undefined : seconds * 1000;
}

type DeploymentStatus = Exclude<Deployment['status'], undefined>;

export function isComplete(deployment: Deployment, status: DeploymentStatus): boolean {
  const wanted = wantedOf(deployment);
  return (
    (status.updatedReplicas ?? 0) === wanted &&
    (status.replicas ?? 0) === wanted &&
    (status.availableReplicas ?? 0) === wanted &&
    (status.observedGeneration ?? 0) >= (deployment.metadata.generation ?? 0)
  );
}

export const progressOf = ({ status }: Deployment) => conditionOf(status?.conditions, 'Progressing');

function olderFirst(a: ReplicaSet, b: ReplicaSet): number {
  const [first, second] = [a.metadata, b.metadata];
  if (first.creationTimestamp !== second.creationTimestamp) {
    return first.creationTimestamp < second.creationTimestamp ? -1 : 1;
  }
  return first.name < second.name ? -1 : 1;
}
