import type { Node } from '../../api/core/node.ts';
import type { Pod } from '../../api/core/pod.ts';
import { conditionOf, isFinished, isReady, isTerminating } from '../pod-state.ts';
import { leaveAt } from '../tolerations.ts';
import { OUT_OF_SERVICE, readiness } from './health.ts';

/** What becomes of a pod because of how its node is. */
export type Fate =
  | {
      readonly is: 'stays';
      readonly isReadyNoMore: boolean /** Must leave then, in milliseconds since 1970. */;
      readonly until?: number;
    }
  /** Asked to end; who can see that it has is the host alone. */
  | { readonly is: 'evicted' }
  /** Taken off the record: nobody is there any more who could say that it has ended. */
  | { readonly is: 'removed'; readonly because: 'its node is gone' | 'its node is out of service' };

/** `node` is undefined when there is no such node. */
export function fateOf(pod: Pod, node: Node | undefined, now: number): Fate {
  if (node === undefined) return { is: 'removed', because: 'its node is gone' };
  if (isTerminating(pod)) {
    const isOut = node.spec.taints?.some(({ key }) => key === OUT_OF_SERVICE) === true && readiness(node) !== 'True';
    // A silent host may still run the pod, so it stays on record: a successor of the same name must not run beside it.
    return isOut
      ? { is: 'removed', because: 'its node is out of service' }
      : { is: 'stays', isReadyNoMore: isLost(pod, node) };
  }
  if (isFinished(pod)) return { is: 'stays', isReadyNoMore: false };
  const until = leaveAt(node.spec.taints ?? [], pod.spec.tolerations ?? [], { placedAt: placedAt(pod), now });
  if (until !== undefined && until <= now) return { is: 'evicted' };
  return { is: 'stays', isReadyNoMore: isLost(pod, node), ...(until === undefined ? {} : { until }) };
}

const isLost = (pod: Pod, node: Node): boolean => readiness(node) === 'Unknown' && isReady(pod);

/** When it came to its node. */
function placedAt(pod: Pod): number {
  const placed = conditionOf(pod, 'PodScheduled');
  const moment = placed?.status === 'True' ? placed.lastTransitionTime : pod.metadata.creationTimestamp;
  return Date.parse(moment) || 0;
}
