import type { Node, NodeCondition, Taint } from '../../api/core/node.ts';
import { timestamp } from '../../runtime/timestamp.ts';
import { UNSCHEDULABLE } from '../scheduling/choose.ts';

const LOST = { reason: 'NodeStatusUnknown', message: 'The host does not renew its Lease any more' };
const NEVER_HEARD = { reason: 'NodeStatusNeverUpdated', message: 'The host has never said how it is' };

/** What the agent of a host tells about it. */
const TOLD = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'];

export const readiness = (node: Node): 'True' | 'False' | 'Unknown' | undefined =>
  node.status?.conditions?.find(({ type }) => type === 'Ready')?.status;

/** The conditions of a host that is silent: what was told is not known any more. */
export function lostConditions({ status }: Node, now: number): NodeCondition[] {
  const before = status?.conditions ?? [];
  const untold = TOLD.filter((type) => !before.some((condition) => condition.type === type));
  return [
    ...before.map((condition) =>
      TOLD.includes(condition.type) && condition.status !== 'Unknown'
        ? unknown(condition.type, LOST, now, condition)
        : condition,
    ),
    ...untold.map((type) => unknown(type, NEVER_HEARD, now)),
  ];
}

function unknown(
  type: string,
  why: { reason: string; message: string },
  now: number,
  { lastHeartbeatTime }: Partial<NodeCondition> = {},
): NodeCondition {
  return {
    type,
    status: 'Unknown',
    ...why,
    ...(lastHeartbeatTime === undefined ? {} : { lastHeartbeatTime }),
    lastTransitionTime: timestamp(now),
  };
}

const NOT_READY = 'node.kubernetes.io/not-ready';
const UNREACHABLE = 'node.kubernetes.io/unreachable';
export const OUT_OF_SERVICE = 'node.kubernetes.io/out-of-service';
const PRESSURES = new Map([
  ['MemoryPressure', 'node.kubernetes.io/memory-pressure'],
  ['DiskPressure', 'node.kubernetes.io/disk-pressure'],
  ['PIDPressure', 'node.kubernetes.io/pid-pressure'],
  ['NetworkUnavailable', 'node.kubernetes.io/network-unavailable'],
]);
const OURS = new Set([NOT_READY, UNREACHABLE, UNSCHEDULABLE.key, ...PRESSURES.values()]);

/**
 * The taints that a node must have. Those that end pods say since when, also where people have not: pods that have some patience
 * count from then on. `anyReady`: whether some node works; when none does, it is rather we who do not hear
 * them, and there is nowhere to go: then nobody has to leave.
 */
export function wantedTaints(node: Node, { anyReady, now }: { anyReady: boolean; now: number }): Taint[] {
  const before = node.spec.taints ?? [];
  const wanted: Pick<Taint, 'key' | 'effect'>[] = [];
  const ready = readiness(node);
  if (ready === 'Unknown') {
    wanted.push({ key: UNREACHABLE, effect: 'NoSchedule' });
    if (anyReady) wanted.push({ key: UNREACHABLE, effect: 'NoExecute' });
  } else if (ready !== 'True') {
    wanted.push({ key: NOT_READY, effect: 'NoSchedule' });
    if (ready === 'False') wanted.push({ key: NOT_READY, effect: 'NoExecute' });
  }
  for (const { type, status } of node.status?.conditions ?? []) {
    const key = PRESSURES.get(type);
    if (key !== undefined && status === 'True') wanted.push({ key, effect: 'NoSchedule' });
  }
  if (node.spec.unschedulable === true) wanted.push({ key: UNSCHEDULABLE.key, effect: 'NoSchedule' });
  const ours = wanted.map((taint) => {
    const old = before.find(({ key, effect }) => key === taint.key && effect === taint.effect);
    return old ?? { ...taint, timeAdded: timestamp(now) };
  });
  // In the order in which they are, so that nothing is written when nothing changed.
  const stay = before
    .filter((taint) => !OURS.has(taint.key) || ours.includes(taint))
    .map((taint) => (hasNoTime(taint) ? { ...taint, timeAdded: timestamp(now) } : taint));
  return [...stay, ...ours.filter((taint) => !before.includes(taint))];
}

const hasNoTime = ({ effect, timeAdded }: Taint): boolean => effect === 'NoExecute' && timeAdded === undefined;
