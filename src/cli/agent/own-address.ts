import { networkInterfaces } from 'node:os';
import { defaultLink } from '../../linux/default-link.ts';
import { Netlink } from '../../linux/netlink/connection.ts';

/**
 * Under which others reach this machine, as far as it can tell: an address of the link that its default route leaves by; where pods
 * have IPv6 addresses as well, one of IPv6 beside it, if there is any.
 */
export function ownAddresses(podCidrs: string): string[] {
  using netlink = new Netlink();
  const way = defaultLink(netlink)?.name;
  const addresses = Object.entries(networkInterfaces()).flatMap(([link, all]) =>
    (all ?? []).map(({ address, family, internal }) => ({ link, address, family, internal })),
  );
  const outside = addresses.filter(
    ({ link, internal, address }) => !internal && !link.startsWith(OURS) && !LINK_LOCAL.test(address),
  );
  const first = best(outside, way);
  const ofIpv6 = outside.filter(({ family }) => family === 'IPv6');
  const other = ofIpv6.find(({ link }) => link === way) ?? ofIpv6[0];
  const isOther = podCidrs.includes(':') && other !== undefined && !first.includes(':');
  return isOther ? [first, other.address] : [first];
}

function best(outside: readonly { link: string; family: string; address: string }[], way: string | undefined): string {
  const found = [
    outside.find(({ link, family }) => link === way && family === 'IPv4'),
    outside.find(({ link }) => link === way),
    outside.find(({ family }) => family === 'IPv4'),
    outside[0],
  ];
  return found.find((each) => each !== undefined)?.address ?? '127.0.0.1';
}

/** What begins the name of every link that Netloom makes. */
const OURS = 'nl';
const LINK_LOCAL = /^(169\.254\.|fe80:)/;
