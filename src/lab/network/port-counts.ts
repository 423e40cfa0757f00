import { findLink } from '../../linux/links.ts';
import { Netlink } from '../../linux/netlink/connection.ts';
import { inNetworkNamespace, isNetworkNamespace, networkNamespacePath } from '../../linux/network-namespace.ts';
import { countsOfPort, type PortCounts } from '../../linux/port-rules.ts';
import type { LabPlan } from '../plan/lab-plan.ts';

/** Which frames did not pass at the ports of a lab; nothing of ports that have no rules. */
export function portCounts({ namespace, hosts }: LabPlan): ReadonlyMap<string, PortCounts> {
  const file = networkNamespacePath(namespace);
  if (!isNetworkNamespace(file)) return new Map();
  using netlink = inNetworkNamespace(file, () => new Netlink());
  return new Map(
    hosts
      .flatMap(({ links }) => links)
      .flatMap(({ port }): [string, PortCounts][] => {
        const link = findLink(netlink, port);
        const counts = link === undefined ? undefined : countsOfPort(netlink, link.index);
        return counts === undefined ? [] : [[port, counts]];
      }),
  );
}
