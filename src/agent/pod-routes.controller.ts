import { Address } from '../api/address.ts';
import { addressesSeenBy, Node } from '../api/core/node.ts';
import { Prefix } from '../api/prefix.ts';
import type { PodNetwork } from '../pods/host/pod-network.ts';
import { type Controller, controller } from '../runtime/controller.ts';
import { done, wait } from '../runtime/outcome.ts';
import type { Troubles } from './troubles.ts';

/** What cannot be routed is tried again: neither links nor settings of the kernel tell us when they change. */
const TRY_AGAIN = 30_000;

export interface PodRoutesOptions {
  /** Of this host. */
  readonly name: string;
  readonly network: Pick<PodNetwork, 'routeTo'>;
  readonly troubles: Troubles;
}

/** Leads to the pods of other hosts, as their Nodes come, move and go. */
export const podRoutes = ({ name, network, troubles }: PodRoutesOptions): Controller =>
  controller({
    name: 'pod-routes',
    for: Node,
    watches: [{ kind: Node, wakes: () => [{ namespace: '', name }] }],
    reconcile: async (node, { caches, events }) => {
      if (node.metadata.name !== name) return done();
      const others = caches
        .of(Node)
        .list()
        .filter((other) => other.metadata.name !== name);
      const problems = await network.routeTo(others.flatMap((other) => routesTo(other, node)));
      if (problems.length === 0) {
        troubles.set('routes', undefined);
        return done();
      }
      const [first] = problems;
      const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
      const message = `the pods of ${first?.podCidr} cannot be reached: ${first?.problem}${more}`;
      troubles.set('routes', { reason: 'PodRoutesIncomplete', message, isFatal: false });
      events.warning(node, 'PodRoutesIncomplete', message);
      return wait({ after: TRY_AGAIN });
    },
  });

/** The ranges of a node, each with the address of its family under which another one reaches the node. */
export function routesTo(node: Node, from: Node): { podCidr: string; via: string }[] {
  const { podCIDR, podCIDRs: ranges = podCIDR === undefined ? [] : [podCIDR] } = node.spec;
  const known = addressesSeenBy(from, node);
  return ranges.flatMap((podCidr) => {
    const family = Prefix.parse(podCidr)?.family;
    const via = known.find((address) => Address.parse(address)?.family === family);
    return via === undefined ? [] : [{ podCidr, via }];
  });
}
