import { deleteLink, listLinks } from '../../linux/links.ts';
import { Netlink } from '../../linux/netlink/connection.ts';
import {
  inNetworkNamespace,
  isNetworkNamespace,
  networkNamespacePath,
  removeNetworkNamespace,
} from '../../linux/network-namespace.ts';
import { type Clock, sleep } from '../../runtime/clock.ts';
import type { Changes } from '../plan/changes.ts';
import type { LabPlan, PlannedHost } from '../plan/lab-plan.ts';
import { deleteManagementLink } from './management.ts';

/** Leaves nothing of a lab's network, as far as it is there. */
export async function removeNetwork(plan: LabPlan, clock: Clock): Promise<void> {
  await removeHostNetworks(plan, plan.hosts, clock);
  removeNetworkNamespace(plan.namespace);
  using machine = new Netlink();
  deleteManagementLink(machine, plan.name, plan.management.bridge);
}

/**
 * Links of hosts are gone with them, and those at their other ends. The kernel takes many namespaces away at once, which is quicker by
 * far than link by link; but when it has time, or never while somebody has them open: what is left then is deleted.
 */
export async function removeHostNetworks(plan: LabPlan, hosts: readonly PlannedHost[], clock: Clock): Promise<void> {
  for (const { namespace } of hosts) removeNetworkNamespace(namespace);
  using machine = new Netlink();
  const file = networkNamespacePath(plan.namespace);
  using among = isNetworkNamespace(file) ? inNetworkNamespace(file, () => new Netlink()) : undefined;
  const outside = hosts.map(({ management }) => management.port);
  const inside = hosts.flatMap(({ links }) => links.map(({ port }) => port));
  const left = (): number =>
    linksOf(machine, outside).length + (among === undefined ? 0 : linksOf(among, inside).length);
  for (let count = left(), tries = 0; count > 0 && tries < MOST_TRIES; tries += 1) {
    await sleep(clock, LOOK_AGAIN);
    const now = left();
    if (now < count) tries = 0;
    count = now;
  }
  for (const name of linksOf(machine, outside)) deleteManagementLink(machine, plan.name, name);
  if (among !== undefined) for (const name of linksOf(among, inside)) deleteLink(among, name);
}

function linksOf(netlink: Netlink, names: readonly string[]): string[] {
  const wanted = new Set(names);
  return listLinks(netlink)
    .map(({ name }) => name)
    .filter((name) => wanted.has(name));
}

/** So often in a row that nothing goes: half a second. */
const MOST_TRIES = 50;
const LOOK_AGAIN = 10;

/** Links of hosts that stay, and switches. */
export function removeParts({ namespace }: LabPlan, { links, switches }: Pick<Changes, 'links' | 'switches'>): void {
  const file = networkNamespacePath(namespace);
  if (!isNetworkNamespace(file)) return;
  using among = inNetworkNamespace(file, () => new Netlink());
  for (const name of [...links.map(({ link }) => link.port), ...switches.map((each) => each.name)])
    deleteLink(among, name);
}
