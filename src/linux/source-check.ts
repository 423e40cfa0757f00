import { KernelError } from './kernel.ts';
import { attribute, nested, readAttributes, text, u32be } from './netlink/attributes.ts';
import { Netlink } from './netlink/connection.ts';
import { flag, type Request } from './netlink/message.ts';

/**
 * A table of nftables that lets no IPv6 come by links of a group whose source does not lead back to that link: who is behind one speaks in his
 * own name alone. For IPv4 this is a setting of links (`rp_filter`), for IPv6 there is none. The addresses are those of the routes, so it
 * never changes. One message to the kernel and no program, so that making it takes nobody any time.
 */
export function putSourceCheck(table: string, linkGroup: number): void {
  using netlink = new Netlink('netfilter');
  const inTable = attribute(1, text(table));
  const doing = `make the table ${table}`;
  const make = (type: number, ...body: Uint8Array[]): Request => ({
    doing,
    type: NFTABLES | type,
    flags: flag.create | APPEND,
    body: [OF_IPV6, ...body],
  });
  // Of an older one, as whoever sweeps rules away may have left it, nothing stays.
  const requests = [
    make(NEW_TABLE, inTable),
    { ...make(DELETE_TABLE, inTable), flags: 0 },
    make(NEW_TABLE, inTable),
    make(NEW_CHAIN, inTable, attribute(3, text(CHAIN)), HOOK, attribute(7, text('filter'))),
    make(NEW_RULE, inTable, attribute(2, text(CHAIN)), nested(4, ...expressions(linkGroup))),
  ];
  netlink.transaction(requests, BATCH);
}

/** Whether it is there with its rule: whoever loads a firewall of his own may have left the table, and nothing in it. */
export function isSourceCheck(table: string): boolean {
  using netlink = new Netlink('netfilter');
  try {
    const { body } = netlink.get({
      doing: `look at the table ${table}`,
      type: NFTABLES | GET_CHAIN,
      body: [OF_IPV6, attribute(1, text(table)), attribute(3, text(CHAIN))],
    });
    return readAttributes(body.subarray(OF_IPV6.length)).get(RULES)?.readUInt32BE(0) === 1;
  } catch (error) {
    if (error instanceof KernelError && error.code === 'ENOENT') return false;
    throw error;
  }
}

/** Nothing happens when it is not there. */
export function deleteTable(table: string): void {
  using netlink = new Netlink('netfilter');
  const body = [OF_IPV6, attribute(1, text(table))];
  try {
    const doing = `delete the table ${table}`;
    netlink.transaction([{ doing, type: NFTABLES | DELETE_TABLE, flags: 0, body }], BATCH);
  } catch (error) {
    if (!(error instanceof KernelError && error.code === 'ENOENT')) throw error;
  }
}

/** `iifgroup N fib saddr . iif oif missing drop` */
function expressions(linkGroup: number): Buffer[] {
  const ofGroup = Buffer.alloc(4);
  ofGroup.writeUInt32LE(linkGroup);
  return [
    expression('meta', attribute(1, u32be(REGISTER)), attribute(2, u32be(GROUP_OF_INPUT))),
    equals(ofGroup),
    expression(
      'fib',
      attribute(1, u32be(REGISTER)),
      attribute(2, u32be(LINK)),
      attribute(3, u32be(OF_SOURCE | BY_INPUT)),
    ),
    equals(u32be(NO_LINK)),
    expression('immediate', attribute(1, u32be(VERDICT)), nested(2, nested(2, attribute(1, u32be(DROP))))),
  ];
}

const expression = (name: string, ...data: readonly Uint8Array[]): Buffer =>
  nested(1, attribute(1, text(name)), nested(2, ...data));

const equals = (value: Buffer): Buffer =>
  expression('cmp', attribute(1, u32be(REGISTER)), attribute(2, u32be(0)), nested(3, attribute(1, value)));

const CHAIN = 'sources';
const REGISTER = 1;
const VERDICT = 0;
const DROP = 0;
/** NFT_META_IIFGROUP */
const GROUP_OF_INPUT = 21;
/** NFT_FIB_RESULT_OIF, NFTA_FIB_F_SADDR and NFTA_FIB_F_IIF. */
const [LINK, OF_SOURCE, BY_INPUT] = [1, 1, 8];
const NO_LINK = 0;

/** NF_INET_PRE_ROUTING, before anything is made of a packet: before connections are known, and long before they are led elsewhere. */
const HOOK = nested(4, attribute(1, u32be(0)), attribute(2, u32be(-300)));

/** struct nfgenmsg: of the family NFPROTO_IPV6. */
const OF_IPV6 = Buffer.from([10, 0, 0, 0]);
const NFTABLES = 10 << 8;
const [NEW_TABLE, DELETE_TABLE, NEW_CHAIN, GET_CHAIN, NEW_RULE] = [0, 2, 3, 4, 6];
/** How many, in what is said of a chain. */
const RULES = 6;
const APPEND = 0x800;

const atEnd = (type: number): Request => ({
  doing: 'change the firewall',
  type,
  flags: 0,
  body: [Buffer.from([0, 0, 0, NFTABLES >> 8])],
});
const BATCH = { begin: atEnd(0x10), end: atEnd(0x11) };
