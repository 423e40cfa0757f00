import type { Node } from '../../api/core/node.ts';
import type { Pod, PodAffinityTerm } from '../../api/core/pod.ts';
import { keyOfObject } from '../../runtime/ref.ts';
import { isFinished } from '../pod-state.ts';
import { NodeSpace, type Tenant, tenant } from './node-space.ts';
import { affinityPeers, arePeers, type NamespacesBy, type Peers, termOf } from './peers.ts';
import { Tallies, type Tally } from './tallies.ts';

/** All nodes with what is on them, kept up to date change by change. */
export class Cluster {
  readonly #nodes = new Map<string, NodeSpace>();
  readonly #tenants = new Map<string, Tenant>();
  /** Decided by us, and not heard of from the server: key of the pod → its UID. */
  readonly #assumed = new Map<string, string>();
  readonly #tallies = new Tallies();
  /** What running pods do not want beside them: the rule → the nodes of those who have it. */
  readonly #refusals = new Map<string, Refusal & { readonly perNode: Map<string, number> }>();
  readonly #namespacesBy: NamespacesBy;

  constructor({ namespacesBy = () => [] }: { namespacesBy?: NamespacesBy } = {}) {
    this.#namespacesBy = namespacesBy;
  }

  get namespacesBy(): NamespacesBy {
    return this.#namespacesBy;
  }

  /** Those that exist, in no order. */
  *nodes(): Generator<NodeSpace & { node: Node }> {
    for (const space of this.#nodes.values()) if (exists(space)) yield space;
  }

  node(name: string): NodeSpace | undefined {
    return this.#nodes.get(name);
  }

  setNode(name: string, node: Node | undefined): void {
    const space = this.#space(name);
    space.node = node;
    if (node === undefined && space.pods === 0) this.#nodes.delete(name);
  }

  /** The pod as the server has it. What we decided about it stands until the server says something else. */
  setPod(pod: Pod): void {
    const key = keyOfObject(pod);
    const { nodeName = '' } = pod.spec;
    if (nodeName === '' && this.#assumed.get(key) === pod.metadata.uid && !isFinished(pod)) return;
    this.#assumed.delete(key);
    this.#leave(key);
    if (nodeName !== '' && !isFinished(pod)) this.#enter(key, tenant(pod, nodeName));
  }

  removePod(key: string): void {
    this.#assumed.delete(key);
    this.#leave(key);
  }

  /** Counts a pod as being on a node of which only we know yet. */
  assume(pod: Pod, nodeName: string): void {
    const key = keyOfObject(pod);
    this.#leave(key);
    this.#assumed.set(key, pod.metadata.uid);
    this.#enter(key, tenant(pod, nodeName));
  }

  /** The node on which a pod takes room; undefined for none. */
  placeOf(key: string): string | undefined {
    return this.#tenants.get(key)?.nodeName;
  }

  isAssumed(pod: Pod): boolean {
    return this.#assumed.get(keyOfObject(pod)) === pod.metadata.uid;
  }

  /** It did not come to that. */
  forget(pod: Pod): void {
    const key = keyOfObject(pod);
    if (this.#assumed.get(key) === pod.metadata.uid) this.removePod(key);
  }

  tally(peers: Peers): Tally {
    return this.#tallies.of(peers, () => this.#tenants.values());
  }

  /** Where the pod is not wanted by those who run already. */
  refusalsOf(pod: Pod): { topologyKey: string; nodes: Iterable<string> }[] {
    return [...this.#refusals.values()]
      .filter(({ peers }) => arePeers(peers(), pod))
      .map(({ topologyKey, perNode }) => ({ topologyKey, nodes: perNode.keys() }));
  }

  #enter(key: string, tenant: Tenant): void {
    this.#tenants.set(key, tenant);
    this.#space(tenant.nodeName).add(tenant);
    this.#tallies.add(tenant.pod, tenant.nodeName);
    for (const term of antiAffinityOf(tenant.pod)) this.#refuse(tenant, term, 1);
  }

  #leave(key: string): void {
    const tenant = this.#tenants.get(key);
    if (tenant === undefined) return;
    this.#tenants.delete(key);
    const space = this.#space(tenant.nodeName);
    space.remove(tenant);
    if (space.node === undefined && space.pods === 0) this.#nodes.delete(tenant.nodeName);
    this.#tallies.remove(tenant.pod, tenant.nodeName);
    for (const term of antiAffinityOf(tenant.pod)) this.#refuse(tenant, term, -1);
  }

  #refuse({ pod, nodeName }: Tenant, written: PodAffinityTerm, by: 1 | -1): void {
    const term = termOf(pod, written);
    const id = JSON.stringify([pod.metadata.namespace, term]);
    let refusal = this.#refusals.get(id);
    if (refusal === undefined) {
      refusal = { peers: this.#lasting(pod, term), topologyKey: term.topologyKey, perNode: new Map() };
      this.#refusals.set(id, refusal);
    }
    const count = (refusal.perNode.get(nodeName) ?? 0) + by;
    if (count > 0) refusal.perNode.set(nodeName, count);
    else refusal.perNode.delete(nodeName);
    if (refusal.perNode.size === 0) this.#refusals.delete(id);
  }

  /** Which namespaces have a label changes while pods run. */
  #lasting(pod: Pod, term: PodAffinityTerm): () => Peers {
    const find = (): Peers => affinityPeers(pod, term, this.#namespacesBy);
    if (term.namespaceSelector !== undefined) return find;
    const found = find();
    return () => found;
  }

  #space(name: string): NodeSpace {
    let space = this.#nodes.get(name);
    if (space === undefined) {
      space = new NodeSpace(name);
      this.#nodes.set(name, space);
    }
    return space;
  }
}

interface Refusal {
  readonly peers: () => Peers;
  readonly topologyKey: string;
}

const exists = (space: NodeSpace): space is NodeSpace & { node: Node } => space.node !== undefined;

const antiAffinityOf = ({ spec }: Pod): readonly PodAffinityTerm[] =>
  spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
