import { attribute, nested, readAttributes, readU32, text, u32 } from './netlink/attributes.ts';
import type { Netlink } from './netlink/connection.ts';
import { flag, type Message, type Request } from './netlink/message.ts';

/** Where a program sees the frames of a link: those that come in, or those that go out. */
export interface FilterPlace {
  readonly link: number;
  readonly direction: 'in' | 'out';
  /** Tells several in one place apart; each is asked in turn, the lowest first. */
  readonly number: number;
}

export interface Filter extends FilterPlace {
  /** The descriptor of the program. */
  readonly program: number;
  /** What people read in lists. */
  readonly name: string;
}

/** Puts programs in place; one that has the number of another replaces it, without a frame passing by. */
export function attachPrograms(netlink: Netlink, filters: readonly Filter[]): void {
  const links = [...new Set(filters.map(({ link }) => link))];
  const answers = netlink.requestAll([...links.map(entries), ...filters.map(attachment)]);
  const refusal = answers.find((answer, i) => answer !== undefined && !(i < links.length && answer.code === 'EEXIST'));
  if (refusal !== undefined) throw refusal;
}

/** Nothing happens when it is not there. */
export function detachProgram(netlink: Netlink, place: FilterPlace): void {
  const [refusal] = netlink.requestAll([
    {
      doing: 'take a program away from a link',
      type: DELETE,
      flags: 0,
      body: [header(place), attribute(KIND, text('bpf'))],
    },
  ]);
  if (refusal !== undefined && !['ENOENT', 'EINVAL', 'ENODEV'].includes(refusal.code)) throw refusal;
}

/** The number by which the kernel knows the program that is in this place. */
export function attachedProgram(netlink: Netlink, place: FilterPlace): number | undefined {
  return netlink
    .dump({ doing: 'list the programs of a link', type: GET, body: [header({ ...place, number: 0 })] })
    .filter((message) => message.body.readUInt32LE(HANDLE) === place.number)
    .map(programOf)
    .find((program) => program !== undefined);
}

/** What a link needs once, before programs can be put there. */
const entries = (link: number): Request => ({
  doing: 'let programs see the frames of a link',
  type: NEW_DISCIPLINE,
  flags: flag.create | flag.exclusive,
  body: [tcMessage({ link, parent: CLSACT, handle: CLSACT_HANDLE }), attribute(KIND, text('clsact'))],
});

const attachment = (filter: Filter): Request => ({
  doing: `let the program ${filter.name} see the frames of a link`,
  type: NEW,
  flags: flag.create,
  body: [
    header(filter),
    attribute(KIND, text('bpf')),
    nested(
      OPTIONS,
      attribute(PROGRAM, u32(filter.program)),
      attribute(PROGRAM_NAME, text(filter.name)),
      attribute(PROGRAM_FLAGS, u32(DIRECT_ACTION)),
    ),
  ],
});

function programOf({ body }: Message): number | undefined {
  const options = readAttributes(body.subarray(HEADER)).get(OPTIONS);
  return options === undefined ? undefined : readU32(readAttributes(options).get(PROGRAM_ID));
}

const header = ({ link, direction, number }: FilterPlace): Buffer =>
  tcMessage({ link, parent: PARENT[direction], handle: number, priority: number });

/** struct tcmsg; all protocols are meant. */
export function tcMessage({ link, parent = 0, handle = 0, priority = 0 }: TcMessage): Buffer {
  const bytes = Buffer.alloc(HEADER);
  bytes.writeInt32LE(link, 4);
  bytes.writeUInt32LE(handle, HANDLE);
  bytes.writeUInt32LE(parent, 12);
  if (priority > 0) {
    bytes.writeUInt16BE(EVERY_PROTOCOL, 16);
    bytes.writeUInt16LE(priority, 18);
  }
  return bytes;
}

interface TcMessage {
  readonly link: number;
  readonly parent?: number;
  readonly handle?: number;
  readonly priority?: number;
}

const NEW_DISCIPLINE = 36;
const NEW = 44;
const DELETE = 45;
const GET = 46;
const HEADER = 20;
const HANDLE = 8;
const CLSACT = 0xffff_fff1;
const CLSACT_HANDLE = 0xffff_0000;
const PARENT = { in: 0xffff_fff2, out: 0xffff_fff3 } as const;
const EVERY_PROTOCOL = 3;
const KIND = 1;
const OPTIONS = 2;
const PROGRAM = 6;
const PROGRAM_NAME = 7;
const PROGRAM_FLAGS = 8;
const PROGRAM_ID = 11;
const DIRECT_ACTION = 1;
