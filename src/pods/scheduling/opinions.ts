import type { Pod, PodAffinityTerm } from '../../api/core/pod.ts';
import { affinityPeers, arePeers, type NamespacesBy, type Peers, termOf } from './peers.ts';

/** What somebody who runs thinks of company, and how much that counts. */
export interface Opinion {
  readonly term: PodAffinityTerm;
  readonly weight: number;
}

/** Of those who run: how they think of a pod, by the nodes on which they are. */
export interface Thought {
  readonly topologyKey: string;
  /** Node name → the sum of the weights. */
  readonly perNode: ReadonlyMap<string, number>;
}

/** What running pods think of others beside them, kept while they come and go: most think as their siblings do. */
export class Opinions {
  readonly #held = new Map<string, { peers: () => Peers; topologyKey: string; perNode: Map<string, number> }>();
  readonly #namespacesBy: NamespacesBy;

  constructor(namespacesBy: NamespacesBy) {
    this.#namespacesBy = namespacesBy;
  }

  add(pod: Pod, nodeName: string, opinions: readonly Opinion[]): void {
    for (const { term, weight } of opinions) this.#change(pod, nodeName, term, weight);
  }

  remove(pod: Pod, nodeName: string, opinions: readonly Opinion[]): void {
    for (const { term, weight } of opinions) this.#change(pod, nodeName, term, -weight);
  }

  of(pod: Pod): Thought[] {
    return [...this.#held.values()].filter(({ peers }) => arePeers(peers(), pod));
  }

  #change(pod: Pod, nodeName: string, written: PodAffinityTerm, by: number): void {
    const term = termOf(pod, written);
    const id = JSON.stringify([pod.metadata.namespace, term]);
    let held = this.#held.get(id);
    if (held === undefined) {
      held = { peers: this.#lasting(pod, term), topologyKey: term.topologyKey, perNode: new Map() };
      this.#held.set(id, held);
    }
    const sum = (held.perNode.get(nodeName) ?? 0) + by;
    if (sum === 0) held.perNode.delete(nodeName);
    else held.perNode.set(nodeName, sum);
    if (held.perNode.size === 0) this.#held.delete(id);
  }

  /** Which namespaces have a label changes while pods run. */
  #lasting(pod: Pod, term: PodAffinityTerm): () => Peers {
    const find = (): Peers => affinityPeers(pod, term, this.#namespacesBy);
    if (term.namespaceSelector !== undefined) return find;
    const found = find();
    return () => found;
  }
}

/** Beside whom the pod must not be. */
export const refusalsIn = ({ spec }: Pod): Opinion[] =>
  (spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []).map((term) => ({
    term,
    weight: 1,
  }));

/** Whom it would like beside it, and whom not. As with kube-scheduler, whom it needs it likes a little. */
export function wishesIn({ spec }: Pod): Opinion[] {
  const { podAffinity, podAntiAffinity } = spec.affinity ?? {};
  const needed = podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  const liked = podAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  const disliked = podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  return [
    ...needed.map((term) => ({ term, weight: 1 })),
    ...liked.map(({ podAffinityTerm, weight }) => ({ term: podAffinityTerm, weight })),
    ...disliked.map(({ podAffinityTerm, weight }) => ({ term: podAffinityTerm, weight: -weight })),
  ];
}
