import { Address, type Family } from '../api/address.ts';
import { Prefix } from '../api/prefix.ts';
import { KernelError } from './kernel.ts';
import { addressBytes, attribute, nested, readAddress, readAttributes, readU32, u32 } from './netlink/attributes.ts';
import type { Netlink } from './netlink/connection.ts';
import { flag, type Message, type Request } from './netlink/message.ts';

/** A unicast route with one next hop. */
export interface Route {
  readonly destination: Prefix;
  /** The next hop. Without one, whoever is meant is on the link itself. */
  readonly via?: Address;
  readonly link?: number;
  /** The next hop is on the link, whatever the addresses there say. */
  readonly onLink?: boolean;
  /** The address that packets of this host are sent from. */
  readonly source?: Address;
  readonly metric?: number;
  readonly mtu?: number;
  /** Who made it; ours carry OUR_ROUTES. */
  readonly protocol: number;
  readonly table?: number;
}

/** The protocol number that every route of ours carries; the kernel gives it no meaning. */
export const OUR_ROUTES = 110;
export const MAIN_TABLE = 254;

export function listRoutes(
  netlink: Netlink,
  { family, table = MAIN_TABLE, protocol }: { family: Family; table?: number; protocol?: number },
): Route[] {
  return dump(netlink, [header({ family, table, protocol: protocol ?? 0 }), attribute(TABLE, u32(table))])
    .flatMap(readRoute)
    .filter((route) => route.table === table && (protocol === undefined || route.protocol === protocol));
}

function dump(netlink: Netlink, body: Buffer[]): Message[] {
  try {
    return netlink.dump({ doing: 'list routes', type: GET, body });
  } catch (error) {
    // A table comes into being with its first route.
    if (error instanceof KernelError && error.code === 'ENOENT') return [];
    throw error;
  }
}

/**
 * Makes the route; one of the same protocol to the same destination, with the same metric and table, is replaced. One that somebody
 * else has made there is refused: it would be gone.
 */
export function putRoute(netlink: Netlink, route: Route): void {
  const [refusal] = putRoutes(netlink, [route]);
  if (refusal !== undefined) throw refusal;
}

/** Many at once; the answers are in their order, undefined for what is done. */
export function putRoutes(netlink: Netlink, routes: readonly Route[]): (KernelError | undefined)[] {
  const answers = netlink.requestAll(routes.map((route) => put(route, flag.exclusive)));
  const taken = [...routes.entries()].filter(([index]) => answers[index]?.code === 'EEXIST');
  const own = ownPlaces(
    netlink,
    taken.map(([, route]) => route),
  );
  const again = taken.filter(([, route]) => own.has(placeOf(route)));
  for (const [index, route] of taken) answers[index] = ofSomebodyElse(route);
  const replaced = netlink.requestAll(again.map(([, route]) => put(route, flag.replace)));
  for (const [nth, [index]] of again.entries()) answers[index] = replaced[nth];
  return answers;
}

/** Where routes of these protocols are, in the tables of these. */
function ownPlaces(netlink: Netlink, routes: readonly Route[]): ReadonlySet<string> {
  const lists = new Map(
    routes.map(({ destination: { family }, table = MAIN_TABLE, protocol }) => [
      `${family} ${table} ${protocol}`,
      { family, table, protocol },
    ]),
  );
  return new Set([...lists.values()].flatMap((list) => listRoutes(netlink, list)).map(placeOf));
}

/** What the kernel tells routes apart by, and who has made it. */
const placeOf = ({ destination, metric, table = MAIN_TABLE, protocol }: Route): string =>
  `${destination} ${metric ?? (destination.family === 4 ? 0 : USUAL_METRIC_6)} ${table} ${protocol}`;

const ofSomebodyElse = (route: Route): KernelError =>
  new KernelError(doing(route), EEXIST, 'somebody else has made one to there, which is not ours to replace');

/** Nothing happens to those that are not there. */
export function deleteRoutes(netlink: Netlink, routes: readonly Route[]): (KernelError | undefined)[] {
  const answers = netlink.requestAll(
    routes.map((route) => ({
      doing: `delete the route to ${route.destination}`,
      type: DELETE,
      flags: 0,
      body: bodyOf(route, SCOPE_NOWHERE),
    })),
  );
  return answers.map((refusal) => (refusal?.code === 'ESRCH' ? undefined : refusal));
}

export function deleteRoute(netlink: Netlink, route: Route): void {
  const [refusal] = deleteRoutes(netlink, [route]);
  if (refusal !== undefined) throw refusal;
}

const doing = ({ destination, via }: Route): string =>
  `make the route to ${destination}${via === undefined ? '' : ` via ${via}`}`;

const put = (route: Route, how: number): Request => ({
  doing: doing(route),
  type: NEW,
  flags: flag.create | how,
  body: bodyOf(route, route.via === undefined && route.destination.family === 4 ? SCOPE_LINK : SCOPE_UNIVERSE),
});

function bodyOf(route: Route, scope: number): Buffer[] {
  const { destination, via, link, source, metric, mtu, onLink = false, table = MAIN_TABLE, protocol } = route;
  const { family, length } = destination;
  const body = [header({ family, length, table, protocol, scope, type: UNICAST, flags: onLink ? ON_LINK : 0 })];
  body.push(attribute(DESTINATION, addressBytes(destination.first)), attribute(TABLE, u32(table)));
  if (via !== undefined) {
    const bytes = addressBytes(via);
    // An IPv6 next hop of an IPv4 route has an attribute of its own, which names the family first.
    const other = via.family === family ? undefined : Buffer.concat([Buffer.of(numberOf(via.family), 0), bytes]);
    body.push(other === undefined ? attribute(GATEWAY, bytes) : attribute(VIA, other));
  }
  if (link !== undefined) body.push(attribute(LINK, u32(link)));
  if (source !== undefined) body.push(attribute(SOURCE, addressBytes(source)));
  if (metric !== undefined) body.push(attribute(PRIORITY, u32(metric)));
  if (mtu !== undefined) body.push(nested(METRICS, attribute(METRIC_MTU, u32(mtu))));
  return body;
}

/** struct rtmsg */
function header({ family, length = 0, table, protocol = 0, scope = 0, type = 0, flags = 0 }: Header): Buffer {
  const bytes = Buffer.alloc(12);
  bytes.writeUInt8(numberOf(family), 0);
  bytes.writeUInt8(length, 1);
  // Tables with higher numbers than this byte can say are named by an attribute alone.
  bytes.writeUInt8(table < 256 ? table : 0, 4);
  bytes.writeUInt8(protocol, 5);
  bytes.writeUInt8(scope, 6);
  bytes.writeUInt8(type, 7);
  bytes.writeUInt32LE(flags, 8);
  return bytes;
}

interface Header {
  readonly family: Family;
  readonly length?: number;
  readonly table: number;
  readonly protocol?: number;
  readonly scope?: number;
  readonly type?: number;
  readonly flags?: number;
}

function readRoute({ body }: Message): Route[] {
  if (body.readUInt8(7) !== UNICAST || (body.readUInt32LE(8) & CLONED) !== 0) return [];
  const has = readAttributes(body.subarray(12));
  const family: Family = body.readUInt8(0) === AF_INET ? 4 : 6;
  const anywhere = Address.of(family, 0n);
  const via = readAddress(has.get(GATEWAY)) ?? readAddress(has.get(VIA)?.subarray(2));
  const link = readU32(has.get(LINK));
  const source = readAddress(has.get(SOURCE));
  const metric = readU32(has.get(PRIORITY));
  const metrics = has.get(METRICS);
  const mtu = metrics === undefined ? undefined : readU32(readAttributes(metrics).get(METRIC_MTU));
  return [
    {
      destination: new Prefix(readAddress(has.get(DESTINATION)) ?? anywhere, body.readUInt8(1)),
      ...(via === undefined ? {} : { via }),
      ...(link === undefined ? {} : { link }),
      ...((body.readUInt32LE(8) & ON_LINK) === 0 ? {} : { onLink: true }),
      ...(source === undefined ? {} : { source }),
      ...(metric === undefined ? {} : { metric }),
      ...(mtu === undefined ? {} : { mtu }),
      protocol: body.readUInt8(5),
      table: readU32(has.get(TABLE)) ?? body.readUInt8(4),
    },
  ];
}

const numberOf = (family: Family): number => (family === 4 ? AF_INET : AF_INET6);

const EEXIST = 17;
/** Of IPv6, where none is given. */
const USUAL_METRIC_6 = 1_024;
const NEW = 24;
const DELETE = 25;
const GET = 26;
const AF_INET = 2;
const AF_INET6 = 10;
const UNICAST = 1;
const SCOPE_UNIVERSE = 0;
const SCOPE_LINK = 253;
/** Of whatever scope. */
const SCOPE_NOWHERE = 255;
const ON_LINK = 4;
const CLONED = 0x200;
const DESTINATION = 1;
const LINK = 4;
const GATEWAY = 5;
const PRIORITY = 6;
const SOURCE = 7;
const METRICS = 8;
const TABLE = 15;
const VIA = 18;
const METRIC_MTU = 2;
