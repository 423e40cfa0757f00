import { LoadedObject } from './bpf/loaded-object.ts';
import { attachPrograms, detachProgram } from './filters.ts';
import { KernelError } from './kernel.ts';
import { addLink, changeLink, deleteLink, findLink, type Link, listLinks, requireLink } from './links.ts';
import type { Netlink } from './netlink/connection.ts';

export interface Vlan {
  /** Often `PARENT.ID`. */
  readonly name: string;
  readonly parent: string;
  readonly id: number;
}

/**
 * A link for one VLAN of another link: frames leave the parent with the tag, and those with the tag arrive here. Where the kernel has
 * no 802.1Q, a veth pair and two programs do the same, with real tags on the wire; the kernel then calls it a veth, its carrier
 * is its own, and children may be put on it as usual. Made if it is not there, repaired if it is.
 */
export function addVlan(netlink: Netlink, vlan: Vlan): Link {
  const parent = requireLink(netlink, vlan.parent);
  const there = findLink(netlink, vlan.name);
  if (there !== undefined && there.kind !== 'veth') return confirmed(there, parent, vlan);
  if (there === undefined) {
    try {
      return addLink(netlink, { name: vlan.name, kind: { is: 'vlan', parent: parent.index, id: vlan.id } });
    } catch (error) {
      if (!(error instanceof KernelError && error.code === 'EOPNOTSUPP')) throw error;
    }
  }
  return standIn(netlink, parent, vlan);
}

/** Nothing happens when it is not there. */
export function deleteVlan(netlink: Netlink, name: string): void {
  const link = findLink(netlink, name);
  const made = link === undefined ? undefined : standInOf(netlink, link);
  if (made !== undefined) detachProgram(netlink, untagging(made.parent, made.id));
  if (link?.kind === 'vlan' || made !== undefined) deleteLink(netlink, name);
}

/** Which VLAN of which link this one stands for, when it is a stand-in. */
export function standInOf(netlink: Netlink, { kind, other }: Link): { parent: number; id: number } | undefined {
  if (kind !== 'veth') return undefined;
  const inner = listLinks(netlink).find(({ index }) => index === other);
  const numbers = inner === undefined ? null : /^nlv(\d+)\.(\d+)$/.exec(inner.name);
  return numbers === null ? undefined : { parent: Number(numbers[1]), id: Number(numbers[2]) };
}

function confirmed(there: Link, parent: Link, { name, id }: Vlan): Link {
  if (there.kind === 'vlan' && there.other === parent.index) return there;
  throw new Error(
    `cannot make ${name} for VLAN ${id} of ${parent.name}: there is another link of that name, ${there.kind ?? 'hardware'}`,
  );
}

function standIn(netlink: Netlink, parent: Link, { name, id }: Vlan): Link {
  const inner = innerName(parent.index, id);
  const { mtu, mac } = parent;
  const own = mac === undefined ? {} : { mac };
  addLink(netlink, { name, kind: { is: 'veth', peer: { name: inner, mtu } }, mtu, ...own });
  const link = requireLink(netlink, name);
  const end = findLink(netlink, inner);
  if (end === undefined || end.index !== link.other) {
    throw new Error(`cannot make ${name} for VLAN ${id} of ${parent.name}: there is another link of that name, veth`);
  }
  using object = LoadedObject.open('ethernet');
  object.put('ways', words(end.index, 0), words(parent.index, id));
  object.put('ways', words(parent.index, id), words(end.index, 0));
  attachPrograms(netlink, [
    { link: end.index, direction: 'in', number: 1, program: object.program('tag'), name: `tag ${id}` },
    { ...untagging(parent.index, id), program: object.program('untag'), name: `untag ${id}` },
  ]);
  changeLink(netlink, inner, { up: true, ownIpv6Address: false });
  return link;
}

const innerName = (parent: number, id: number): string => `nlv${parent}.${id}`;
/** Behind what sees all frames of a link. */
const untagging = (parent: number, id: number) => ({ link: parent, direction: 'in', number: 0x4000 + id }) as const;

/** Two of them are a key or a value of the map `ways`: a link, and the VLAN of its frames. */
function words(...values: readonly [number, number]): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt32LE(values[0], 0);
  bytes.writeUInt32LE(values[1], 4);
  return bytes;
}
