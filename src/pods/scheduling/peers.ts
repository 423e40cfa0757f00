import type { Pod, PodAffinityTerm, TopologySpreadConstraint } from '../../api/core/pod.ts';
import type { Json } from '../../api/json.ts';
import { type LabelSelector, labelSelector, nothing, type Selector } from '../../api/selector.ts';
import { isTerminating } from '../pod-state.ts';

/** The pods that a rule counts. Two rules with the same id count the same ones. */
export interface Peers {
  readonly id: string;
  readonly namespaces: ReadonlySet<string> | 'all';
  readonly selector: Selector;
  /** Pods that are on their way out still stand in the way, but are not where a workload spreads to. */
  readonly withTerminating: boolean;
}

export const arePeers = (peers: Peers, pod: Pod): boolean =>
  (peers.namespaces === 'all' || peers.namespaces.has(pod.metadata.namespace ?? '')) &&
  (peers.withTerminating || !isTerminating(pod)) &&
  peers.selector.matches(pod.metadata.labels);

/** Tells which namespaces have labels that a selector wants. */
export type NamespacesBy = (selector: Selector) => readonly string[];

/** Without any word about namespaces, the pods of the pod's own. */
export function affinityPeers(pod: Pod, term: PodAffinityTerm, namespacesBy: NamespacesBy): Peers {
  const { namespaces = [], namespaceSelector, labelSelector: wanted } = term;
  const everywhere = namespaceSelector !== undefined && isEmpty(namespaceSelector);
  const own = namespaces.length === 0 && namespaceSelector === undefined ? [pod.metadata.namespace ?? ''] : [];
  const selected = namespaceSelector === undefined || everywhere ? [] : namespacesBy(readSelector(namespaceSelector));
  return peers(everywhere ? 'all' : new Set([...own, ...namespaces, ...selected]), wanted, true);
}

export function spreadPeers(pod: Pod, { labelSelector: wanted, matchLabelKeys = [] }: TopologySpreadConstraint): Peers {
  const labels = pod.metadata.labels ?? {};
  const shared = matchLabelKeys.flatMap((key) => {
    const value = labels[key];
    return value === undefined ? [] : [{ key, operator: 'In' as const, values: [value] }];
  });
  const more =
    wanted === undefined ? undefined : { ...wanted, matchExpressions: [...(wanted.matchExpressions ?? []), ...shared] };
  return peers(new Set([pod.metadata.namespace ?? '']), more, false);
}

function peers(namespaces: Peers['namespaces'], selector: LabelSelector | undefined, withTerminating: boolean): Peers {
  const where = namespaces === 'all' ? 'all' : [...namespaces].sort();
  return {
    id: JSON.stringify([where, selector ?? null, withTerminating]),
    namespaces,
    selector: readSelector(selector),
    withTerminating,
  };
}

const isEmpty = ({ matchLabels = {}, matchExpressions = [] }: LabelSelector): boolean =>
  Object.keys(matchLabels).length === 0 && matchExpressions.length === 0;

/** What the server let through although it is none selects nothing. */
export function readSelector(selector: LabelSelector | undefined): Selector {
  try {
    return labelSelector(selector === undefined ? undefined : (selector as unknown as Json));
  } catch {
    return nothing;
  }
}
