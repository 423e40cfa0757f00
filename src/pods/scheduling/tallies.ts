import type { Pod } from '../../api/core/pod.ts';
import { arePeers, type Peers } from './peers.ts';

/** Node name → how many of certain pods are on it. */
export type Tally = ReadonlyMap<string, number>;

/** More rules than these are counted anew when they are needed again. */
const REMEMBERED = 2_000;

/**
 * Counts of pods by node, kept while pods come and go, so that placing a pod costs what its own rules cost and not what
 * all pods cost. A count begins when a rule asks for it first.
 */
export class Tallies {
  readonly #counted = new Map<string, { peers: Peers; perNode: Map<string, number> }>();

  of(peers: Peers, everybody: () => Iterable<{ pod: Pod; nodeName: string }>): Tally {
    const known = this.#counted.get(peers.id);
    if (known !== undefined) {
      // Whatever was needed last is forgotten last.
      this.#counted.delete(peers.id);
      this.#counted.set(peers.id, known);
      return known.perNode;
    }
    const perNode = new Map<string, number>();
    for (const { pod, nodeName } of everybody()) if (arePeers(peers, pod)) change(perNode, nodeName, 1);
    this.#counted.set(peers.id, { peers, perNode });
    if (this.#counted.size > REMEMBERED) {
      const [oldest] = this.#counted.keys();
      if (oldest !== undefined) this.#counted.delete(oldest);
    }
    return perNode;
  }

  add(pod: Pod, nodeName: string): void {
    this.#change(pod, nodeName, 1);
  }

  remove(pod: Pod, nodeName: string): void {
    this.#change(pod, nodeName, -1);
  }

  #change(pod: Pod, nodeName: string, by: 1 | -1): void {
    for (const { peers, perNode } of this.#counted.values()) if (arePeers(peers, pod)) change(perNode, nodeName, by);
  }
}

function change(perNode: Map<string, number>, nodeName: string, by: number): void {
  const count = (perNode.get(nodeName) ?? 0) + by;
  if (count === 0) perNode.delete(nodeName);
  else perNode.set(nodeName, count);
}
