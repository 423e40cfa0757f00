import type { Pod } from '../../api/core/pod.ts';
import { hostPortsOf, NO_FREE_PORTS } from './host-ports.ts';
import { fitsNodeAffinity, NO_SUCH_NODE } from './node-affinity.ts';
import type { NodeSpace, Shortage } from './node-space.ts';
import { requestsOf } from './requests.ts';

/** Why a node does not take a pod, in the words of a kubelet. */
export interface Refusal {
  readonly reason: string;
  readonly message: string;
}

/** What speaks against a pod on the very node that it was given to, maybe past the scheduler, with those who are there already. */
export function refusalBy(space: NodeSpace, pod: Pod): Refusal | undefined {
  // As with a kubelet: what the node does not name is not for the node to hand out.
  const named = space.shortages(requestsOf(pod)).filter(({ capacity }) => capacity !== undefined);
  const [shortage] = named.sort((a, b) => rankOf(a) - rankOf(b));
  if (shortage !== undefined) return outOf(shortage);
  if (space.node !== undefined && !fitsNodeAffinity(pod, space.node)) return failed('NodeAffinity', NO_SUCH_NODE);
  return space.ports.areFree(hostPortsOf(pod)) ? undefined : failed('NodePorts', NO_FREE_PORTS);
}

/** Of several things that are missing, a kubelet tells the first of these. */
const RANKS = ['pods', 'cpu', 'memory', 'ephemeral-storage'];
const rankOf = ({ resource }: Shortage): number => (RANKS.includes(resource) ? RANKS.indexOf(resource) : RANKS.length);

function outOf({ resource, requested, used, capacity = 0 }: Shortage): Refusal {
  // Processors are told in thousandths, all else in whole numbers.
  const told = (amount: number): number => (resource === 'cpu' ? amount : Math.ceil(amount / 1000));
  const numbers = `requested: ${told(requested)}, used: ${told(used)}, capacity: ${told(capacity)}`;
  return { reason: `OutOf${resource}`, message: `Node didn't have enough resource: ${resource}, ${numbers}` };
}

const failed = (reason: string, why: string): Refusal => ({ reason, message: `Predicate ${reason} failed: ${why}` });
