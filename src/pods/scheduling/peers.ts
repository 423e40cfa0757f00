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

/** A term of a pod as it is meant: what it says by the labels of the pod, in so many words. */
export function termOf({ metadata: { labels = {} } }: Pod, term: PodAffinityTerm): PodAffinityTerm {
  const { matchLabelKeys = [], mismatchLabelKeys = [], ...plain } = term;
  const wanted = plain.labelSelector;
  if (wanted === undefined || matchLabelKeys.length + mismatchLabelKeys.length === 0) return plain;
  const more = [...valuesAs('In', matchLabelKeys, labels), ...valuesAs('NotIn', mismatchLabelKeys, labels)];
  return { ...plain, labelSelector: narrowed(wanted, more) };
}

/**
 * Without any word about namespaces, the pods of the pod's own.
 * @param term as `termOf` gives it
 */
export function affinityPeers(pod: Pod, term: PodAffinityTerm, namespacesBy: NamespacesBy): Peers {
  const { namespaces = [], namespaceSelector, labelSelector: wanted } = term;
  const everywhere = namespaceSelector !== undefined && isEmpty(namespaceSelector);
  const own = namespaces.length === 0 && namespaceSelector === undefined ? [pod.metadata.namespace ?? ''] : [];
  const selected = namespaceSelector === undefined || everywhere ? [] : namespacesBy(readSelector(namespaceSelector));
  return peers(everywhere ? 'all' : new Set([...own, ...namespaces, ...selected]), wanted, true);
}

export function spreadPeers(pod: Pod, { labelSelector: wanted, matchLabelKeys = [] }: TopologySpreadConstraint): Peers {
  const shared = valuesAs('In', matchLabelKeys, pod.metadata.labels ?? {});
  return peers(new Set([pod.metadata.namespace ?? '']), wanted && narrowed(wanted, shared), false);
}

type Requirement = NonNullable<LabelSelector['matchExpressions']>[number];

/** Keys that the pod does not have ask for nothing. */
const valuesAs = (operator: 'In' | 'NotIn', keys: readonly string[], labels: Readonly<Record<string, string>>) =>
  keys.flatMap((key): Requirement[] => {
    const value = labels[key];
    return value === undefined ? [] : [{ key, operator, values: [value] }];
  });

const narrowed = (selector: LabelSelector, more: readonly Requirement[]): LabelSelector => ({
  ...selector,
  matchExpressions: [...(selector.matchExpressions ?? []), ...more],
});

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
