import { closeDescriptor, mapOfProgram, readFromMap } from './bpf/calls.ts';
import { LoadedObject } from './bpf/loaded-object.ts';
import { attachedProgram, attachPrograms, detachProgram } from './filters.ts';
import type { Netlink } from './netlink/connection.ts';

/** What happens to frames at a port of a switch, or at the end of a cable that is made of two links. */
export interface PortRules {
  /** The link of the port. */
  readonly link: number;
  /** What part of the frames gets lost, in each direction: 0.01 is one in a hundred. */
  readonly loss: number;
  /** Without it, frames pass as they are. */
  readonly vlans?: PortVlans | undefined;
  /** The other end of a cable: all that comes in goes out there. */
  readonly wire?: number | undefined;
}

export interface PortVlans {
  /** In which VLAN frames are that have no tag here. Those of the native one have none inside the switch either. */
  readonly untagged: number | 'native' | 'none';
  readonly tagged: readonly number[];
}

export interface PortCounts {
  /** Frames lost on purpose. */
  readonly lost: number;
  /** Frames of VLANs that do not pass here. */
  readonly refused: number;
}

/** From now on these rules hold at these ports; what was counted there begins anew. */
export function setPortRules(netlink: Netlink, ports: readonly PortRules[]): void {
  if (ports.length === 0) return;
  using object = LoadedObject.open('ethernet');
  for (const port of ports) object.put('ports', key(port.link), value(port));
  attachPrograms(
    netlink,
    ports.flatMap(({ link }) => [
      { link, direction: 'in' as const, number: NUMBER, program: object.program('port_in'), name: 'port in' },
      { link, direction: 'out' as const, number: NUMBER, program: object.program('port_out'), name: 'port out' },
    ]),
  );
}

/** Frames pass as they are. */
export function removePortRules(netlink: Netlink, link: number): void {
  for (const direction of ['in', 'out'] as const) detachProgram(netlink, { link, direction, number: NUMBER });
}

/** Undefined where no rules have been set. */
export function countsOfPort(netlink: Netlink, link: number): PortCounts | undefined {
  const program = attachedProgram(netlink, { link, direction: 'in', number: NUMBER });
  const map = program === undefined ? undefined : mapOfProgram(program, 'ports');
  if (map === undefined) return undefined;
  try {
    const bytes = Buffer.alloc(SIZE);
    if (!readFromMap(map, key(link), bytes)) return undefined;
    return { lost: Number(bytes.readBigUInt64LE(0)), refused: Number(bytes.readBigUInt64LE(8)) };
  } finally {
    closeDescriptor(map);
  }
}

function key(link: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(link);
  return bytes;
}

/** struct port of bpf/ethernet.bpf.c */
function value({ loss, vlans, wire = 0 }: PortRules): Buffer {
  const bytes = Buffer.alloc(SIZE);
  bytes.writeUInt32LE(Math.min(Math.round(loss * 2 ** 32), 0xffff_ffff), 16);
  bytes.writeUInt32LE(wire, 20);
  if (vlans === undefined) return bytes;
  bytes.writeUInt16LE(1, 24);
  bytes.writeUInt16LE(vlans.untagged === 'native' ? 0 : vlans.untagged === 'none' ? 0xffff : vlans.untagged, 26);
  for (const vlan of vlans.tagged) {
    const at = TAGGED + (vlan >> 3);
    bytes.writeUInt8(bytes.readUInt8(at) | (1 << (vlan & 7)), at);
  }
  return bytes;
}

const NUMBER = 1;
const TAGGED = 28;
/** The numbers, 4096 bits, and what makes it a multiple of eight. */
const SIZE = 544;
