import type { Family } from '../api/address.ts';
import { Prefix } from '../api/prefix.ts';
import {
  addressBytes,
  attribute,
  readAddress,
  readAttributes,
  readText,
  readU32,
  text,
  u8,
  u32,
} from './netlink/attributes.ts';
import type { Netlink } from './netlink/connection.ts';
import { flag, type Message } from './netlink/message.ts';

/** Which table is asked for the way of a packet. The kernel asks them by priority, the lowest first. */
export interface Rule {
  readonly family: Family;
  readonly priority: number;
  readonly table: number;
  readonly from?: Prefix;
  readonly to?: Prefix;
  readonly mark?: { readonly value: number; readonly mask: number };
  /** The name of the link that it came in by. */
  readonly arrivedOn?: string;
  readonly protocol: number;
}

export function listRules(netlink: Netlink, family: Family, { protocol }: { protocol?: number } = {}): Rule[] {
  return netlink
    .dump({ doing: 'list rules', type: GET, body: [header({ family })] })
    .flatMap(readRule)
    .filter((rule) => protocol === undefined || rule.protocol === protocol);
}

/** Nothing happens when it is there. */
export function addRule(netlink: Netlink, rule: Rule): void {
  const [refusal] = netlink.requestAll([
    { doing: `add the rule ${rule.priority}`, type: NEW, flags: flag.create | flag.exclusive, body: bodyOf(rule) },
  ]);
  if (refusal !== undefined && refusal.code !== 'EEXIST') throw refusal;
}

/** Nothing happens when it is not there. */
export function deleteRule(netlink: Netlink, rule: Rule): void {
  const [refusal] = netlink.requestAll([
    { doing: `delete the rule ${rule.priority}`, type: DELETE, flags: 0, body: bodyOf(rule) },
  ]);
  if (refusal !== undefined && refusal.code !== 'ENOENT') throw refusal;
}

function bodyOf({ family, priority, table, from, to, mark, arrivedOn, protocol }: Rule): Buffer[] {
  const body = [header({ family, from: from?.length ?? 0, to: to?.length ?? 0, table, action: LOOK_UP })];
  body.push(attribute(PRIORITY, u32(priority)), attribute(TABLE, u32(table)), attribute(PROTOCOL, u8(protocol)));
  if (from !== undefined) body.push(attribute(FROM, addressBytes(from.first)));
  if (to !== undefined) body.push(attribute(TO, addressBytes(to.first)));
  if (mark !== undefined) body.push(attribute(MARK, u32(mark.value)), attribute(MARK_MASK, u32(mark.mask)));
  if (arrivedOn !== undefined) body.push(attribute(ARRIVED_ON, text(arrivedOn)));
  return body;
}

/** struct fib_rule_hdr */
function header({ family, to = 0, from = 0, table = 0, action = 0 }: Header): Buffer {
  const bytes = Buffer.alloc(12);
  bytes.writeUInt8(family === 4 ? AF_INET : AF_INET6, 0);
  bytes.writeUInt8(to, 1);
  bytes.writeUInt8(from, 2);
  bytes.writeUInt8(table < 256 ? table : 0, 4);
  bytes.writeUInt8(action, 7);
  return bytes;
}

interface Header {
  readonly family: Family;
  readonly to?: number;
  readonly from?: number;
  readonly table?: number;
  readonly action?: number;
}

function readRule({ body }: Message): Rule[] {
  if (body.readUInt8(7) !== LOOK_UP) return [];
  const has = readAttributes(body.subarray(12));
  const from = readAddress(has.get(FROM));
  const to = readAddress(has.get(TO));
  const value = readU32(has.get(MARK));
  const arrivedOn = readText(has.get(ARRIVED_ON));
  return [
    {
      family: body.readUInt8(0) === AF_INET ? 4 : 6,
      priority: readU32(has.get(PRIORITY)) ?? 0,
      table: readU32(has.get(TABLE)) ?? body.readUInt8(4),
      ...(from === undefined ? {} : { from: new Prefix(from, body.readUInt8(2)) }),
      ...(to === undefined ? {} : { to: new Prefix(to, body.readUInt8(1)) }),
      ...(value === undefined ? {} : { mark: { value, mask: readU32(has.get(MARK_MASK)) ?? 0xffff_ffff } }),
      ...(arrivedOn === undefined ? {} : { arrivedOn }),
      protocol: has.get(PROTOCOL)?.readUInt8() ?? 0,
    },
  ];
}

const NEW = 32;
const DELETE = 33;
const GET = 34;
const AF_INET = 2;
const AF_INET6 = 10;
const LOOK_UP = 1;
const TO = 1;
const FROM = 2;
const ARRIVED_ON = 3;
const PRIORITY = 6;
const MARK = 10;
const TABLE = 15;
const MARK_MASK = 16;
const PROTOCOL = 21;
