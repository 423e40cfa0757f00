import type { ReplicaSet } from '../../api/apps/workloads.ts';
import type { Pod } from '../../api/core/pod.ts';
import type { StatusOf } from '../../runtime/draft.ts';
import { timestamp } from '../../runtime/timestamp.ts';
import { isReady, untilAvailable } from '../pod-state.ts';
import { conditionOf, without } from './conditions.ts';
import { type Company, moreDispensable } from './pod-order.ts';

/** More is not made or deleted in one pass: others have their turn in between. */
const MOST_AT_ONCE = 500;

export const replicasOf = ({ spec }: ReplicaSet): number => spec.replicas ?? 1;

/** What a ReplicaSet does about the number of its pods. */
export type Correction = { readonly create: number } | { readonly remove: readonly Pod[] };

export function correctionOf(
  set: ReplicaSet,
  pods: readonly Pod[],
  { now, company }: { now: number; company: () => Company },
): Correction {
  const missing = replicasOf(set) - pods.length;
  if (missing >= 0) return { create: Math.min(missing, MOST_AT_ONCE) };
  const surplus = Math.min(-missing, MOST_AT_ONCE);
  // Who all go need not be told apart.
  if (surplus === pods.length) return { remove: pods };
  return { remove: [...pods].sort(moreDispensable(now, company())).slice(0, surplus) };
}

export interface Counted {
  readonly status: StatusOf<ReplicaSet>;
  /** In so many milliseconds another pod has been ready for long enough. */
  readonly nextAvailable: number | undefined;
}

/**
 * @param pods those that are there and are to stay
 * @param others how many there may be beside them, as it was not heard yet that they have come or ended: in all there are no more
 * @param failure why pods could not be made or deleted
 */
export function statusOf(
  set: ReplicaSet,
  { pods, others }: { readonly pods: readonly Pod[]; readonly others: number },
  failure: Error | undefined,
  now: number,
): Counted {
  const template = Object.entries(set.spec.template?.metadata?.labels ?? {});
  const waits = pods.map((pod) => untilAvailable(pod, set.spec.minReadySeconds ?? 0, now));
  const pending = waits.filter((wait) => wait !== undefined).filter((wait) => wait > 0);
  const conditions = conditionsOf(set, pods, failure, now);
  return {
    status: {
      replicas: pods.length + others,
      fullyLabeledReplicas: pods.filter(({ metadata }) =>
        template.every(([key, value]) => metadata.labels?.[key] === value),
      ).length,
      readyReplicas: pods.filter(isReady).length,
      availableReplicas: waits.filter((wait) => wait === 0).length,
      observedGeneration: set.metadata.generation ?? 0,
      ...(conditions.length === 0 ? {} : { conditions }),
    },
    nextAvailable: pending.length === 0 ? undefined : Math.min(...pending),
  };
}

const FAILURE = 'ReplicaFailure';

function conditionsOf({ spec, status }: ReplicaSet, pods: readonly Pod[], failure: Error | undefined, now: number) {
  const before = status?.conditions ?? [];
  const others = without(before, FAILURE);
  if (failure === undefined) return others;
  const reason = pods.length < (spec.replicas ?? 1) ? 'FailedCreate' : 'FailedDelete';
  const said = conditionOf(before, FAILURE);
  const isSame = said?.reason === reason && said.message === failure.message;
  const lastTransitionTime = isSame ? said.lastTransitionTime : timestamp(now);
  return [...others, { type: FAILURE, status: 'True' as const, reason, message: failure.message, lastTransitionTime }];
}
