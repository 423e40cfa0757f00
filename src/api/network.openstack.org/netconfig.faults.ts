import { Address, addressFault } from '../address.ts';
import { Prefix } from '../prefix.ts';
import type { FieldError } from '../status.ts';
import type { NetConfigNetwork, NetConfigSpec, NetConfigSubnet } from './netconfig.ts';
import { folded } from './shapes.ts';

/** Everything that is wrong with a NetConfig by itself, in the order in which it is read. */
export function netConfigFaults({ networks }: NetConfigSpec): FieldError[] {
  const faults: FieldError[] = [];
  const names = new Seen('name', folded);
  const domains = new Seen('domain', folded);
  const cidrs = new Seen('CIDR', (text) => Prefix.parse(text)?.toString() ?? text);
  for (const [i, network] of networks.entries()) {
    const at = `spec.networks[${i}]`;
    faults.push(...nameFaults(network.name, `${at}.name`), ...names.faults(network.name, `${at}.name`));
    faults.push(...mtuFaults(network, at), ...domainFaults(network.dnsDomain, `${at}.dnsDomain`, domains));
    const subnetNames = new Seen('name', folded);
    const subnetDomains = new Seen('domain', folded);
    for (const [j, subnet] of network.subnets.entries()) {
      const path = `${at}.subnets[${j}]`;
      faults.push(...nameFaults(subnet.name, `${path}.name`), ...subnetNames.faults(subnet.name, `${path}.name`));
      faults.push(...domainFaults(subnet.dnsDomain, `${path}.dnsDomain`, subnetDomains));
      faults.push(...cidrs.faults(subnet.cidr, `${path}.cidr`), ...subnetFaults(subnet, path));
    }
  }
  return faults;
}

/** What is wrong with text that should be an address of a subnet; the family and the place are judged separately. */
export function memberFaults(text: string, prefix: Prefix, field: string): FieldError[] {
  const address = Address.parse(text);
  if (address === undefined) return [notAnAddress(text, field)];
  return [...familyFaults(text, address, prefix, field), ...placeFaults(text, address, prefix, field)];
}

/** What is wrong with a subnet, apart from what it shares with others. */
export function subnetFaults(subnet: NetConfigSubnet, at: string): FieldError[] {
  const faults: FieldError[] = [];
  if (subnet.vlan !== undefined && subnet.vlan < 0) {
    faults.push(invalid(`${at}.vlan`, subnet.vlan, 'a VLAN is a number from 0 to 4094'));
  }
  const prefix = Prefix.parse(subnet.cidr);
  if (prefix === undefined) return [...faults, notAPrefix(subnet.cidr, `${at}.cidr`)];
  if (subnet.gateway !== undefined) faults.push(...memberFaults(subnet.gateway, prefix, `${at}.gateway`));
  for (const [k, range] of subnet.allocationRanges.entries()) {
    faults.push(...rangeFaults(range, prefix, `${at}.allocationRanges[${k}]`));
  }
  for (const [k, excluded] of (subnet.excludeAddresses ?? []).entries()) {
    faults.push(...memberFaults(excluded, prefix, `${at}.excludeAddresses[${k}]`));
  }
  for (const [k, { destination, nexthop }] of (subnet.routes ?? []).entries()) {
    if (Prefix.parse(destination) === undefined) {
      faults.push(notAPrefix(destination, `${at}.routes[${k}].destination`));
    }
    faults.push(...memberFaults(nexthop, prefix, `${at}.routes[${k}].nexthop`));
  }
  return faults;
}

function rangeFaults(range: { start: string; end: string }, prefix: Prefix, at: string): FieldError[] {
  const first = Address.parse(range.start);
  const last = Address.parse(range.end);
  if (first === undefined || last === undefined) {
    return [
      ...(first === undefined ? [notAnAddress(range.start, `${at}.start`)] : []),
      ...(last === undefined ? [notAnAddress(range.end, `${at}.end`)] : []),
    ];
  }
  const faults: FieldError[] = [];
  if (first.family !== prefix.family || last.family !== prefix.family) {
    faults.push(invalid(at, `${range.start}-${range.end}`, cannotMix(prefix)));
  }
  faults.push(...placeFaults(range.start, first, prefix, `${at}.start`));
  faults.push(...placeFaults(range.end, last, prefix, `${at}.end`));
  if (first.family === last.family && first.value > last.value) {
    const detail = `start ${range.start} > end ${range.end}: a range begins with its lowest address`;
    faults.push(invalid(`${at}.start`, range.start, detail), invalid(`${at}.end`, range.end, detail));
  }
  return faults;
}

/** Names become parts of label keys and label values, which may be no longer. */
function nameFaults(name: string, field: string): FieldError[] {
  return name.length <= LONGEST_LABEL
    ? []
    : [invalid(field, name, `a name has at most ${LONGEST_LABEL} characters: it becomes part of labels`)];
}

function mtuFaults({ mtu }: NetConfigNetwork, at: string): FieldError[] {
  if (mtu >= SMALLEST_MTU && mtu <= LARGEST_MTU) return [];
  return [invalid(`${at}.mtu`, mtu, `an MTU is a number from ${SMALLEST_MTU} to ${LARGEST_MTU}`)];
}

function domainFaults(domain: string | undefined, field: string, seen: Seen): FieldError[] {
  if (domain === undefined) return [];
  if (domain.length > 253 || !DOMAIN.test(domain)) {
    return [invalid(field, domain, 'not a valid domain: it is made of labels like example.com')];
  }
  return seen.faults(domain, field);
}

/** Values of one sort that may occur only once, and where each was first seen. */
class Seen {
  readonly #sort: string;
  readonly #meaning: (text: string) => string;
  /** Value as it is compared → path of the field that has it. */
  readonly #first = new Map<string, string>();

  constructor(sort: string, meaning: (text: string) => string) {
    this.#sort = sort;
    this.#meaning = meaning;
  }

  faults(text: string, field: string): FieldError[] {
    const meaning = this.#meaning(text);
    const first = this.#first.get(meaning);
    if (first !== undefined) {
      return [invalid(field, text, `${this.#sort} "${text}" is already in use at ${first}, it must be unique`)];
    }
    this.#first.set(meaning, field);
    return [];
  }
}

const familyFaults = (text: string, address: Address, prefix: Prefix, field: string): FieldError[] =>
  address.family === prefix.family ? [] : [invalid(field, text, cannotMix(prefix))];

const placeFaults = (text: string, address: Address, prefix: Prefix, field: string): FieldError[] =>
  prefix.contains(address) ? [] : [invalid(field, text, `address is not in CIDR ${prefix}`)];

const notAnAddress = (text: string, field: string): FieldError =>
  invalid(field, text, `"${text}" ${addressFault(text)}`);

const notAPrefix = (text: string, field: string): FieldError =>
  invalid(field, text, `"${text}" is not an IP prefix: it is written like 192.168.0.0/24 or fd00::/64`);

const cannotMix = (prefix: Prefix): string => `cannot mix IPv4 and IPv6: the subnet is IPv${prefix.family} (${prefix})`;

const invalid = (field: string, value: unknown, detail: string): FieldError => ({
  type: 'Invalid',
  field,
  value,
  detail,
});

const DOMAIN = /^([a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?\.)+[a-zA-Z]{2,}$/;
const LONGEST_LABEL = 63;
/** What IPv4 must be able to carry, and what its length field can say. */
const SMALLEST_MTU = 68;
const LARGEST_MTU = 65_535;
