import type { Pod } from '../../api/core/pod.ts';
import { isReady, readySince } from '../pod-state.ts';

const DELETION_COST = 'controller.kubernetes.io/pod-deletion-cost';

/** How many pods of the same workload are on the same node. */
export type Company = (pod: Pod) => number;

/**
 * Which of two pods is dispensed with first, as Kubernetes ranks them: one that is nowhere, not running, not ready, cheap to lose,
 * in company on its node, ready for a shorter time, restarted more often, newer.
 */
export function moreDispensable(now: number, company: Company): (a: Pod, b: Pod) => number {
  const orders: readonly ((pod: Pod) => number)[] = [
    ({ spec }) => ((spec.nodeName ?? '') === '' ? 0 : 1),
    phaseRank,
    (pod) => (isReady(pod) ? 1 : 0),
    deletionCost,
    (pod) => -company(pod),
    (pod) => ageRank(readySince(pod), now),
    (pod) => -restarts(pod),
    (pod) => ageRank(Date.parse(pod.metadata.creationTimestamp), now),
  ];
  return (a, b) => {
    for (const order of orders) {
      const difference = order(a) - order(b);
      if (difference !== 0) return difference;
    }
    return a.metadata.uid < b.metadata.uid ? -1 : a.metadata.uid > b.metadata.uid ? 1 : 0;
  };
}

function phaseRank({ status }: Pod): number {
  if (status?.phase === 'Running') return 2;
  return status?.phase === 'Unknown' ? 1 : 0;
}

function deletionCost({ metadata }: Pod): number {
  const text = metadata.annotations?.[DELETION_COST] ?? '';
  return /^(0|[-+]?[1-9]\d{0,9})$/.test(text) ? Number(text) : 0;
}

/** Only another order of magnitude counts: among pods that came in one go, chance decides which nodes lose one. */
function ageRank(since: number | undefined, now: number): number {
  if (since === undefined || Number.isNaN(since)) return -2;
  const age = now - since;
  return age <= 0 ? -1 : Math.floor(Math.log2(age * 1e6));
}

function restarts({ status }: Pod): number {
  const all = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])];
  return Math.max(0, ...all.map(({ restartCount }) => restartCount));
}
