import type { Node } from '../../api/core/node.ts';
import type { Pod } from '../../api/core/pod.ts';
import { controllerUid } from '../pod-state.ts';
import { type HostPort, HostPorts, hostPortsOf } from './host-ports.ts';
import { type Amounts, amountsOf, requestsOf } from './requests.ts';

/** A pod and what it takes of its node. */
export interface Tenant {
  readonly pod: Pod;
  readonly nodeName: string;
  readonly amounts: Amounts;
  readonly ports: readonly HostPort[];
}

export const tenant = (pod: Pod, nodeName: string): Tenant => ({
  pod,
  nodeName,
  amounts: requestsOf(pod),
  ports: hostPortsOf(pod),
});

/** Too little of a resource, all in thousandths. */
export interface Shortage {
  readonly resource: string;
  readonly requested: number;
  readonly used: number;
  /** Undefined when the node says nothing of the resource. */
  readonly capacity: number | undefined;
}

/** What is in use on one node, as sums that are kept and never added up anew. */
export class NodeSpace {
  readonly name: string;
  readonly ports = new HostPorts();
  readonly #used = new Map<string, number>();
  /** For scores: as `#used`, but whoever asks for nothing counts for a little. */
  readonly #weight = new Map<string, number>();
  /** UID of a controller → how many of its pods are here. */
  readonly #siblings = new Map<string, number>();
  #node: Node | undefined;
  #allocatable: Amounts = new Map();
  #pods = 0;

  constructor(name: string) {
    this.name = name;
  }

  /** Undefined while only its pods are known. */
  get node(): Node | undefined {
    return this.#node;
  }

  set node(node: Node | undefined) {
    this.#node = node;
    const { allocatable, capacity } = node?.status ?? {};
    this.#allocatable = amountsOf(allocatable ?? capacity);
  }

  get pods(): number {
    return this.#pods;
  }

  add({ pod, amounts, ports }: Tenant): void {
    this.#change(pod, amounts, 1);
    this.ports.take(ports);
  }

  remove({ pod, amounts, ports }: Tenant): void {
    this.#change(pod, amounts, -1);
    this.ports.giveBack(ports);
  }

  siblingsOf(pod: Pod): number {
    return this.#siblings.get(controllerUid(pod) ?? '') ?? 0;
  }

  /** Resources of which too little is left. A node that does not say how many pods it takes takes any number. */
  shortages(amounts: Amounts): Shortage[] {
    const found: Shortage[] = [];
    for (const [resource, requested] of amounts) {
      if (requested === 0) continue;
      const capacity = this.#allocatable.get(resource);
      const used = this.#used.get(resource) ?? 0;
      const limit = capacity ?? (resource === 'pods' ? Number.POSITIVE_INFINITY : 0);
      if (used + requested > limit) found.push({ resource, requested, used, capacity });
    }
    return found;
  }

  /** The part of a resource, from 0 to 1, that would be in use with the pod. */
  usedPart(resource: 'cpu' | 'memory', amounts: Amounts): number {
    const limit = this.#allocatable.get(resource) ?? 0;
    if (limit === 0) return 1;
    return Math.min(1, ((this.#weight.get(resource) ?? 0) + weightOf(resource, amounts)) / limit);
  }

  #change(pod: Pod, amounts: Amounts, sign: 1 | -1): void {
    this.#pods += sign;
    for (const [resource, amount] of amounts) {
      this.#used.set(resource, (this.#used.get(resource) ?? 0) + sign * amount);
    }
    for (const resource of ['cpu', 'memory'] as const) {
      this.#weight.set(resource, (this.#weight.get(resource) ?? 0) + sign * weightOf(resource, amounts));
    }
    const controller = controllerUid(pod);
    if (controller === undefined) return;
    const siblings = (this.#siblings.get(controller) ?? 0) + sign;
    if (siblings === 0) this.#siblings.delete(controller);
    else this.#siblings.set(controller, siblings);
  }
}

/** What a container that asks for nothing is taken to need: 100m of a processor, 200 MB of memory. */
const ASSUMED = { cpu: 100, memory: 200 * 1024 * 1024 * 1000 };

const weightOf = (resource: 'cpu' | 'memory', amounts: Amounts): number => {
  const amount = amounts.get(resource) ?? 0;
  return amount === 0 ? ASSUMED[resource] : amount;
};
