import { addLink, deleteLink, findLink, type Link, requireLink, type VethPeer } from '../../linux/links.ts';
import type { Netlink } from '../../linux/netlink/connection.ts';

export interface Pair {
  /** On the host. */
  readonly end: Link;
  /** Where it leads. */
  readonly port: Link;
}

/** A pair of links, made anew unless both are there and belong together. */
export function makePair(
  host: Netlink,
  elsewhere: Netlink,
  { link, peer }: { link: { name: string; mac: string; mtu: number }; peer: VethPeer },
): Pair {
  const end = findLink(host, link.name);
  const port = findLink(elsewhere, peer.name);
  if (end === undefined || port === undefined || end.other !== port.index || port.other !== end.index) {
    deleteLink(host, link.name);
    deleteLink(elsewhere, peer.name);
    addLink(host, { ...link, kind: { is: 'veth', peer: { ...peer, mtu: link.mtu } } });
  }
  return { end: requireLink(host, link.name), port: requireLink(elsewhere, peer.name) };
}
