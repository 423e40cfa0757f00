import type { Node } from '../../api/core/node.ts';
import type { Pod, TopologySpreadConstraint } from '../../api/core/pod.ts';
import { untolerated } from '../tolerations.ts';
import type { Cluster } from './cluster.ts';
import { fitsNodeAffinity } from './node-affinity.ts';
import { arePeers, spreadPeers } from './peers.ts';

export const MISSING_LABEL = "node(s) didn't match pod topology spread constraints (missing required label)";
export const TOO_UNEVEN = "node(s) didn't match pod topology spread constraints";

/** How the pods of one constraint are spread, as one pod that is to be placed sees it. */
interface Spread {
  readonly topologyKey: string;
  readonly maxSkew: number;
  /** Value of the topology label → pods in it. */
  readonly domains: ReadonlyMap<string, number>;
  readonly least: number;
  /** 1 when the pod itself will count. */
  readonly own: number;
}

/** The constraints of the pod that forbid a node. */
export function hardSpreads(pod: Pod, cluster: Cluster): (node: Node) => string | undefined {
  const hard = constraintsOf(pod, 'DoNotSchedule');
  if (hard.length === 0) return () => undefined;
  const spreads = measure(pod, hard, cluster);
  return ({ metadata: { labels = {} } }) => {
    for (const { topologyKey, maxSkew, domains, least, own } of spreads) {
      const value = labels[topologyKey];
      if (value === undefined) return MISSING_LABEL;
      if ((domains.get(value) ?? 0) + own - least > maxSkew) return TOO_UNEVEN;
    }
    return undefined;
  };
}

/** How many pods are where the constraints that only wish would like few. */
export function softSpreads(pod: Pod, cluster: Cluster): (node: Node) => number {
  const soft = constraintsOf(pod, 'ScheduleAnyway');
  const spreads = soft.length === 0 ? [] : measure(pod, soft, cluster);
  return ({ metadata: { labels = {} } }) =>
    spreads.reduce((sum, { topologyKey, domains, maxSkew }) => {
      const value = labels[topologyKey];
      const crowd = value === undefined ? Math.max(0, ...domains.values()) + 1 : (domains.get(value) ?? 0);
      return sum + crowd / maxSkew;
    }, 0);
}

const constraintsOf = ({ spec }: Pod, kind: TopologySpreadConstraint['whenUnsatisfiable']) =>
  (spec.topologySpreadConstraints ?? []).filter(({ whenUnsatisfiable }) => whenUnsatisfiable === kind);

function measure(pod: Pod, constraints: readonly TopologySpreadConstraint[], cluster: Cluster): Spread[] {
  const keys = constraints.map(({ topologyKey }) => topologyKey);
  return constraints.map((constraint) => {
    const { topologyKey, maxSkew, minDomains = 1 } = constraint;
    const peers = spreadPeers(pod, constraint);
    const tally = cluster.tally(peers);
    const domains = new Map<string, number>();
    for (const { node, name } of cluster.nodes()) {
      const labels = node.metadata.labels ?? {};
      const value = labels[topologyKey];
      if (value === undefined || !keys.every((key) => labels[key] !== undefined) || !counts(pod, node, constraint))
        continue;
      domains.set(value, (domains.get(value) ?? 0) + (tally.get(name) ?? 0));
    }
    const least = domains.size < minDomains || domains.size === 0 ? 0 : Math.min(...domains.values());
    return { topologyKey, maxSkew, domains, least, own: arePeers(peers, pod) ? 1 : 0 };
  });
}

/** Nodes on which the pod could not be anyway do not make its spread uneven. */
function counts(pod: Pod, node: Node, { nodeAffinityPolicy, nodeTaintsPolicy }: TopologySpreadConstraint): boolean {
  if (nodeAffinityPolicy !== 'Ignore' && !fitsNodeAffinity(pod, node)) return false;
  return nodeTaintsPolicy !== 'Honor' || untolerated(node.spec.taints ?? [], pod.spec.tolerations ?? []) === undefined;
}
