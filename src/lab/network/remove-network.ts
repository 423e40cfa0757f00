import { deleteLink } from '../../linux/links.ts';
import { Netlink } from '../../linux/netlink/connection.ts';
import {
  inNetworkNamespace,
  isNetworkNamespace,
  networkNamespacePath,
  removeNetworkNamespace,
} from '../../linux/network-namespace.ts';
import type { Changes } from '../plan/changes.ts';
import type { LabPlan, PlannedHost } from '../plan/lab-plan.ts';
import { deleteManagementLink } from './management.ts';

/** Leaves nothing of a lab's network, as far as it is there. */
export function removeNetwork(plan: LabPlan): void {
  for (const host of plan.hosts) removeHostNetwork(plan, host);
  removeNetworkNamespace(plan.namespace);
  using machine = new Netlink();
  deleteManagementLink(machine, plan.name, plan.management.bridge);
}

/** Links of hosts that stay, and switches. */
export function removeParts({ namespace }: LabPlan, { links, switches }: Pick<Changes, 'links' | 'switches'>): void {
  const file = networkNamespacePath(namespace);
  if (!isNetworkNamespace(file)) return;
  using among = inNetworkNamespace(file, () => new Netlink());
  for (const name of [...links.map(({ link }) => link.port), ...switches.map((each) => each.name)])
    deleteLink(among, name);
}

/** Its links are gone with it, and those at their other ends. The kernel would do it too, but when it has time. */
export function removeHostNetwork({ name, namespace }: LabPlan, host: PlannedHost): void {
  using machine = new Netlink();
  deleteManagementLink(machine, name, host.management.port);
  const switches = networkNamespacePath(namespace);
  if (isNetworkNamespace(switches)) {
    using among = inNetworkNamespace(switches, () => new Netlink());
    for (const { port } of host.links) deleteLink(among, port);
  }
  removeNetworkNamespace(host.namespace);
}
