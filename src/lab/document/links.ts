import { fieldsOf, oneOrMore, vlanNumber } from './fields.ts';
import type { WrittenAddress, WrittenLink } from './lab-document.ts';
import { linkNameFault } from './names.ts';
import { looksLikeAddress, readAddress } from './networks.ts';
import { qualityFields, readQuality } from './quality.ts';
import type { Field, WrittenValue } from './written.ts';

/**
 * `[rack]`, or by the names of the interfaces: `{ enp6s0: rack, eth1: { switch: rack, vlan: 20 } }`. An interface that says no
 * switch leads to the one of its own name.
 */
export function readLinks(value: WrittenValue | undefined): WrittenLink[] | undefined {
  if (value === undefined || value.isNothing) return undefined;
  const links = value.fields?.map(readLink) ?? value.items?.map((item) => plainLink(item, item.text ?? '', item));
  if (links === undefined) {
    value.fault(
      `${value.shown} are no links: write the switches, such as [rack], or interfaces, such as { enp6s0: rack }`,
    );
    return [];
  }
  const names = new Set<string>();
  for (const { name } of links) {
    if (names.has(name))
      value.fault(`the interface ${name} is there twice: give the second one a name, such as { ${name}-b: ${name} }`);
    names.add(name);
  }
  return links;
}

function readLink({ name, key, value }: Field): WrittenLink {
  if (value.isNothing || value.text !== undefined) return plainLink(key, name, value);
  const fields = fieldsOf(value, 'a link', ['switch', 'address', 'vlan', 'vlans', ...qualityFields]);
  const to = fields.get('switch');
  const vlan = fields.get('vlan');
  const vlans = fields.get('vlans');
  if (vlan !== undefined && vlans !== undefined) {
    vlan.fault('a port is in one VLAN without tags (vlan), or passes several with tags (vlans), not both');
  }
  checkName(key, name);
  return {
    name,
    to: to?.text ?? name,
    addresses: readAddresses(fields.get('address')),
    vlan: vlan === undefined ? undefined : vlanNumber(vlan),
    vlans: vlans === undefined ? undefined : oneOrMore(vlans).flatMap((item) => vlanNumber(item) ?? []),
    ...readQuality(fields),
    at: value.at,
  };
}

/** `rack`, `192.168.122.10/24`, or both: the switch, then addresses. */
function plainLink(key: WrittenValue, name: string, value: WrittenValue): WrittenLink {
  checkName(key, name);
  const words = value === key ? [] : (value.text ?? '').split(/\s+/).filter((word) => word !== '');
  const [to, ...others] = words.filter((word) => word !== NONE && !looksLikeAddress(word));
  for (const other of others) value.fault(`"${other}" is neither an address nor "none"; the switch is ${to} already`);
  const addresses = words.filter(looksLikeAddress).flatMap((word) => readAddress(value.part(word)) ?? []);
  return {
    name,
    to: to ?? name,
    addresses: words.includes(NONE) ? 'none' : addresses.length > 0 ? addresses : 'automatic',
    vlan: undefined,
    vlans: undefined,
    bitsPerSecond: undefined,
    loss: 0,
    delayMs: undefined,
    at: value.at,
  };
}

function checkName(key: WrittenValue, name: string): void {
  const fault = linkNameFault(name);
  if (fault !== undefined) key.fault(`"${name}" cannot be the name of an interface: it ${fault}`);
}

function readAddresses(value: WrittenValue | undefined): readonly WrittenAddress[] | 'automatic' | 'none' {
  if (value === undefined || value.isNothing) return 'automatic';
  if (value.text === NONE) return 'none';
  return oneOrMore(value).flatMap((item) => readAddress(item) ?? []);
}

const NONE = 'none';
