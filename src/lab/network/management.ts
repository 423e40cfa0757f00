import { addAddress } from '../../linux/addresses.ts';
import { addLink, changeLink, deleteLink, findLink, type Link } from '../../linux/links.ts';
import type { Netlink } from '../../linux/netlink/connection.ts';
import { addressOf } from '../plan/addressing.ts';
import type { LabPlan } from '../plan/lab-plan.ts';

/** Tells ours from those of others, in the machine's own namespace. */
export const aliasOf = (lab: string, what: string): string => `netloom lab ${lab}: ${what}`;

/** Makes the bridge over which the hosts of a lab reach the API: with its links, all that a lab has in the machine's own network. */
export function makeManagementBridge(netlink: Netlink, { name, management }: LabPlan): Link {
  const alias = aliasOf(name, 'management');
  const there = findLink(netlink, management.bridge);
  if (there !== undefined && there.alias !== alias) {
    // A crash may have come between the making of it and its mark; only then it is ours and down.
    if (there.kind !== 'bridge' || there.up || there.alias !== undefined) throw foreign(management.bridge, name);
  }
  const kind = { is: 'bridge', multicastSnooping: false } as const;
  // An address of its own: that of its lowest port would change whenever a host comes or goes.
  const bridge = addLink(
    netlink,
    { name: management.bridge, mac: management.mac, kind },
    { alias, ownIpv6Address: false },
  );
  addAddress(netlink, { link: bridge.index, ...addressOf(management.address) });
  changeLink(netlink, bridge.index, { up: true });
  return bridge;
}

/** Nothing happens to what is not there, or is not of this lab. */
export function deleteManagementLink(netlink: Netlink, lab: string, link: string): void {
  const there = findLink(netlink, link);
  if (there?.alias?.startsWith(aliasOf(lab, '')) === true) deleteLink(netlink, link);
}

export const foreign = (link: string, lab: string): Error =>
  new Error(
    `there is a link ${link} on this machine already, which is not of the lab ${lab}: delete it, or rename the lab`,
  );
