import type { Address } from '../api/address.ts';
import { addressBytes, attribute, readAddress, readAttributes, u32 } from './netlink/attributes.ts';
import type { Netlink } from './netlink/connection.ts';
import { flag, type Message, type Request } from './netlink/message.ts';

/** An address of a link, with the length of the network that is on the link. */
export interface LinkAddress {
  readonly link: number;
  readonly address: Address;
  readonly length: number;
}

export function listAddresses(netlink: Netlink): LinkAddress[] {
  return netlink.dump({ doing: 'list addresses', type: GET, body: [header()] }).flatMap(readLinkAddress);
}

/** Nothing happens when it is there. An IPv6 address can be used at once: nobody is asked whether it is taken. */
export function addAddress(netlink: Netlink, address: LinkAddress): void {
  tolerate(netlink, ['EEXIST'], { ...about('add', address), type: NEW, flags: flag.create | flag.exclusive });
}

/** Nothing happens when it is not there, or has gone with its link. */
export function deleteAddress(netlink: Netlink, address: LinkAddress): void {
  tolerate(netlink, ['EADDRNOTAVAIL', 'ENODEV'], { ...about('delete', address), type: DELETE, flags: 0 });
}

function tolerate(netlink: Netlink, codes: readonly string[], request: Request): void {
  const [refusal] = netlink.requestAll([request]);
  if (refusal !== undefined && !codes.includes(refusal.code)) throw refusal;
}

function about(verb: string, { link, address, length }: LinkAddress): Pick<Request, 'doing' | 'body'> {
  const family = address.family === 4 ? AF_INET : AF_INET6;
  const body = [header({ family, length, link }), attribute(LOCAL, addressBytes(address))];
  body.push(attribute(ADDRESS, addressBytes(address)));
  if (address.family === 6) body.push(attribute(FLAGS, u32(WITHOUT_DUPLICATE_DETECTION)));
  return { doing: `${verb} the address ${address}/${length}`, body };
}

/** struct ifaddrmsg */
function header({ family = 0, length = 0, link = 0 } = {}): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt8(family, 0);
  bytes.writeUInt8(length, 1);
  bytes.writeUInt32LE(link, 4);
  return bytes;
}

function readLinkAddress({ body }: Message): LinkAddress[] {
  const has = readAttributes(body.subarray(8));
  const address = readAddress(has.get(LOCAL) ?? has.get(ADDRESS));
  const link = body.readUInt32LE(4);
  return address === undefined ? [] : [{ link, address, length: body.readUInt8(1) }];
}

const NEW = 20;
const DELETE = 21;
const GET = 22;
const AF_INET = 2;
const AF_INET6 = 10;
const ADDRESS = 1;
const LOCAL = 2;
const FLAGS = 8;
const WITHOUT_DUPLICATE_DETECTION = 0x02;
