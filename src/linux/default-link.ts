import { type Link, listLinks } from './links.ts';
import type { Netlink } from './netlink/connection.ts';
import { listRoutes } from './routes.ts';

/** The link by which packets leave that no other route is for. */
export function defaultLink(netlink: Netlink): Link | undefined {
  const routes = ([4, 6] as const).flatMap((family) => listRoutes(netlink, { family }));
  const [best] = routes
    .filter(({ destination }) => destination.length === 0)
    .sort((a, b) => (a.metric ?? 0) - (b.metric ?? 0));
  return listLinks(netlink).find(({ index }) => index === best?.link);
}
