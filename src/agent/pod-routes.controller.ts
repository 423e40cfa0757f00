import { Address, type Family } from '../api/address.ts';
import { addressesSeenBy, Node, podRangesOf } from '../api/core/node.ts';
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
  readonly network: Pick<PodNetwork, 'routeTo' | 'cutOff'>;
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
      const ranges = others.flatMap((other) => rangesSeen(other, node));
      const routes = ranges.flatMap(({ podCidr, via }) => (via === undefined ? [] : [{ podCidr, via }]));
      const cutOff = await network.cutOff(podRangesOf(node));
      const problems = [...cutOff, ...(await network.routeTo(routes)), ...ranges.flatMap(withoutWay)];
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

interface RangeSeen {
  readonly podCidr: string;
  readonly of: string;
  readonly family: Family;
  /** Undefined where the node has none of the family. */
  readonly via: string | undefined;
}

/** The ranges of a node, each with the address of its family under which another one reaches the node. */
function rangesSeen(node: Node, from: Node): RangeSeen[] {
  const known = addressesSeenBy(from, node);
  // It has only just come: its agent has not said yet where it is.
  if (known.length === 0) return [];
  return podRangesOf(node).flatMap((podCidr) => {
    const family = Prefix.parse(podCidr)?.family;
    if (family === undefined) return [];
    const via = known.find((address) => Address.parse(address)?.family === family);
    return [{ podCidr, of: node.metadata.name, family, via }];
  });
}

const withoutWay = ({ podCidr, of, family, via }: RangeSeen): { podCidr: string; problem: string }[] =>
  via === undefined
    ? [{ podCidr, problem: `node ${of} has no IPv${family} address (its agent gets one by --node-ip)` }]
    : [];
