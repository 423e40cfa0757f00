import { Address } from '../../api/address.ts';
import type { Prefix } from '../../api/prefix.ts';
import type { LabDocument, Quality, WrittenHost } from '../document/lab-document.ts';
import { MANAGEMENT_LINK } from '../document/names.ts';
import type { Complain, Fault } from '../document/written.ts';
import { Addressing } from './addressing.ts';
import { type End, endsOf } from './ends.ts';
import { hardwareAddress, hostNamespace, labNamespace, managementBridge, managementPort } from './kernel-names.ts';
import type { LabPlan, PlannedHost } from './lab-plan.ts';
import { USUAL_MTU } from './plan-port.ts';

/**
 * Decides about everything that a document leaves open, and finds what in it does not fit together.
 * @param management the network over which hosts reach the API: the document's, if it says one
 */
export function planLab(document: LabDocument, management: Prefix): { plan: LabPlan } | { faults: readonly Fault[] } {
  const faults: Fault[] = [];
  const complain: Complain = (at, sentence) => void faults.push({ ...at, sentence });
  const ends = endsOf(document, complain);
  const addresses = addressesOf(ends, complain);
  for (const host of document.hosts) {
    checkNetworks(
      ends.filter((end) => end.host === host.name),
      management,
      complain,
    );
  }
  const out = new Addressing(management);
  const own = Address.of(management.family, management.first.value + 1n);
  out.take(own, document.name);
  const homeless: WrittenHost[] = [];
  const hosts = document.hosts.map((host, place): PlannedHost => {
    const address = out.give(place, host.name);
    if (address === undefined) homeless.push(host);
    return plannedHost(document.name, host, {
      management: address === undefined ? '' : out.text(address),
      ends: ends.filter((end) => end.host === host.name),
      addresses,
    });
  });
  if (homeless[0] !== undefined) {
    complain(
      homeless[0].at,
      `${management}, the management network, has addresses for ${hosts.length - homeless.length} hosts, and there are ${hosts.length}: say a larger one, such as management: 10.99.0.0/20`,
    );
  }
  if (faults.length > 0) return { faults };
  return {
    plan: {
      name: document.name,
      management: {
        subnet: `${management}`,
        bridge: managementBridge(document.name),
        mac: hardwareAddress(document.name, '', MANAGEMENT_LINK),
        address: out.text(own),
      },
      namespace: labNamespace(document.name),
      switches: document.switches.map(({ name, subnets, vlans, mtu }) => ({
        name,
        subnets: subnets.map(String),
        ...(vlans === undefined ? {} : { vlans: vlans.map(({ id }) => id) }),
        mtu: mtu ?? USUAL_MTU,
      })),
      hosts,
    },
  };
}

/** The addresses that somebody has written go first, wherever they stand: the others make room. */
function addressesOf(ends: readonly End[], complain: Complain): ReadonlyMap<End, readonly string[]> {
  const addresses = new Map<End, readonly string[]>();
  for (const end of ends) {
    if (typeof end.wants === 'string') continue;
    const found: string[] = [];
    for (const written of end.wants) {
      const taken = end.segment.takeWritten(written, end.host);
      if ('fault' in taken) complain(written.at, taken.fault);
      else found.push(taken.address);
    }
    addresses.set(end, found);
  }
  for (const end of ends) {
    if (end.wants !== 'automatic') continue;
    const given = end.segment.give(end.place, end.host);
    if ('fault' in given) complain(end.at, given.fault);
    else addresses.set(end, given.addresses);
  }
  return addresses;
}

/** A host would not know which of two interfaces leads to an address that is in the networks of both. */
function checkNetworks(ends: readonly End[], management: Prefix, complain: Complain): void {
  const seen: { subnet: Prefix; words: string }[] = [{ subnet: management, words: 'the management network' }];
  for (const { segment, host, link, at, wants } of ends) {
    // A cable that has no address leads nowhere by itself, such as one of a bond.
    if (wants === 'none') continue;
    for (const { subnet } of segment.networks) {
      const other = seen.find((each) => each.subnet.overlaps(subnet));
      if (other !== undefined) {
        complain(
          at,
          `${host} cannot have ${subnet} of ${segment.name} on ${link}: it overlaps ${other.subnet}, ${other.words}`,
        );
      }
      seen.push({ subnet, words: `which it has on ${link}` });
    }
  }
}

function plannedHost(
  lab: string,
  { name, labels, taints, resources, agent }: WrittenHost,
  has: { management: string; ends: readonly End[]; addresses: ReadonlyMap<End, readonly string[]> },
): PlannedHost {
  const links = has.ends.map((end) => ({
    name: end.link,
    mac: hardwareAddress(lab, name, end.link),
    mtu: end.mtu,
    addresses: has.addresses.get(end) ?? [],
    port: end.port,
    to: end.to,
    ...definedOnly(end.quality),
  }));
  const [first] = links.flatMap(({ addresses }) => addresses);
  return {
    name,
    namespace: hostNamespace(lab, name),
    management: {
      port: managementPort(lab, name),
      mac: hardwareAddress(lab, name, MANAGEMENT_LINK),
      address: has.management,
    },
    links,
    labels,
    taints,
    resources,
    agent,
    ...(first === undefined ? {} : { underlay: first.split('/', 1)[0] ?? first }),
  };
}

/** As it is after it was written as JSON and read again: a plan is compared with the one that was kept. */
const definedOnly = ({ bitsPerSecond, loss, delayMs }: Quality): Quality => ({
  ...(bitsPerSecond === undefined ? {} : { bitsPerSecond }),
  loss,
  ...(delayMs === undefined ? {} : { delayMs }),
});
