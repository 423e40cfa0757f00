import { Prefix } from '../../api/prefix.ts';
import { listAddresses } from '../../linux/addresses.ts';
import { listLinks } from '../../linux/links.ts';
import { Netlink } from '../../linux/netlink/connection.ts';
import { listRoutes } from '../../linux/routes.ts';
import type { UsedNetwork } from '../management-subnet.ts';

/** The IPv4 networks that this machine has an address in or a route to, but for those of one bridge. */
export function usedNetworks(except: string): UsedNetwork[] {
  using netlink = new Netlink();
  const names = new Map(listLinks(netlink).map(({ index, name }) => [index, name]));
  const addresses = listAddresses(netlink).map(({ link, address, length }) => ({
    link,
    subnet: new Prefix(address, length),
  }));
  const routes = listRoutes(netlink, { family: 4 }).flatMap(({ link, destination }) =>
    destination.length === 0 ? [] : [{ link: link ?? 0, subnet: destination }],
  );
  return [...addresses, ...routes]
    .map(({ link, subnet }) => ({ subnet, by: names.get(link) ?? 'a route' }))
    .filter(({ by, subnet }) => by !== except && subnet.family === 4);
}
