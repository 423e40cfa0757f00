import type { Node } from '../../api/core/node.ts';
import type { Pod } from '../../api/core/pod.ts';
import { keyOfObject } from '../../runtime/ref.ts';
import { isFinished } from '../pod-state.ts';
import { NodeSpace, type Tenant, tenant } from './node-space.ts';
import { Opinions, refusalsIn, type Thought, wishesIn } from './opinions.ts';
import type { NamespacesBy, Peers } from './peers.ts';
import { Tallies, type Tally } from './tallies.ts';

/** All nodes with what is on them, kept up to date change by change. */
export class Cluster {
  readonly #nodes = new Map<string, NodeSpace>();
  readonly #tenants = new Map<string, Tenant>();
  /** Decided by us, and not heard of from the server: key of the pod → its UID. */
  readonly #assumed = new Map<string, string>();
  readonly #tallies = new Tallies();
  readonly #refusals: Opinions;
  readonly #wishes: Opinions;
  readonly #namespacesBy: NamespacesBy;

  constructor({ namespacesBy = () => [] }: { namespacesBy?: NamespacesBy } = {}) {
    this.#namespacesBy = namespacesBy;
    this.#refusals = new Opinions(namespacesBy);
    this.#wishes = new Opinions(namespacesBy);
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
  refusalsOf(pod: Pod): Thought[] {
    return this.#refusals.of(pod);
  }

  /** Where it is rather wanted, or not, by those who run already. */
  wishesFor(pod: Pod): Thought[] {
    return this.#wishes.of(pod);
  }

  #enter(key: string, tenant: Tenant): void {
    this.#tenants.set(key, tenant);
    this.#space(tenant.nodeName).add(tenant);
    this.#tallies.add(tenant.pod, tenant.nodeName);
    this.#refusals.add(tenant.pod, tenant.nodeName, refusalsIn(tenant.pod));
    this.#wishes.add(tenant.pod, tenant.nodeName, wishesIn(tenant.pod));
  }

  #leave(key: string): void {
    const tenant = this.#tenants.get(key);
    if (tenant === undefined) return;
    this.#tenants.delete(key);
    const space = this.#space(tenant.nodeName);
    space.remove(tenant);
    if (space.node === undefined && space.pods === 0) this.#nodes.delete(tenant.nodeName);
    this.#tallies.remove(tenant.pod, tenant.nodeName);
    this.#refusals.remove(tenant.pod, tenant.nodeName, refusalsIn(tenant.pod));
    this.#wishes.remove(tenant.pod, tenant.nodeName, wishesIn(tenant.pod));
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

const exists = (space: NodeSpace): space is NodeSpace & { node: Node } => space.node !== undefined;
