import type { Condition } from '../api/condition.ts';
import type { Pod } from '../api/core/pod.ts';
import { timestamp } from '../runtime/timestamp.ts';

/** The UID of the object that controls the pod. */
export const controllerUid = ({ metadata }: Pod): string | undefined =>
  metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid;

export const isTerminating = ({ metadata }: Pod): boolean => metadata.deletionTimestamp !== undefined;

/** Its containers have ended and will not start again. */
export const isFinished = ({ status }: Pod): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed';

/** Counts as one of the pods that somebody asked for. */
export const isActive = (pod: Pod): boolean => !isFinished(pod) && !isTerminating(pod);

export const conditionOf = ({ status }: Pod, type: string): Condition | undefined =>
  status?.conditions?.find((condition) => condition.type === type);

export const isReady = (pod: Pod): boolean => conditionOf(pod, 'Ready')?.status === 'True';

/** Since when the pod is ready without a break, in milliseconds since 1970. */
export function readySince(pod: Pod): number | undefined {
  const ready = conditionOf(pod, 'Ready');
  return ready?.status === 'True' ? Date.parse(ready.lastTransitionTime) : undefined;
}

/** Milliseconds until the pod has been ready for long enough; 0 when it has, undefined when it is not ready. */
export function untilAvailable(pod: Pod, minReadySeconds: number, now: number): number | undefined {
  const since = readySince(pod);
  if (since === undefined) return undefined;
  if (minReadySeconds === 0) return 0;
  return Math.max(0, (Number.isNaN(since) ? now : since) + minReadySeconds * 1000 - now);
}

/** The conditions with one of them as given; what stays as it is keeps its time. */
export function withCondition(
  conditions: readonly Condition[] = [],
  { type, status, reason, message }: Omit<Condition, 'lastTransitionTime' | 'severity'>,
  now: number,
): Condition[] {
  const before = conditions.find((condition) => condition.type === type);
  const condition: Condition = {
    type,
    status,
    lastTransitionTime: before?.status === status ? before.lastTransitionTime : timestamp(now),
    ...(reason === undefined ? {} : { reason }),
    ...(message === undefined ? {} : { message }),
  };
  if (before === undefined) return [...conditions, condition];
  return conditions.map((each) => (each === before ? condition : each));
}
