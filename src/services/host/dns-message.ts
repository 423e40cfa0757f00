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
    largestAnswer: largestAnswer(message, at + 4),
    section: message.subarray(12, at + 4),
  };
}

/** What EDNS allows, within bounds; 512 without it. */
function largestAnswer(message: Buffer, at: number): number {
  const isPlain = message.readUInt16BE(6) === 0 && message.readUInt16BE(8) === 0 && message.readUInt16BE(10) === 1;
  if (!isPlain || at + 11 > message.length || message[at] !== 0 || message.readUInt16BE(at + 1) !== 41) return 512;
  return Math.min(Math.max(message.readUInt16BE(at + 3), 512), 1232);
}

/** An answer that does not fit is sent empty and marked, so that the client asks again over TCP. */
export function encodeReply(question: Question, reply: Reply, limit: number): Buffer {
  const sections = [reply.answers, reply.authority === undefined ? [] : [reply.authority], reply.additional ?? []];
  const whole = message(question, reply.code, sections, false);
  return whole.length <= limit ? whole : message(question, reply.code, [[], [], []], true);
}

function message(
  question: Question,
  code: number,
  sections: readonly (readonly DnsRecord[])[],
  isCut: boolean,
): Buffer {
  const header = Buffer.alloc(12);
  header.writeUInt16BE(question.id, 0);
  const recursion = question.recursionDesired ? 0x0100 : 0;
  header.writeUInt16BE(0x8000 | 0x0400 | (isCut ? 0x0200 : 0) | recursion | 0x0080 | code, 2);
  header.writeUInt16BE(1, 4);
  for (const [i, records] of sections.entries()) header.writeUInt16BE(records.length, 6 + 2 * i);
  return Buffer.concat([header, question.section, ...sections.flat().map((record) => encodeRecord(record, question))]);
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

function encodeName(name: string): Buffer {
  const labels = name === '' ? [] : name.split('.');
  return Buffer.concat([
    ...labels.map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label, 'latin1')])),
    Buffer.from([0]),
  ]);
}
