import type { StatefulSet } from '../../api/apps/workloads.ts';
import type { Pod } from '../../api/core/pod.ts';
import type { StatusOf } from '../../runtime/draft.ts';
import { isFinished, isReady, isTerminating, untilAvailable } from '../pod-state.ts';
import { REVISION_HASH } from './controller-revisions.ts';

/** The names of the revisions that pods are of, or shall become. */
export interface Revisions {
  readonly current: string;
  readonly update: string;
}

/** What a StatefulSet does next. */
export interface StatefulStep {
  readonly create: readonly { readonly ordinal: number; readonly revision: string }[];
  readonly remove: readonly Pod[];
}

const NOTHING: StatefulStep = { create: [], remove: [] };

export const startOf = ({ spec }: StatefulSet): number => spec.ordinals?.start ?? 0;
const wantedOf = ({ spec }: StatefulSet): number => spec.replicas ?? 1;
export const isOrdered = ({ spec }: StatefulSet): boolean => spec.podManagementPolicy !== 'Parallel';

/** The number in the name of a pod; undefined for what has no name that the set gives. */
export function ordinalOf({ metadata }: Pod, { metadata: { name } }: StatefulSet): number | undefined {
  const digits = metadata.name.startsWith(`${name}-`) ? metadata.name.slice(name.length + 1) : '';
  return /^(0|[1-9]\d{0,8})$/.test(digits) ? Number(digits) : undefined;
}

const revisionOf = ({ metadata }: Pod): string => metadata.labels?.[REVISION_HASH] ?? '';
const isRunningAndReady = (pod: Pod): boolean => pod.status?.phase === 'Running' && isReady(pod);

/**
 * The pods of a set have names for life, and of each name there is never more than one: a successor is made when its predecessor
 * is off the record, and not before. In order, one thing happens at a time, and only when all pods before it serve.
 */
export function nextStep(set: StatefulSet, pods: readonly Pod[], revisions: Revisions, now: number): StatefulStep {
  const { places, surplus } = sorted(set, pods);
  const ordered = isOrdered(set);
  const isHealthy = (pod: Pod): boolean =>
    !isTerminating(pod) && isRunningAndReady(pod) && untilAvailable(pod, set.spec.minReadySeconds ?? 0, now) === 0;
  const create: { ordinal: number; revision: string }[] = [];
  const remove: Pod[] = [];
  for (const [i, pod] of places.entries()) {
    if (pod === undefined) {
      create.push({ ordinal: startOf(set) + i, revision: revisionFor(set, startOf(set) + i, revisions) });
      if (ordered) return { create, remove };
    } else if (isFinished(pod)) {
      if (!isTerminating(pod)) remove.push(pod);
      if (ordered) return { create, remove };
    } else if (ordered && !isHealthy(pod)) {
      // It does not serve, and is not what it should be: whoever has taken back a broken template need not clean up by hand.
      const isOutdated = isRenewed(set, i) && revisionOf(pod) !== revisions.update;
      return isOutdated && !isTerminating(pod) && !isReady(pod) ? { create, remove: [pod] } : NOTHING;
    }
  }
  if (create.length > 0 || remove.length > 0) return { create, remove };
  const shrunk = shrink(surplus, ordered, isHealthy);
  if (shrunk !== undefined) return shrunk;
  return renew(set, places, revisions, isHealthy);
}

function sorted(set: StatefulSet, pods: readonly Pod[]): { places: (Pod | undefined)[]; surplus: Pod[] } {
  const places: (Pod | undefined)[] = Array.from({ length: wantedOf(set) });
  const surplus: [number, Pod][] = [];
  for (const pod of pods) {
    const ordinal = ordinalOf(pod, set);
    if (ordinal === undefined) continue;
    const i = ordinal - startOf(set);
    if (i >= 0 && i < places.length) places[i] = pod;
    else surplus.push([ordinal, pod]);
  }
  return { places, surplus: surplus.sort(([a], [b]) => b - a).map(([, pod]) => pod) };
}

/** From the last on. Undefined when there is nothing too many. */
function shrink(surplus: readonly Pod[], ordered: boolean, isHealthy: (pod: Pod) => boolean): StatefulStep | undefined {
  const leaving = surplus.filter((pod) => !isTerminating(pod));
  if (!ordered) return leaving.length === 0 ? undefined : { create: [], remove: leaving };
  const [last] = surplus;
  if (last === undefined) return undefined;
  if (isTerminating(last)) return NOTHING;
  // One that does not serve may go whatever its place, if it is the only one: waiting for it would be for ever.
  const firstUnhealthy = [...surplus].reverse().find((pod) => !isHealthy(pod));
  return isHealthy(last) || last === firstUnhealthy ? { create: [], remove: [last] } : NOTHING;
}

/** From the last on, one at a time: the next when the one before it serves again. */
function renew(
  set: StatefulSet,
  places: readonly (Pod | undefined)[],
  revisions: Revisions,
  isHealthy: (pod: Pod) => boolean,
): StatefulStep {
  for (let i = places.length - 1; i >= 0 && isRenewed(set, i); i -= 1) {
    const pod = places[i];
    if (pod === undefined) return NOTHING;
    if (revisionOf(pod) !== revisions.update && !isTerminating(pod)) return { create: [], remove: [pod] };
    if (!isHealthy(pod)) return NOTHING;
  }
  return NOTHING;
}

/** Whether a pod at this place is replaced when the template changes. */
const isRenewed = ({ spec: { updateStrategy } }: StatefulSet, place: number): boolean =>
  updateStrategy?.type !== 'OnDelete' && place >= (updateStrategy?.rollingUpdate?.partition ?? 0);

/** Below the partition pods stay as they were, also when they are made anew. */
function revisionFor(set: StatefulSet, ordinal: number, { current, update }: Revisions): string {
  const { type = 'RollingUpdate', rollingUpdate } = set.spec.updateStrategy ?? {};
  if (type !== 'RollingUpdate') return update;
  const former = rollingUpdate === undefined ? (set.status?.currentReplicas ?? 0) : (rollingUpdate.partition ?? 0);
  return ordinal < startOf(set) + former ? current : update;
}

export function statusOf(
  set: StatefulSet,
  pods: readonly Pod[],
  revisions: Revisions,
  now: number,
): { status: StatusOf<StatefulSet>; nextAvailable: number | undefined } {
  const members = pods.filter((pod) => ordinalOf(pod, set) !== undefined);
  const living = members.filter((pod) => !isTerminating(pod));
  const ready = members.filter(isRunningAndReady);
  const waits = ready
    .map((pod) => untilAvailable(pod, set.spec.minReadySeconds ?? 0, now))
    .filter((wait) => wait !== undefined);
  const updated = living.filter((pod) => revisionOf(pod) === revisions.update).length;
  const wanted = wantedOf(set);
  const isRolled =
    (set.spec.updateStrategy?.type ?? 'RollingUpdate') === 'RollingUpdate' &&
    [updated, ready.length, members.length].every((count) => count === wanted);
  const current = isRolled ? revisions.update : revisions.current;
  const pending = waits.filter((wait) => wait > 0);
  return {
    status: {
      observedGeneration: set.metadata.generation ?? 0,
      replicas: members.length,
      readyReplicas: ready.length,
      availableReplicas: waits.filter((wait) => wait === 0).length,
      currentReplicas: living.filter((pod) => revisionOf(pod) === current).length,
      updatedReplicas: updated,
      currentRevision: current,
      updateRevision: revisions.update,
      collisionCount: set.status?.collisionCount ?? 0,
    },
    nextAvailable: pending.length === 0 ? undefined : Math.min(...pending),
  };
}
