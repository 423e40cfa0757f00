import type { Address } from '../api/address.ts';
import {
  addressBytes,
  attribute,
  mac as macBytes,
  readAddress,
  readAttributes,
  readMac,
} from './netlink/attributes.ts';
import type { Netlink } from './netlink/connection.ts';
import { flag, type Message } from './netlink/message.ts';

/** Which hardware address an address has on a link. */
export interface Neighbour {
  readonly link: number;
  readonly address: Address;
  readonly mac: string;
  /** Said by somebody, not found by asking: it stays. */
  readonly permanent: boolean;
}

export function listNeighbours(netlink: Netlink): Neighbour[] {
  return netlink.dump({ doing: 'list neighbours', type: GET, body: [header()] }).flatMap(readNeighbour);
}

/** From now on nobody is asked for it. What was known of it before is replaced. */
export function putNeighbour(netlink: Netlink, { link, address, mac }: Omit<Neighbour, 'permanent'>): void {
  netlink.request({
    doing: `set the neighbour ${address}`,
    type: NEW,
    flags: flag.create | flag.replace,
    body: [
      header({ link, address, state: PERMANENT }),
      attribute(ADDRESS, addressBytes(address)),
      attribute(MAC, macBytes(mac)),
    ],
  });
}

/** Nothing happens when it is not there, or has gone with its link. */
export function deleteNeighbour(netlink: Netlink, { link, address }: Pick<Neighbour, 'link' | 'address'>): void {
  const [refusal] = netlink.requestAll([
    {
      doing: `delete the neighbour ${address}`,
      type: DELETE,
      flags: 0,
      body: [header({ link, address }), attribute(ADDRESS, addressBytes(address))],
    },
  ]);
  if (refusal !== undefined && !['ENOENT', 'ENODEV'].includes(refusal.code)) throw refusal;
}

/** struct ndmsg */
function header({ link = 0, address, state = 0 }: { link?: number; address?: Address; state?: number } = {}): Buffer {
  const bytes = Buffer.alloc(12);
  if (address !== undefined) bytes.writeUInt8(address.family === 4 ? AF_INET : AF_INET6, 0);
  bytes.writeInt32LE(link, 4);
  bytes.writeUInt16LE(state, 8);
  return bytes;
}

function readNeighbour({ body }: Message): Neighbour[] {
  const has = readAttributes(body.subarray(12));
  const address = readAddress(has.get(ADDRESS));
  const mac = readMac(has.get(MAC));
  if (address === undefined || mac === undefined) return [];
  return [{ link: body.readInt32LE(4), address, mac, permanent: (body.readUInt16LE(8) & PERMANENT) !== 0 }];
}

const NEW = 28;
const DELETE = 29;
const GET = 30;
const AF_INET = 2;
const AF_INET6 = 10;
const ADDRESS = 1;
const MAC = 2;
const PERMANENT = 0x80;
