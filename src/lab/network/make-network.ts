import { type Address, bitsOf } from '../../api/address.ts';
import { Prefix } from '../../api/prefix.ts';
import { addAddress } from '../../linux/addresses.ts';
import { setBridgeVlans } from '../../linux/bridge-vlans.ts';
import { changeLink, type Link } from '../../linux/links.ts';
import { putNeighbour } from '../../linux/neighbours.ts';
import { Netlink } from '../../linux/netlink/connection.ts';
import { inNetworkNamespace, withDescriptor } from '../../linux/network-namespace.ts';
import { type PortRules, removePortRules, setPortRules } from '../../linux/port-rules.ts';
import { OUR_ROUTES, putRoute } from '../../linux/routes.ts';
import { shapeLink } from '../../linux/shaping.ts';
import { MANAGEMENT_LINK } from '../document/names.ts';
import { hasCarrier, isManagementCut, type LabFaults } from '../faults.ts';
import { addressOf, besideInIpv6 } from '../plan/addressing.ts';
import type { LabPlan, PlannedHost, PlannedLink } from '../plan/lab-plan.ts';
import { makeHostNamespace } from './hosts.ts';
import { aliasOf, machineAddresses, makeManagementBridge } from './management.ts';
import { makePair } from './pair.ts';
import { type MadeSwitch, makeSwitches } from './switches.ts';

/**
 * Makes all that is missing of a lab's network, and leaves alone what is there: links of hosts that live, with or without a
 * carrier as the faults say. Whatever interrupts it, the next time finishes it.
 */
export function makeNetwork(plan: LabPlan, faults: LabFaults, { ipv6 = false }: { ipv6?: boolean } = {}): void {
  using machine = new Netlink();
  const bridge = makeManagementBridge(machine, plan, { ipv6 });
  const beyond = machineAddresses(machine, plan, { ipv6 });
  const { path, switches } = makeSwitches(plan);
  using among = inNetworkNamespace(path, () => new Netlink());
  const alive = plan.hosts.filter(({ name }) => !faults.dead.includes(name));
  const ports = withDescriptor(OWN_NAMESPACE, (outside) =>
    withDescriptor(path, (inside) =>
      alive.flatMap((host) => {
        const namespace = makeHostNamespace(host);
        using own = inNetworkNamespace(namespace, () => new Netlink());
        joinManagement(own, machine, {
          plan,
          host,
          bridge,
          beyond,
          outside,
          faults,
          ipv6,
        });
        return host.links.map((link) => ({ host, link, port: plug(own, among, { link, switches, inside }) }));
      }),
    ),
  );
  const rules = rulesOf(ports, switches);
  setPortRules(among, rules);
  for (const { port } of ports) if (!rules.some(({ link }) => link === port.index)) removePortRules(among, port.index);
  for (const { host, link, port } of ports) changeLink(among, port.index, { up: hasCarrier(faults, host.name, link) });
}

interface PluggedLink {
  readonly host: PlannedHost;
  readonly link: PlannedLink;
  readonly port: Link;
}

function joinManagement(
  own: Netlink,
  machine: Netlink,
  at: {
    plan: LabPlan;
    host: PlannedHost;
    bridge: Link;
    beyond: readonly Address[];
    outside: number;
    faults: LabFaults;
    ipv6: boolean;
  },
): void {
  const { management, name } = at.host;
  const { end, port } = makePair(own, machine, {
    link: { name: MANAGEMENT_LINK, mac: management.mac, mtu: 1500 },
    peer: { name: management.port, namespace: at.outside },
  });
  changeLink(machine, port.index, {
    alias: aliasOf(at.plan.name, `management of ${name}`),
    master: at.bridge.index,
    ownIpv6Address: false,
    up: !isManagementCut(at.faults, name),
  });
  addAddress(own, { link: end.index, ...addressOf(management.address) });
  if (at.ipv6) {
    const beside = addressOf(besideInIpv6(management.address));
    addAddress(own, { link: end.index, ...beside });
    // The bridge could not ask on behalf of pods: for that it would have to have an address that only the link knows.
    putNeighbour(machine, { link: at.bridge.index, address: beside.address, mac: management.mac });
  }
  changeLink(own, end.index, { up: true });
  // The machine answers there for all of its addresses, so its pods are behind any of them.
  for (const address of at.beyond) {
    const destination = new Prefix(address, bitsOf(address.family));
    putRoute(own, { destination, link: end.index, protocol: OUR_ROUTES });
    // For those of IPv6 it answers only on their own links. To be the next hop to pods they have to be on this one.
    if (address.family === 6) putNeighbour(own, { link: end.index, address, mac: at.plan.management.mac });
  }
}

/** Leaves the other end down, until there are rules for it. */
function plug(
  own: Netlink,
  among: Netlink,
  { link, switches, inside }: { link: PlannedLink; switches: ReadonlyMap<string, MadeSwitch>; inside: number },
): Link {
  const { name, mac, mtu, to } = link;
  const { end, port } = makePair(own, among, {
    link: { name, mac, mtu },
    peer: { name: link.port, namespace: inside },
  });
  if ('switch' in to) {
    const bridge = switches.get(to.switch);
    if (port.master !== bridge?.index) changeLink(among, port.index, { master: bridge?.index ?? 0 });
    if (bridge?.filtersVlans === true && to.vlans !== undefined) setBridgeVlans(among, port.index, to.vlans);
  }
  for (const text of link.addresses) addAddress(own, { link: end.index, ...addressOf(text) });
  // What a link holds back, it holds back in both directions.
  shapeLink(own, end.index, link);
  shapeLink(among, port.index, link);
  changeLink(own, end.index, { up: true });
  return port;
}

/** Only ports at which something is to be done have rules: the others cost nothing. */
function rulesOf(ports: readonly PluggedLink[], switches: ReadonlyMap<string, MadeSwitch>): PortRules[] {
  const indexes = new Map(ports.map(({ port }) => [port.name, port.index]));
  return ports.flatMap(({ link: { to, loss }, port }) => {
    const vlans = 'switch' in to && switches.get(to.switch)?.filtersVlans !== true ? to.vlans : undefined;
    const wire = 'port' in to ? indexes.get(to.port) : undefined;
    return loss > 0 || vlans !== undefined || wire !== undefined ? [{ link: port.index, loss, vlans, wire }] : [];
  });
}

const OWN_NAMESPACE = '/proc/thread-self/ns/net';
