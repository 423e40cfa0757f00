import { Address } from '../../api/address.ts';
import { type DnsRecord, encodeName, TYPES } from './dns-message.ts';

/** What a name server elsewhere answered, as far as it leads to addresses. */
export interface Answers {
  readonly code: number;
  /** The rest is to be had over TCP. */
  readonly isCut: boolean;
  readonly records: readonly DnsRecord[];
}

export function questionFor(name: string, type: number): Buffer {
  const header = Buffer.from([0, 0, 0x01, 0x00, 0, 1, 0, 0, 0, 0, 0, 0]);
  return Buffer.concat([header, encodeName(name), Buffer.from([type >> 8, type & 0xff, 0, 1])]);
}

/** Undefined for what is no answer. The bytes come from elsewhere, so nothing in them is taken for granted. */
export function parseAnswers(message: Buffer): Answers | undefined {
  if (message.length < 12 || (message.readUInt16BE(2) & 0x8000) === 0) return undefined;
  const flags = message.readUInt16BE(2);
  const records: DnsRecord[] = [];
  let at: number | undefined = 12;
  for (let left = message.readUInt16BE(4); left > 0; left -= 1) {
    at = readName(message, at)?.end;
    if (at === undefined) return undefined;
    at += 4;
  }
  for (let left = message.readUInt16BE(6); left > 0; left -= 1) {
    const owner = readName(message, at);
    if (owner === undefined || owner.end + 10 > message.length) return undefined;
    const end: number = owner.end + 10 + message.readUInt16BE(owner.end + 8);
    if (end > message.length) return undefined;
    const [type, ttl] = [message.readUInt16BE(owner.end), message.readUInt32BE(owner.end + 4)];
    const record = readRecord(message, { name: owner.name, ttl }, type, { from: owner.end + 10, end });
    if (record !== undefined) records.push(record);
    at = end;
  }
  return { code: flags & 0xf, isCut: (flags & 0x0200) !== 0, records };
}

function readRecord(
  message: Buffer,
  about: { readonly name: string; readonly ttl: number },
  type: number,
  { from, end }: { readonly from: number; readonly end: number },
): DnsRecord | undefined {
  if (type === TYPES.CNAME) {
    const target = readName(message, from)?.name;
    return target === undefined ? undefined : { ...about, type: 'CNAME', target };
  }
  const digits = message.toString('hex', from, end);
  if (type === TYPES.A && digits.length === 8) {
    return { ...about, type: 'A', address: Address.of(4, BigInt(`0x${digits}`)).toString() };
  }
  if (type === TYPES.AAAA && digits.length === 32) {
    return { ...about, type: 'AAAA', address: Address.of(6, BigInt(`0x${digits}`)).toString() };
  }
  return undefined;
}

/** A name may go on elsewhere in the message, but never for longer than names are. */
function readName(message: Buffer, from: number): { readonly name: string; readonly end: number } | undefined {
  const labels: string[] = [];
  let end: number | undefined;
  let length = 0;
  for (let at = from, steps = 0; steps < 128; steps += 1) {
    const head = message[at];
    if (head === undefined) return undefined;
    if (head === 0) return { name: labels.join('.'), end: end ?? at + 1 };
    if (head >= 0xc0) {
      if (at + 2 > message.length) return undefined;
      end ??= at + 2;
      at = message.readUInt16BE(at) & 0x3fff;
      continue;
    }
    length += head + 1;
    if (head > 63 || length > 254 || at + 1 + head > message.length) return undefined;
    labels.push(message.toString('latin1', at + 1, at + 1 + head).toLowerCase());
    at += 1 + head;
  }
  return undefined;
}
