import { KernelError } from './kernel.ts';
import { attribute, readAttributes, text } from './netlink/attributes.ts';
import { Netlink } from './netlink/connection.ts';

/**
 * How much is in a table of nftables of the family `inet`: its maps, sets and chains together. Undefined when there is no such table. One message to
 * the kernel and one back, so that it can be asked all the time.
 */
export function sizeOfTable(name: string): number | undefined {
  using netlink = new Netlink('netfilter');
  try {
    const { body } = netlink.get({
      doing: `look for the table ${name}`,
      type: GET_TABLE,
      body: [HEADER, attribute(NAME, text(name))],
    });
    return readAttributes(body.subarray(HEADER.length)).get(USE)?.readUInt32BE(0);
  } catch (error) {
    if (error instanceof KernelError && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** struct nfgenmsg: of the family NFPROTO_INET. */
const HEADER = Buffer.from([1, 0, 0, 0]);
const GET_TABLE = (10 << 8) | 1;
const NAME = 1;
const USE = 3;
