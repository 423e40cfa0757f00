import { createHash } from 'node:crypto';
import { Address, bitsOf, type Family } from '../../api/address.ts';
import { Prefix } from '../../api/prefix.ts';
import { addAddress, deleteAddress, listAddresses } from '../../linux/addresses.ts';
import { addLink, changeLink, deleteLink, findLink, listLinks, requireLink } from '../../linux/links.ts';
import { putNeighbour } from '../../linux/neighbours.ts';
import { Netlink } from '../../linux/netlink/connection.ts';
import {
  createNetworkNamespace,
  inNetworkNamespace,
  isNetworkNamespace,
  networkNamespacePath,
  networkNamespaces,
  removeNetworkNamespace,
  withDescriptor,
} from '../../linux/network-namespace.ts';
import { deleteRoutes, listRoutes, OUR_ROUTES, putRoute, putRoutes, type Route } from '../../linux/routes.ts';
import { deleteTable, isSourceCheck, putSourceCheck } from '../../linux/source-check.ts';
import { readSysctl, writeSysctl } from '../../linux/sysctl.ts';
import type { PodNetwork } from './pod-network.ts';

/** The group of links that lead to pods: by their names, rules could not tell them from other links of ours. */
export const POD_LINKS = 10_244;

/**
 * Every pod has a veth pair to the network namespace that this process lives in, be it the machine's or that of a host
 * in a lab; nothing but routes leads to it. Nobody has to answer ARP: both ends know each other from the beginning.
 * What is there is read from the kernel each time: a pod is ours when the other end of its pair is here.
 */
export class RoutedPodNetwork implements PodNetwork {
  readonly #underlayAddress: string | undefined;
  /** Those of an agent before this one may not be in the group yet by which the rules know them. */
  #areAllMarked = false;

  /** @param underlayAddress the address of this host that other hosts route to: pods take the MTU of its link */
  constructor({ underlayAddress }: { underlayAddress?: string | undefined } = {}) {
    this.#underlayAddress = underlayAddress;
  }

  async attach(pod: { uid: string; namespace: string; name: string }, texts: readonly string[]) {
    const ends = endsOf(pod.uid);
    const addresses = texts.map((text) => {
      const address = Address.parse(text);
      if (address === undefined) throw new Error(`"${text}" is no address that a pod could have`);
      return address;
    });
    using host = new Netlink();
    const wire = (descriptor: number): void => {
      using inside = new Netlink();
      this.#join(host, inside, ends, descriptor);
      const alias = `pod ${pod.namespace}/${pod.name}`.slice(0, 255);
      changeLink(host, ends.link, { alias, group: POD_LINKS, up: true });
      equip(inside, addresses, ends);
    };
    const namespacePath = networkNamespacePath(ends.namespace);
    if (isNetworkNamespace(namespacePath)) {
      inNetworkNamespace(namespacePath, () => withDescriptor(namespacePath, wire));
    } else {
      createNetworkNamespace(ends.namespace, wire);
    }
    lead(host, addresses, ends);
    return { namespacePath };
  }

  async detach(uid: string): Promise<void> {
    const { link, namespace } = endsOf(uid);
    using host = new Netlink();
    deleteLink(host, link);
    removeNetworkNamespace(namespace);
    if (!hasPods(host)) deleteTable(TABLE);
  }

  async guard(): Promise<boolean> {
    using host = new Netlink();
    if (!hasPods(host)) {
      deleteTable(TABLE);
      return false;
    }
    if (!this.#areAllMarked) markAll(host);
    this.#areAllMarked = true;
    return checkSources();
  }

  async list(): Promise<{ uid: string; addresses: string[] }[]> {
    using host = new Netlink();
    const here = new Set(listLinks(host).map((link) => link.name));
    return uidsOnMachine()
      .filter((uid) => here.has(endsOf(uid).link))
      .map((uid) => ({ uid, addresses: addressesIn(networkNamespacePath(endsOf(uid).namespace)) }));
  }

  async routeTo(others: readonly { podCidr: string; via: string }[]): Promise<{ podCidr: string; problem: string }[]> {
    using netlink = new Netlink();
    const present = families
      .flatMap((family) => listRoutes(netlink, { family, protocol: OUR_ROUTES }))
      .filter((route) => route.via !== undefined && route.metric === METRIC);
    const there = new Set(present.map(routeText));

    const problems: { podCidr: string; problem: string }[] = [];
    const wanted: { podCidr: string; route: Route }[] = [];
    for (const { podCidr, via } of others) {
      const destination = Prefix.parse(podCidr);
      const hop = Address.parse(via);
      if (destination === undefined) problems.push({ podCidr, problem: `"${podCidr}" is no network` });
      else if (hop === undefined) problems.push({ podCidr, problem: `"${via}" is no address of a host` });
      else wanted.push({ podCidr, route: { destination, via: hop, metric: METRIC, protocol: OUR_ROUTES } });
    }
    const missing = wanted.filter(({ route }) => !there.has(routeText(route)));
    const refusals = putRoutes(
      netlink,
      missing.map(({ route }) => route),
    );
    for (const [index, refusal] of refusals.entries()) {
      const podCidr = missing[index]?.podCidr;
      if (podCidr !== undefined && refusal !== undefined) problems.push({ podCidr, problem: refusal.message });
    }
    const named = new Set(wanted.map(({ route }) => routeText(route)));
    deleteRoutes(
      netlink,
      present.filter((route) => !named.has(routeText(route))),
    );
    return [...problems, ...notForwarded(netlink, wanted)];
  }

  async cutOff(ranges: readonly string[]): Promise<{ podCidr: string; problem: string }[]> {
    const isShut = readSysctl(FORCED) === undefined && readSysctl(FORWARDING_6) !== '1';
    const problem = `this kernel lets IPv6 pass for a whole machine alone, and here it does not (to change that: echo 1 > /proc/sys/${FORWARDING_6.join('/')})`;
    const ofIpv6 = ranges.filter((podCidr) => Prefix.parse(podCidr)?.family === 6);
    return isShut ? ofIpv6.map((podCidr) => ({ podCidr, problem })) : [];
  }

  /** Makes the pair, unless both of its ends are where they belong. */
  #join(host: Netlink, inside: Netlink, { link, hostMac, podMac }: Ends, descriptor: number): void {
    if (findLink(inside, INTERFACE) !== undefined && findLink(host, link) !== undefined) return;
    // One end alone belongs to a pair that somebody has moved or that is being torn down.
    deleteLink(host, link);
    deleteLink(inside, INTERFACE);
    const mtu = this.#mtu(host);
    const peer = { name: INTERFACE, namespace: descriptor, mac: podMac, mtu };
    addLink(host, { name: link, kind: { is: 'veth', peer }, mac: hostMac, mtu }, { ownIpv6Address: false });
  }

  #mtu(host: Netlink): number {
    const underlay = this.#underlayAddress === undefined ? undefined : Address.parse(this.#underlayAddress);
    const holder = underlay && listAddresses(host).find(({ address }) => address.equals(underlay));
    const mtu = listLinks(host).find(({ index }) => index === holder?.link)?.mtu ?? ETHERNET_MTU;
    return Math.min(mtu, LARGEST_MTU);
  }
}

/** The inside of the pod: its addresses alone on `eth0`, and everything else behind the other end. */
function equip(inside: Netlink, addresses: readonly Address[], { hostMac }: Ends): void {
  const { index: link } = requireLink(inside, INTERFACE);
  for (const other of listAddresses(inside)) {
    if (other.link === link && !addresses.some((address) => other.address.equals(address)))
      deleteAddress(inside, other);
  }
  changeLink(inside, 'lo', { up: true });
  changeLink(inside, link, { up: true, ownIpv6Address: false });
  for (const address of addresses) {
    addAddress(inside, { link, address, length: bitsOf(address.family) });
    const { gateway, anywhere } = way[address.family];
    putNeighbour(inside, { link, address: gateway, mac: hostMac });
    putRoute(inside, { destination: anywhere, via: gateway, link, onLink: true, protocol: OUR_ROUTES });
  }
}

/** The host's side: the pod is behind its link, and what comes from there may go on. */
function lead(host: Netlink, addresses: readonly Address[], { link: name, podMac }: Ends): void {
  const { index: link } = requireLink(host, name);
  const destinations = addresses.map((address) => new Prefix(address, bitsOf(address.family)));
  const old = families
    .flatMap((family) => listRoutes(host, { family, protocol: OUR_ROUTES }))
    .filter((route) => route.link === link && !destinations.some((each) => each.equals(route.destination)));
  deleteRoutes(host, old);
  for (const address of addresses) putNeighbour(host, { link, address, mac: podMac });
  for (const destination of destinations) {
    putRoute(host, { destination, link, protocol: OUR_ROUTES });
    writeSysctl(forwardingOf(destination.family, name), '1');
  }
  checkSources();
  // By IPv4 the link itself lets nothing in that does not lead back there.
  writeSysctl(['net', 'ipv4', 'conf', name, 'rp_filter'], STRICT);
}

const STRICT = '1';

/** No pod speaks in the name of another one, nor of a host. Answers whether that had to be seen to. */
function checkSources(): boolean {
  if (isSourceCheck(TABLE)) return false;
  putSourceCheck(TABLE, POD_LINKS);
  return true;
}

function markAll(host: Netlink): void {
  const ours = new Set(uidsOnMachine().map((uid) => endsOf(uid).link));
  for (const { name, index, group } of listLinks(host)) {
    if (ours.has(name) && group !== POD_LINKS) changeLink(host, index, { group: POD_LINKS });
  }
}

/** Of pods of this host, or of another one in the same network. */
const hasPods = (host: Netlink): boolean =>
  uidsOnMachine().some((uid) => findLink(host, endsOf(uid).link) !== undefined);

/** Also those whose pair leads to another host, as in a lab. */
const uidsOnMachine = (): string[] =>
  networkNamespaces(NAMESPACE_PREFIX)
    .map((name) => name.slice(NAMESPACE_PREFIX.length))
    .filter((uid) => UID.test(uid));

/**
 * What arrives from other hosts goes on to pods only where the link that it arrives on forwards. That link is the machine's own:
 * it is not ours to change, so it is said.
 */
function notForwarded(netlink: Netlink, wanted: readonly { podCidr: string; route: Route }[]) {
  const links = new Map(listLinks(netlink).map((link) => [link.index, link.name]));
  const made = new Map(
    families
      .flatMap((family) => listRoutes(netlink, { family, protocol: OUR_ROUTES }))
      .map((route) => [routeText(route), links.get(route.link ?? 0)]),
  );
  return wanted.flatMap(({ podCidr, route }) => {
    const link = made.get(routeText(route));
    if (link === undefined || forwards(route.destination.family, link)) return [];
    const { family } = route.destination;
    const ofLink = forwardingOf(family, link);
    const setting = (family === 6 && readSysctl(ofLink) === undefined ? FORWARDING_6 : ofLink).join('/');
    const problem = `packets from there do not reach pods here: this host does not forward what arrives on ${link} (to change that: echo 1 > /proc/sys/${setting})`;
    return [{ podCidr, problem }];
  });
}

function forwards(family: Family, link: string): boolean {
  if (family === 6 && readSysctl(FORWARDING_6) === '1') return true;
  return readSysctl(forwardingOf(family, link)) === '1';
}

/** For IPv6, `forwarding` of one link only says that it is not a router's; what lets packets pass by one link came with Linux 6.17. */
const forwardingOf = (family: Family, link: string): string[] =>
  family === 4 ? ['net', 'ipv4', 'conf', link, 'forwarding'] : ['net', 'ipv6', 'conf', link, 'force_forwarding'];

const FORWARDING_6 = ['net', 'ipv6', 'conf', 'all', 'forwarding'];
const FORCED = ['net', 'ipv6', 'conf', 'all', 'force_forwarding'];

function addressesIn(namespacePath: string): string[] {
  if (!isNetworkNamespace(namespacePath)) return [];
  return inNetworkNamespace(namespacePath, () => {
    using inside = new Netlink();
    const link = findLink(inside, INTERFACE)?.index;
    return listAddresses(inside)
      .filter((found) => found.link === link)
      .map(({ address }) => address.toString());
  });
}

interface Ends {
  readonly namespace: string;
  readonly link: string;
  readonly hostMac: string;
  readonly podMac: string;
}

/** All names follow from the UID, so that whoever comes next finds them without being told. */
function endsOf(uid: string): Ends {
  if (!UID.test(uid)) throw new Error(`"${uid}" cannot be the UID of a pod: letters, digits and "-" only`);
  const hash = createHash('sha256').update(uid).digest('hex');
  // The second lowest bit of the first byte says: given locally; the lowest one would be multicast.
  const macOf = (from: number): string =>
    `02:${[0, 2, 4, 6, 8].map((at) => hash.slice(from + at, from + at + 2)).join(':')}`;
  return {
    namespace: `${NAMESPACE_PREFIX}${uid}`,
    link: `nl${hash.slice(0, 13)}`,
    hostMac: macOf(16),
    podMac: macOf(32),
  };
}

const routeText = ({ destination, via }: Route): string => `${destination} via ${via}`;

const families: readonly Family[] = [4, 6];
const NAMESPACE_PREFIX = 'netloom-pod-';
const INTERFACE = 'eth0';
const TABLE = 'netloom-pods';
const UID = /^[A-Za-z0-9][A-Za-z0-9-]{0,99}$/;
const ETHERNET_MTU = 1500;
/** Of a veth; the loopback interface has one more. */
const LARGEST_MTU = 65_535;
/** Tells routes to other hosts' pods from all others, so that these are never removed. */
const METRIC = 10_244;

const parsed = (address: string): Address => Address.parse(address) as Address;
const way = {
  4: { gateway: parsed('169.254.1.1'), anywhere: new Prefix(parsed('0.0.0.0'), 0) },
  6: { gateway: parsed('fe80::1'), anywhere: new Prefix(parsed('::'), 0) },
} as const;
