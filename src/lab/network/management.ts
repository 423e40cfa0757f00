import type { Address } from '../../api/address.ts';
import { Prefix } from '../../api/prefix.ts';
import { addAddress, listAddresses } from '../../linux/addresses.ts';
import { defaultLink } from '../../linux/default-link.ts';
import { addLink, changeLink, deleteLink, findLink, type Link } from '../../linux/links.ts';
import type { Netlink } from '../../linux/netlink/connection.ts';
import { writeSysctl } from '../../linux/sysctl.ts';
import { addressOf, besideInIpv6 } from '../plan/addressing.ts';
import type { LabPlan, PlannedHost } from '../plan/lab-plan.ts';

/** Tells ours from those of others, in the machine's own namespace. */
export const aliasOf = (lab: string, what: string): string => `netloom lab ${lab}: ${what}`;

/** Makes the bridge over which the hosts of a lab reach the API: with its links, all that a lab has in the machine's own network. */
export function makeManagementBridge(
  netlink: Netlink,
  { name, management }: LabPlan,
  { ipv6 }: { ipv6: boolean },
): Link {
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
  if (ipv6) addAddress(netlink, { link: bridge.index, ...addressOf(besideInIpv6(management.address)) });
  changeLink(netlink, bridge.index, { up: true });
  // Where the machine is a host as well, pods of the lab's hosts reach pods here.
  writeSysctl(['net', 'ipv4', 'conf', management.bridge, 'forwarding'], '1');
  if (ipv6) writeSysctl(['net', 'ipv6', 'conf', management.bridge, 'force_forwarding'], '1');
  return bridge;
}

/**
 * The addresses by which others know this machine, as far as they mean nobody in the networks of the lab. As a Node it is known by one
 * of them.
 */
export function machineAddresses(
  netlink: Netlink,
  { hosts, switches }: LabPlan,
  { ipv6 }: { ipv6: boolean },
): Address[] {
  const outside = defaultLink(netlink)?.index;
  const texts = [...switches.flatMap(({ subnets }) => subnets), ...hosts.flatMap(networksOf)];
  const networks = texts.flatMap((text) => Prefix.parse(text) ?? []);
  return listAddresses(netlink)
    .filter(({ link, address }) => link === outside && (address.family === 4 || (ipv6 && isForAll(address))))
    .map(({ address }) => address)
    .filter((address) => !networks.some((network) => network.contains(address)));
}

/** And not only for those on the same link. */
const isForAll = (address: Address): boolean => !/^fe[89ab]/.test(`${address}`);

const networksOf = ({ links }: PlannedHost): string[] => links.flatMap(({ addresses }) => addresses);

/** Nothing happens to what is not there, or is not of this lab. */
export function deleteManagementLink(netlink: Netlink, lab: string, link: string): void {
  const there = findLink(netlink, link);
  if (there?.alias?.startsWith(aliasOf(lab, '')) === true) deleteLink(netlink, link);
}

export const foreign = (link: string, lab: string): Error =>
  new Error(
    `there is a link ${link} on this machine already, which is not of the lab ${lab}: delete it, or rename the lab`,
  );
