import type { Taint } from '../api/core/node.ts';
import type { Toleration } from '../api/core/pod.ts';

export function tolerates(toleration: Toleration, taint: Taint): boolean {
  const { key = '', effect = '', operator = 'Equal', value = '' } = toleration;
  if (effect !== '' && effect !== taint.effect) return false;
  if (key !== '' && key !== taint.key) return false;
  // Without a key every taint is meant, and then only `Exists` is allowed.
  return operator === 'Exists' || (key !== '' && value === (taint.value ?? ''));
}

export const isTolerated = (taint: Taint, tolerations: readonly Toleration[]): boolean =>
  tolerations.some((toleration) => tolerates(toleration, taint));

/** The first taint that keeps new pods away. */
export const untolerated = (taints: readonly Taint[], tolerations: readonly Toleration[]): Taint | undefined =>
  taints.find((taint) => taint.effect !== 'PreferNoSchedule' && !isTolerated(taint, tolerations));

/**
 * When a pod must leave, in milliseconds since 1970; undefined: it may stay. Its patience begins with the taint, or when it came
 * to the node if that was later: its successor would otherwise be sent away at once, again and again.
 * @param placedAt when it came to the node
 */
export function leaveAt(
  taints: readonly Taint[],
  tolerations: readonly Toleration[],
  { placedAt, now }: { placedAt: number; now: number },
): number | undefined {
  const moments = taints
    .filter(({ effect }) => effect === 'NoExecute')
    .map((taint) => {
      const matching = tolerations.filter((toleration) => tolerates(toleration, taint));
      if (matching.length === 0) return 0;
      const patience = Math.min(
        ...matching.map(({ tolerationSeconds = Number.POSITIVE_INFINITY }) => tolerationSeconds),
      );
      // Without a time it has just been made: the time is about to be written down.
      const since = taint.timeAdded === undefined ? now : Date.parse(taint.timeAdded);
      return Math.max(since, placedAt) + Math.max(0, patience) * 1000;
    });
  const first = Math.min(...moments, Number.POSITIVE_INFINITY);
  return first === Number.POSITIVE_INFINITY ? undefined : first;
}
