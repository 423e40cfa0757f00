import type { Deployment, ReplicaSet } from '../../api/apps/workloads.ts';
import { leeway, podsIn, type Rollout, sizeOf, wantedOf } from './deployment.ts';

export const REVISION = 'deployment.kubernetes.io/revision';
const HISTORY = 'deployment.kubernetes.io/revision-history';
const DESIRED = 'deployment.kubernetes.io/desired-replicas';
const MOST = 'deployment.kubernetes.io/max-replicas';

/** What speaks of the Deployment alone. All other annotations are for its ReplicaSets too. */
const NOT_COPIED = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  'deprecated.deployment.rollback.to',
  REVISION,
  HISTORY,
  DESIRED,
  MOST,
]);

type Annotations = Record<string, string>;

const numberIn = (set: ReplicaSet, key: string): number | undefined => {
  const text = set.metadata.annotations?.[key] ?? '';
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
};
export const revisionOf = (set: ReplicaSet): number => numberIn(set, REVISION) ?? 0;
/** How many pods the Deployment wanted when it last scaled the set, and how many it would have allowed in all. */
export const desiredIn = (set: ReplicaSet): number | undefined => numberIn(set, DESIRED);
export const mostIn = (set: ReplicaSet): number | undefined => numberIn(set, MOST);

export const nextRevision = ({ old }: Rollout): number => Math.max(0, ...old.map(revisionOf)) + 1;

export const sizeAnnotations = (deployment: Deployment): Annotations => ({
  [DESIRED]: String(wantedOf(deployment)),
  [MOST]: String(wantedOf(deployment) + leeway(deployment).surge),
});

export const annotationsOfNew = (rollout: Rollout): Annotations => ({
  ...copied(rollout.deployment),
  [REVISION]: String(nextRevision(rollout)),
  ...sizeAnnotations(rollout.deployment),
});

/** What must change in the annotations of the ReplicaSet that is the current one; nothing when they are right. */
export function annotationChanges(rollout: Rollout, current: ReplicaSet): Annotations {
  const found = current.metadata.annotations ?? {};
  const changes: Annotations = {};
  for (const [key, value] of Object.entries(copied(rollout.deployment))) {
    if (found[key] !== value) changes[key] = value;
  }
  const revision = nextRevision(rollout);
  // Older ones may have been deleted since: a revision never becomes smaller.
  if (revisionOf(current) >= revision) return changes;
  changes[REVISION] = String(revision);
  const former = found[REVISION];
  // It has been the current one before, and is again: the revisions that it was are remembered.
  if (former !== undefined) changes[HISTORY] = [found[HISTORY], former].filter((text) => text).join(',');
  return changes;
}

/** Those that are beyond what shall be remembered, and have no pods any more: the oldest revisions first. */
export function forgettable({ deployment, old }: Rollout): ReplicaSet[] {
  const limit = deployment.spec.revisionHistoryLimit ?? 10;
  const living = old.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  return living
    .sort((a, b) => revisionOf(a) - revisionOf(b))
    .slice(0, Math.max(0, living.length - limit))
    .filter((set) => sizeOf(set) === 0 && podsIn(set) === 0 && isObserved(set));
}

/** Whether its status is about the set as it is now. */
export const isObserved = ({ metadata, status }: ReplicaSet): boolean =>
  (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);

const copied = ({ metadata }: Deployment): Annotations =>
  Object.fromEntries(Object.entries(metadata.annotations ?? {}).filter(([key]) => !NOT_COPIED.has(key)));
