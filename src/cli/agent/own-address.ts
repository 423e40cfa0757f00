import { networkInterfaces } from 'node:os';
import { defaultLink } from '../../linux/default-link.ts';
import { Netlink } from '../../linux/netlink/connection.ts';

/** Under which others reach this machine, as far as it can tell: an address of the link that its default route leaves by. */
export function ownAddress(): string {
  using netlink = new Netlink();
  const way = defaultLink(netlink)?.name;
  const addresses = Object.entries(networkInterfaces()).flatMap(([link, all]) =>
    (all ?? []).map(({ address, family, internal }) => ({ link, address, family, internal })),
  );
  const outside = addresses.filter(
    ({ link, internal, address }) => !internal && !link.startsWith(OURS) && !LINK_LOCAL.test(address),
  );
  const best = [
    outside.find(({ link, family }) => link === way && family === 'IPv4'),
    outside.find(({ link }) => link === way),
    outside.find(({ family }) => family === 'IPv4'),
    outside[0],
  ];
  return best.find((each) => each !== undefined)?.address ?? '127.0.0.1';
}

/** What begins the name of every link that Netloom makes. */
const OURS = 'nl';
const LINK_LOCAL = /^(169\.254\.|fe80:)/;
