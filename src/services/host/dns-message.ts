import { Address } from '../../api/address.ts';

/** The part of the DNS message format that a resolver for Services needs (RFC 1035, 2782, 3596, 6891). */
export const TYPES = { A: 1, NS: 2, CNAME: 5, SOA: 6, PTR: 12, TXT: 16, AAAA: 28, SRV: 33, ANY: 255 } as const;

export const CODES = {
  noError: 0,
  formatError: 1,
  serverFailure: 2,
  noSuchName: 3,
  notImplemented: 4,
  refused: 5,
  /** More than the header has room for: the rest of it stands in what says that we speak EDNS. */
  badVersion: 16,
} as const;

export interface Question {
  readonly id: number;
  /** In lower case, without the last dot. */
  readonly name: string;
  readonly type: number;
  readonly class: number;
  readonly recursionDesired: boolean;
  /** The longest answer that the client takes over UDP. */
  readonly largestAnswer: number;
  /** Whether it speaks EDNS, and wants to hear that we do. */
  readonly isExtended: boolean;
  /** Of EDNS. There is only 0 so far. */
  readonly version: number;
  /** The question section as it came: clients compare it, letter case and all. */
  readonly section: Buffer;
  readonly opcode: number;
}

export type DnsRecord = { readonly name: string; readonly ttl: number } & (
  | { readonly type: 'A' | 'AAAA'; readonly address: string }
  | { readonly type: 'CNAME' | 'PTR'; readonly target: string }
  | {
      readonly type: 'SRV';
      readonly priority: number;
      readonly weight: number;
      readonly port: number;
      readonly target: string;
    }
  | { readonly type: 'SOA'; readonly primary: string; readonly minimum: number }
);

export interface Reply {
  readonly code: number;
  readonly answers: readonly DnsRecord[];
  /** What stands beside an answer that is empty: for how long there will be none. */
  readonly authority?: DnsRecord;
  readonly additional?: readonly DnsRecord[];
}

/** Undefined for what is no query with one question; nothing is answered to that. */
export function parseQuestion(message: Buffer): Question | undefined {
  if (message.length < 17 || message.length > 4096) return undefined;
  const flags = message.readUInt16BE(2);
  if ((flags & 0x8000) !== 0 || message.readUInt16BE(4) !== 1) return undefined;
  const labels: string[] = [];
  let at = 12;
  for (;;) {
    const length = message[at];
    // A question comes first, so it cannot point to a name before it.
    if (length === undefined || length > 63 || at + 1 + length > message.length) return undefined;
    at += 1;
    if (length === 0) break;
    labels.push(message.toString('latin1', at, at + length).toLowerCase());
    at += length;
    if (at > 12 + 255) return undefined;
  }
  if (at + 4 > message.length) return undefined;
  return {
    id: message.readUInt16BE(0),
    name: labels.join('.'),
    type: message.readUInt16BE(at),
    class: message.readUInt16BE(at + 2),
    recursionDesired: (flags & 0x0100) !== 0,
    opcode: (flags >> 11) & 0xf,
    ...extensions(message, at + 4),
    section: message.subarray(12, at + 4),
  };
}

/** What EDNS allows, within bounds; 512 without it. */
function extensions(message: Buffer, at: number): Pick<Question, 'largestAnswer' | 'isExtended' | 'version'> {
  const isPlain = message.readUInt16BE(6) === 0 && message.readUInt16BE(8) === 0 && message.readUInt16BE(10) === 1;
  if (!isPlain || at + 11 > message.length || message[at] !== 0 || message.readUInt16BE(at + 1) !== 41) {
    return { largestAnswer: 512, isExtended: false, version: 0 };
  }
  const largestAnswer = Math.min(Math.max(message.readUInt16BE(at + 3), 512), LARGEST);
  return { largestAnswer, isExtended: true, version: message.readUInt8(at + 6) };
}

/** What passes everywhere in one piece. */
const LARGEST = 1232;

/** We speak EDNS, have no options, and take packets of this size. */
const extensionsWith = (code: number): Buffer =>
  Buffer.from([0, 0, 41, LARGEST >> 8, LARGEST & 0xff, code >> 4, 0, 0, 0, 0, 0]);

/**
 * Of an answer that does not fit, as much as does, marked so that the client asks again over TCP: some never do, and are content with
 * a part. However much there is to tell, no more is written than is sent.
 */
export function encodeReply(question: Question, reply: Reply, limit: number): Buffer {
  const { section, isExtended, recursionDesired } = question;
  const sections = [reply.answers, reply.authority === undefined ? [] : [reply.authority], reply.additional ?? []];
  const counts = [0, 0, 0];
  const parts: Buffer[] = [];
  const extensions = isExtended ? extensionsWith(reply.code) : Buffer.alloc(0);
  let left = limit - 12 - section.length - extensions.length;
  let isCut = false;
  for (const [i, records] of sections.entries()) {
    for (const record of records) {
      const bytes = encodeRecord(record, question);
      left -= bytes.length;
      // What stands beside the answer may be missing.
      isCut = left < 0 && i < 2;
      if (left < 0) break;
      parts.push(bytes);
      counts[i] = (counts[i] ?? 0) + 1;
    }
    if (left < 0) break;
  }
  if (isExtended) {
    parts.push(extensions);
    counts[2] = (counts[2] ?? 0) + 1;
  }
  const header = Buffer.alloc(12);
  header.writeUInt16BE(question.id, 0);
  const recursion = recursionDesired ? 0x0100 : 0;
  header.writeUInt16BE(0x8000 | 0x0400 | (isCut ? 0x0200 : 0) | recursion | 0x0080 | (reply.code & 0xf), 2);
  header.writeUInt16BE(1, 4);
  for (const [i, count] of counts.entries()) header.writeUInt16BE(count, 6 + 2 * i);
  return Buffer.concat([header, section, ...parts]);
}

function encodeRecord(record: DnsRecord, question: Question): Buffer {
  const data = dataOf(record);
  const head = Buffer.alloc(10);
  head.writeUInt16BE(TYPES[record.type], 0);
  head.writeUInt16BE(1, 2);
  head.writeUInt32BE(record.ttl, 4);
  head.writeUInt16BE(data.length, 8);
  // The name of the question is the one name that is worth pointing to.
  const name = record.name === question.name ? Buffer.from([0xc0, 12]) : encodeName(record.name);
  return Buffer.concat([name, head, data]);
}

function dataOf(record: DnsRecord): Buffer {
  switch (record.type) {
    case 'A':
    case 'AAAA':
      return encodeAddress(record.address);
    case 'CNAME':
    case 'PTR':
      return encodeName(record.target);
    case 'SRV': {
      const numbers = Buffer.alloc(6);
      numbers.writeUInt16BE(record.priority, 0);
      numbers.writeUInt16BE(record.weight, 2);
      numbers.writeUInt16BE(record.port, 4);
      return Buffer.concat([numbers, encodeName(record.target)]);
    }
    case 'SOA': {
      const numbers = Buffer.alloc(20);
      for (const [i, value] of [1, 7200, 1800, 86_400, record.minimum].entries()) numbers.writeUInt32BE(value, 4 * i);
      return Buffer.concat([encodeName(record.primary), encodeName(`hostmaster.${record.name}`), numbers]);
    }
  }
}

function encodeAddress(text: string): Buffer {
  const address = Address.parse(text);
  if (address === undefined) throw new Error(`${text} is not an address`);
  const digits = address.value.toString(16).padStart(address.family === 4 ? 8 : 32, '0');
  return Buffer.from(digits, 'hex');
}

export function encodeName(name: string): Buffer {
  const labels = name === '' ? [] : name.split('.');
  return Buffer.concat([
    ...labels.map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label, 'latin1')])),
    Buffer.from([0]),
  ]);
}
