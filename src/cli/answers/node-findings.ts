import type { Node } from '../../api/core/node.ts';
import { ago } from './ago.ts';
import { conditionsOf, type Finding, named, note, problem, readyOf } from './finding.ts';

export interface NodeFacts {
  readonly node: Node;
  /** How many pods are on it; undefined where nobody counted. */
  readonly pods: number;
  readonly now: number;
}

/** What is to be known of a Node: whether its host is heard of, and what it keeps away. */
export function nodeFindings({ node, pods, now }: NodeFacts): Finding[] {
  const about = named(node);
  const { unschedulable = false, taints = [] } = node.spec;
  // What comes and goes with the state of the node is told by the state.
  const kept = taints.filter(({ key }) => !key.startsWith('node.kubernetes.io/'));
  return [
    ...nodeProblems(node, now),
    ...(unschedulable ? [note(about, `it takes no new pods until somebody says: kubectl uncordon ${about.name}`)] : []),
    ...kept.map(({ key, value, effect }) =>
      note(
        about,
        `pods without a toleration keep away from it: ${key}${value === undefined ? '' : `=${value}`}:${effect}`,
      ),
    ),
    note(about, `${pods === 1 ? 'one pod is' : `${pods} pods are`} on it`),
  ];
}

/** Why pods on it cannot be relied on. */
export function nodeProblems(node: Node, now: number): Finding[] {
  const about = named(node);
  const ready = readyOf(node);
  const pressures = conditionsOf(node)
    .filter(({ type, status }) => type !== 'Ready' && status === 'True' && PRESSURES.has(type))
    .map(({ type, message }) => problem(about, `${type}: ${message ?? 'without a reason'}`));
  if (ready?.status === 'True') return pressures;
  const again = `start its agent (again) on the host: netloom agent --name ${about.name}`;
  if (ready === undefined)
    return [problem(about, 'its host has never said how it is', { remedies: [again] }), ...pressures];
  const heard = node.status?.conditions?.find(({ type }) => type === 'Ready')?.lastHeartbeatTime;
  const since = heard === undefined ? '' : `; it was last heard of ${ago(heard, now)}`;
  const says = `${ready.message ?? ready.reason ?? 'it is not Ready'}${since}`;
  return [problem(about, says, { remedies: [again] }), ...pressures];
}

const PRESSURES: ReadonlySet<string> = new Set(['MemoryPressure', 'DiskPressure', 'PIDPressure', 'NetworkUnavailable']);
