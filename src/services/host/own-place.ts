import { Address } from '../../api/address.ts';
import type { Prefix } from '../../api/prefix.ts';
import { addAddress, listAddresses } from '../../linux/addresses.ts';
import { addLink, changeLink, deleteLink, findLink } from '../../linux/links.ts';
import { Netlink } from '../../linux/netlink/connection.ts';
import { deleteRoutes, listRoutes, OUR_ROUTES, putRoute, type Route } from '../../linux/routes.ts';

/** A bridge without ports: no kernel lacks that kind, and nobody else is on it. */
export const DEVICE = 'nl-services';

/** Where a host answers its own pods. The same on every host, and out of reach for all others. */
export const PLACES = { IPv4: '169.254.78.76', IPv6: 'fd4e:4c00:78:76::1' } as const;

/** Ours are told from routes of others to the same networks, which they must not replace. */
const METRIC = 1_078;

export interface OwnPlace {
  readonly serviceCidrs: readonly Prefix[];
  /** The addresses of this host by which other hosts know it. */
  readonly hostAddresses: readonly Address[];
}

/** Whether an earlier run has left it. */
export function placeIsThere(): boolean {
  using netlink = new Netlink();
  return findLink(netlink, DEVICE) !== undefined;
}

/**
 * Makes the device with the addresses on which this host answers its pods, and leads what its own processes send to Services to
 * it: a packet needs a route before the proxy can lead it elsewhere, and an address that other hosts can answer.
 */
export function makePlace({ serviceCidrs, hostAddresses }: OwnPlace): void {
  using netlink = new Netlink();
  const kind = { is: 'bridge', multicastSnooping: false } as const;
  addLink(netlink, { name: DEVICE, kind }, { ownIpv6Address: false });
  changeLink(netlink, DEVICE, { up: true });
  const link = findLink(netlink, DEVICE)?.index ?? 0;
  for (const family of new Set(serviceCidrs.map((each) => each.family))) {
    const address = Address.parse(family === 4 ? PLACES.IPv4 : PLACES.IPv6);
    if (address !== undefined) addAddress(netlink, { link, address, length: family === 4 ? 32 : 128 });
  }
  const own = listAddresses(netlink);
  for (const destination of serviceCidrs) {
    const source = hostAddresses.find(
      (each) => each.family === destination.family && own.some(({ address }) => address.equals(each)),
    );
    putRoute(netlink, {
      destination,
      link,
      metric: METRIC,
      protocol: OUR_ROUTES,
      ...(source === undefined ? {} : { source }),
    });
  }
  deleteRoutes(netlink, staleRoutes(netlink, link, serviceCidrs));
}

/** Its routes go with it. */
export function removePlace(): void {
  using netlink = new Netlink();
  deleteLink(netlink, DEVICE);
}

/** To networks that Services had before. */
const staleRoutes = (netlink: Netlink, link: number, serviceCidrs: readonly Prefix[]): Route[] =>
  ([4, 6] as const)
    .flatMap((family) => listRoutes(netlink, { family, protocol: OUR_ROUTES }))
    .filter((route) => route.link === link && route.metric === METRIC)
    .filter(({ destination }) => !serviceCidrs.some((each) => each.equals(destination)));
