import type { Node } from '../../api/core/node.ts';
import type { Pod, PodAffinityTerm } from '../../api/core/pod.ts';
import type { Cluster } from './cluster.ts';
import { affinityPeers, arePeers, type Peers, termOf } from './peers.ts';

export const NO_COMPANY = "node(s) didn't match pod affinity rules";
export const UNWANTED_COMPANY = "node(s) didn't match pod anti-affinity rules";
export const UNWELCOME = "node(s) didn't satisfy existing pods anti-affinity rules";

/** What the pod demands of its company, and its company of it. */
export function companyRules(pod: Pod, cluster: Cluster): (node: Node) => string | undefined {
  const { podAffinity, podAntiAffinity } = pod.spec.affinity ?? {};
  const needed = podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  const unwanted = podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  const refusals = cluster.refusalsOf(pod).map(({ topologyKey, perNode }) => {
    return { topologyKey, values: valuesOf(cluster, topologyKey, perNode.keys()) };
  });
  const company = needed.map((term) => places(pod, term, cluster));
  // The first of a group that wants to be together has nobody to join.
  const isFirst =
    company.every(({ values }) => values.size === 0) &&
    needed.every((term) => arePeers(meant(pod, term, cluster), pod));
  const avoided = unwanted.map((term) => places(pod, term, cluster));

  return ({ metadata: { labels = {} } }) => {
    const isIn = ({ topologyKey, values }: Places): boolean => {
      const value = labels[topologyKey];
      return value !== undefined && values.has(value);
    };
    const fits = company.every((place) => (isFirst ? labels[place.topologyKey] !== undefined : isIn(place)));
    if (!fits) return NO_COMPANY;
    if (avoided.some(isIn)) return UNWANTED_COMPANY;
    return refusals.some(isIn) ? UNWELCOME : undefined;
  };
}

/** The sum of the weights of what the pod would like beside it, less that of what it would not; and so of those who are there already. */
export function companyWishes(pod: Pod, cluster: Cluster): (node: Node) => number {
  const { podAffinity, podAntiAffinity } = pod.spec.affinity ?? {};
  const own = [
    ...(podAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map((each) => ({ ...each, sign: 1 })),
    ...(podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map((each) => ({ ...each, sign: -1 })),
  ].map(({ weight, podAffinityTerm: term, sign }) => ({
    worth: weight * sign,
    topologyKey: term.topologyKey,
    perNode: cluster.tally(meant(pod, term, cluster)),
  }));
  const ofOthers = cluster.wishesFor(pod).map((wish) => ({ ...wish, worth: 1 }));
  const wishes = [...own, ...ofOthers].map(({ worth, topologyKey, perNode }) => ({
    ...{ worth, topologyKey },
    perValue: perValue(cluster, topologyKey, perNode),
  }));
  return ({ metadata: { labels = {} } }) =>
    wishes.reduce((sum, { worth, topologyKey, perValue }) => {
      const value = labels[topologyKey];
      return value === undefined ? sum : sum + worth * (perValue.get(value) ?? 0);
    }, 0);
}

const meant = (pod: Pod, term: PodAffinityTerm, cluster: Cluster): Peers =>
  affinityPeers(pod, termOf(pod, term), cluster.namespacesBy);

interface Places {
  readonly topologyKey: string;
  readonly values: ReadonlySet<string>;
}

function places(pod: Pod, term: PodAffinityTerm, cluster: Cluster): Places {
  const tally = cluster.tally(meant(pod, term, cluster));
  return { topologyKey: term.topologyKey, values: valuesOf(cluster, term.topologyKey, tally.keys()) };
}

function perValue(cluster: Cluster, topologyKey: string, perNode: ReadonlyMap<string, number>): Map<string, number> {
  const found = new Map<string, number>();
  for (const [name, amount] of perNode) {
    const value = cluster.node(name)?.node?.metadata.labels?.[topologyKey];
    if (value !== undefined) found.set(value, (found.get(value) ?? 0) + amount);
  }
  return found;
}

function valuesOf(cluster: Cluster, topologyKey: string, nodes: Iterable<string>): Set<string> {
  const values = new Set<string>();
  for (const name of nodes) {
    const value = cluster.node(name)?.node?.metadata.labels?.[topologyKey];
    if (value !== undefined) values.add(value);
  }
  return values;
}
