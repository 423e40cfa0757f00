import type { Address } from '../api/address.ts';
import { KernelError } from './kernel.ts';
import {
  type Attributes,
  addressBytes,
  attribute,
  mac as macBytes,
  nested,
  readAttributes,
  readMac,
  readText,
  readU32,
  text,
  u8,
  u16,
  u16be,
  u32,
} from './netlink/attributes.ts';
import type { Netlink } from './netlink/connection.ts';
import { flag, type Message, type Request } from './netlink/message.ts';

/** A network interface, as the kernel has it. */
export interface Link {
  readonly index: number;
  readonly name: string;
  /** `veth`, `bridge`, …; nothing for real hardware and `lo`. */
  readonly kind: string | undefined;
  readonly up: boolean;
  /** Whether frames can pass: it is up, and so is what is at its other end. */
  readonly carrier: boolean;
  readonly mtu: number;
  readonly mac: string | undefined;
  readonly master: number | undefined;
  readonly alias: string | undefined;
  /** A number by which rules may speak of many; 0 unless somebody says otherwise. */
  readonly group: number;
  /** The index of its other end, or of the link that it is made upon; that one may be in another namespace. */
  readonly other: number | undefined;
  readonly otherIsElsewhere: boolean;
}

export interface NewLink {
  readonly name: string;
  readonly kind: LinkKind;
  readonly mtu?: number;
  readonly mac?: string;
}

export type LinkKind =
  | { readonly is: 'veth'; readonly peer: VethPeer }
  | { readonly is: 'bridge'; readonly multicastSnooping?: boolean }
  | { readonly is: 'macvlan'; readonly parent: number; readonly mode: keyof typeof macvlanMode }
  | {
      readonly is: 'vxlan';
      readonly id: number;
      readonly port?: number;
      readonly local?: Address;
      readonly parent?: number;
      readonly learning?: boolean;
    }
  | { readonly is: 'vlan'; readonly parent: number; readonly id: number };

export interface VethPeer {
  readonly name: string;
  readonly mtu?: number;
  readonly mac?: string;
  /** A descriptor of the namespace that it is made in; here when left out. */
  readonly namespace?: number;
}

export interface LinkChange {
  readonly up?: boolean;
  readonly mtu?: number;
  readonly mac?: string;
  /** The index of a bridge; 0 for none. */
  readonly master?: number;
  /** What people read beside its name, up to 255 bytes. */
  readonly alias?: string;
  readonly group?: number;
  readonly name?: string;
  /** A descriptor of the namespace to move it to, where it arrives down. */
  readonly namespace?: number;
  /** Whether the kernel gives it an IPv6 address of its own (`fe80::…`) when it comes up. */
  readonly ownIpv6Address?: boolean;
}

export function listLinks(netlink: Netlink): Link[] {
  return netlink.dump({ doing: 'list links', type: GET, body: [header()] }).map(readLink);
}

export function findLink(netlink: Netlink, name: string): Link | undefined {
  try {
    return readLink(
      netlink.get({ doing: `look for the link ${name}`, type: GET, body: [header(), attribute(NAME, text(name))] }),
    );
  } catch (error) {
    if (error instanceof KernelError && error.code === 'ENODEV') return undefined;
    throw error;
  }
}

export function requireLink(netlink: Netlink, name: string): Link {
  const link = findLink(netlink, name);
  if (link === undefined) throw new Error(`there is no link ${name} here`);
  return link;
}

/**
 * Makes a link, or finds one of this name and kind, and changes it; one of another kind is somebody else's and is left alone. Both
 * ends of a veth pair are made at once, each where it belongs.
 */
export function addLink(netlink: Netlink, link: NewLink, change: Omit<LinkChange, 'name' | 'namespace'> = {}): Link {
  const { name } = link;
  const [refusal] = netlink.requestAll([
    {
      doing: `make the ${link.kind.is} ${name}`,
      type: NEW,
      flags: flag.create | flag.exclusive,
      body: [
        header(),
        ...attributesOf(link),
        ...parentOf(link.kind),
        nested(LINK_INFO, attribute(KIND, text(link.kind.is)), nested(KIND_DATA, ...kindData(link.kind))),
      ],
    },
  ]);
  const there = refusal === undefined || refusal.code === 'EEXIST' ? findLink(netlink, name) : undefined;
  // The name that is taken may also be that of the other end of a pair.
  if (there === undefined) throw refusal ?? new Error(`the link ${name} went away while it was being made`);
  if (there.kind !== link.kind.is) {
    throw new Error(
      `cannot make the ${link.kind.is} ${name}: there is another link of that name, ${there.kind ?? 'hardware'}`,
    );
  }
  // Some of what there is to say about a link can only be said when it exists.
  if (Object.keys(change).length === 0) return there;
  netlink.request(changeRequest(name, change));
  return requireLink(netlink, name);
}

export function changeLink(netlink: Netlink, link: string | number, change: LinkChange): void {
  // A name in a request says which link is meant, so a new one takes its index.
  const which = typeof link === 'string' && change.name !== undefined ? requireLink(netlink, link).index : link;
  netlink.request(changeRequest(which, change));
}

/** Nothing happens when it is not there. The other end of a veth pair goes with it. */
export function deleteLink(netlink: Netlink, name: string): void {
  const [refusal] = netlink.requestAll([
    { doing: `delete the link ${name}`, type: DELETE, flags: 0, body: [header(), attribute(NAME, text(name))] },
  ]);
  if (refusal !== undefined && refusal.code !== 'ENODEV') throw refusal;
}

function changeRequest(link: string | number, change: LinkChange): Request {
  const { up, mtu, mac, master, alias, group, name, namespace, ownIpv6Address } = change;
  const body = [header({ up, index: typeof link === 'number' ? link : 0 })];
  if (typeof link === 'string') body.push(attribute(NAME, text(link)));
  if (name !== undefined) body.push(attribute(NAME, text(name)));
  if (mtu !== undefined) body.push(attribute(MTU, u32(mtu)));
  if (mac !== undefined) body.push(attribute(MAC, macBytes(mac)));
  if (master !== undefined) body.push(attribute(MASTER, u32(master)));
  if (alias !== undefined) body.push(attribute(ALIAS, Buffer.from(alias)));
  if (group !== undefined) body.push(attribute(GROUP, u32(group)));
  if (namespace !== undefined) body.push(attribute(NAMESPACE, u32(namespace)));
  if (ownIpv6Address !== undefined) {
    body.push(nested(AF_SPEC, nested(AF_INET6, attribute(ADDRESS_MODE, u8(ownIpv6Address ? 0 : 1)))));
  }
  return { doing: `change the link ${link}`, type: NEW, flags: 0, body };
}

function attributesOf({ name, mtu, mac }: Pick<NewLink, 'name' | 'mtu' | 'mac'>): Buffer[] {
  return [
    attribute(NAME, text(name)),
    ...(mtu === undefined ? [] : [attribute(MTU, u32(mtu))]),
    ...(mac === undefined ? [] : [attribute(MAC, macBytes(mac))]),
  ];
}

const parentOf = (kind: LinkKind): Buffer[] =>
  'parent' in kind && kind.parent !== undefined ? [attribute(PARENT, u32(kind.parent))] : [];

/** What only links of this kind have. */
function kindData(kind: LinkKind): Buffer[] {
  switch (kind.is) {
    case 'veth': {
      const { peer } = kind;
      const place = peer.namespace === undefined ? [] : [attribute(NAMESPACE, u32(peer.namespace))];
      return [nested(VETH_PEER, header(), ...attributesOf(peer), ...place)];
    }
    case 'bridge':
      return kind.multicastSnooping === undefined
        ? []
        : [attribute(BRIDGE_MULTICAST_SNOOPING, u8(kind.multicastSnooping ? 1 : 0))];
    case 'macvlan':
      return [attribute(MACVLAN_MODE, u32(macvlanMode[kind.mode]))];
    case 'vlan':
      return [attribute(VLAN_ID, u16(kind.id))];
    case 'vxlan':
      return [
        attribute(VXLAN_ID, u32(kind.id)),
        attribute(VXLAN_PORT, u16be(kind.port ?? 4789)),
        attribute(VXLAN_LEARNING, u8(kind.learning === false ? 0 : 1)),
        ...(kind.local === undefined
          ? []
          : [attribute(kind.local.family === 4 ? VXLAN_LOCAL : VXLAN_LOCAL6, addressBytes(kind.local))]),
      ];
  }
}

/** struct ifinfomsg */
function header({ index = 0, up }: { index?: number; up?: boolean | undefined } = {}): Buffer {
  const bytes = Buffer.alloc(16);
  bytes.writeInt32LE(index, 4);
  if (up !== undefined) {
    bytes.writeUInt32LE(up ? UP : 0, 8);
    bytes.writeUInt32LE(UP, 12);
  }
  return bytes;
}

function readLink({ body }: Message): Link {
  const has = readAttributes(body.subarray(16));
  const flags = body.readUInt32LE(8);
  return {
    index: body.readInt32LE(4),
    name: readText(has.get(NAME)) ?? '',
    kind: kindOf(has),
    up: (flags & UP) !== 0,
    carrier: (flags & LOWER_UP) !== 0,
    mtu: readU32(has.get(MTU)) ?? 0,
    mac: readMac(has.get(MAC)),
    master: readU32(has.get(MASTER)),
    alias: readText(has.get(ALIAS)),
    group: readU32(has.get(GROUP)) ?? 0,
    other: readU32(has.get(PARENT)),
    otherIsElsewhere: has.has(OTHER_NAMESPACE),
  };
}

function kindOf(has: Attributes): string | undefined {
  const info = has.get(LINK_INFO);
  return info === undefined ? undefined : readText(readAttributes(info).get(KIND));
}

const macvlanMode = { private: 1, vepa: 2, bridge: 4, passthru: 8 } as const;

const NEW = 16;
const DELETE = 17;
const GET = 18;
const UP = 0x1;
const LOWER_UP = 0x1_0000;
const AF_INET6 = 10;

const MAC = 1;
const NAME = 3;
const MTU = 4;
const PARENT = 5;
const MASTER = 10;
const LINK_INFO = 18;
const ALIAS = 20;
const AF_SPEC = 26;
const GROUP = 27;
const NAMESPACE = 28;
const OTHER_NAMESPACE = 37;
const KIND = 1;
const KIND_DATA = 2;
const VETH_PEER = 1;
const MACVLAN_MODE = 1;
const VLAN_ID = 1;
const BRIDGE_MULTICAST_SNOOPING = 23;
const VXLAN_ID = 1;
const VXLAN_LOCAL = 4;
const VXLAN_LEARNING = 7;
const VXLAN_PORT = 15;
const VXLAN_LOCAL6 = 17;
const ADDRESS_MODE = 8;
