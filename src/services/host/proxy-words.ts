import { Address } from '../../api/address.ts';
import type { Choice, Entry, Family } from './service-rules.ts';

/** The nftables table of the proxy. Everything in it is ours, and nothing of the proxy is elsewhere. */
export const TABLE = 'netloom-services';

export interface ProxyHost {
  /** What connections from outside are sent on as, so that their answers come back here. */
  readonly addresses: Readonly<Partial<Record<Family, string>>>;
  readonly otherWays?: readonly OtherWay[];
  /** The addresses that Services have: one that no Service has is refused. */
  readonly serviceCidrs: readonly string[];
  /** The addresses that pods have, on all hosts. */
  readonly podCidrs: readonly string[];
  /** The group of the links that lead to the pods of this host. */
  readonly podLinks: number;
  /** Where this host answers names. */
  readonly resolvers?: readonly string[];
}

/** A link on which nobody may know the way back to the first address of this host, but to this one. */
export interface OtherWay {
  readonly link: string;
  readonly family: Family;
  readonly address: string;
}

/** Put on packets that have to leave with an address of this host. */
const FROM_HERE = '0x00004e4c';
const MARK = `meta mark set meta mark | ${FROM_HERE}`;

export const digit = (family: Family): '4' | '6' => (family === 'IPv4' ? '4' : '6');
const ipOfFamily = (family: Family): 'ip' | 'ip6' => (family === 'IPv4' ? 'ip' : 'ip6');
const ipOf = (text: string): 'ip' | 'ip6' => (text.includes(':') ? 'ip6' : 'ip');

/**
 * Whatever can be decided by the first packet of a connection is in chains of the kind `nat`, which see no other: what only passes
 * through this host pays for one rule a packet, the one in `forwarded`. It is for packets that the kernel counts to no connection,
 * late or repeated ones of a pod, say: with the pod's own address instead of the Service's on them, the client would
 * answer with a reset, and the pod take that for the end of a connection in good health. What passes between others is left alone:
 * their answers may take another way, so that the kernel here counts none of it, also of what a bridge passes on.
 */
export const begin = (host: ProxyHost): string => `table inet ${TABLE}
delete table inet ${TABLE}
table inet ${TABLE} {
  map services4 { type ipv4_addr . inet_proto . inet_service : verdict; }
  map services6 { type ipv6_addr . inet_proto . inet_service : verdict; }
  map ports4 { type inet_proto . inet_service : verdict; }
  map ports6 { type inet_proto . inet_service : verdict; }
  set refused4 { type ipv4_addr . inet_proto . inet_service; }
  set refused6 { type ipv6_addr . inet_proto . inet_service; }
  set refusedports4 { type inet_proto . inet_service; }
  set refusedports6 { type inet_proto . inet_service; }
  set guarded4 { type ipv4_addr . inet_proto . inet_service; }
  set guarded6 { type ipv6_addr . inet_proto . inet_service; }
  set admitted4 { type ipv4_addr . inet_proto . inet_service . ipv4_addr; flags interval; }
  set admitted6 { type ipv6_addr . inet_proto . inet_service . ipv6_addr; flags interval; }
  set hairpin4 { type ipv4_addr . ipv4_addr; }
  set hairpin6 { type ipv6_addr . ipv6_addr; }
${PLACES.map(backendsMap).join('')}  set pods4 { type ipv4_addr; flags interval; ${elements(host.podCidrs, 'ip')} }
  set pods6 { type ipv6_addr; flags interval; ${elements(host.podCidrs, 'ip6')} }
  chain guard {
    ${guarded('IPv4')}
    ${guarded('IPv6')}
  }
  chain enter {
${host.serviceCidrs.map((cidr) => fromElsewhere(host, cidr)).join('')}    ip daddr . meta l4proto . th dport vmap @services4
    ip6 daddr . meta l4proto . th dport vmap @services6
    ${toPortOfHost('IPv4')} vmap @ports4
    ${toPortOfHost('IPv6')} vmap @ports6
  }
  chain no {
    meta l4proto tcp reject with tcp reset
    reject
  }
  chain refuse {
    ip daddr . meta l4proto . th dport @refused4 goto no
    ip6 daddr . meta l4proto . th dport @refused6 goto no
    ${toPortOfHost('IPv4')} @refusedports4 goto no
    ${toPortOfHost('IPv6')} @refusedports6 goto no
${host.serviceCidrs.map((cidr) => `    ${ipOf(cidr)} daddr ${cidr} goto no\n`).join('')}  }
  chain prerouting {
    type nat hook prerouting priority dstnat; policy accept;
    jump guard
    jump enter
    jump refuse
  }
  chain output {
    type nat hook output priority -100; policy accept;
    jump guard
    jump enter
    jump refuse
  }
  chain postrouting {
    type nat hook postrouting priority srcnat; policy accept;
${leaving(host, 'IPv4')}${leaving(host, 'IPv6')}  }
  chain forwarded {
    type filter hook forward priority -5; policy accept;
    ct state != invalid accept
    iifgroup != ${host.podLinks} oifgroup != ${host.podLinks} accept
    ip saddr @pods4 drop
    ip6 saddr @pods6 drop
  }
  chain outgoing {
    type filter hook output priority -5; policy accept;
${(host.resolvers ?? []).map(quiet).join('')}  }
}
`;

/** Who is no pod, nor this host, is known the way back to by this host alone. */
function fromElsewhere({ podCidrs }: ProxyHost, serviceCidr: string): string {
  const ip = ipOf(serviceCidr);
  if (!podCidrs.some((cidr) => ipOf(cidr) === ip)) return '';
  const pods = ip === 'ip' ? '@pods4' : '@pods6';
  return `    ${ip} daddr ${serviceCidr} ${ip} saddr != ${pods} fib saddr type != local ${MARK}\n`;
}

/** What a process has for this host alone, on its loopback, is its own affair. */
const toPortOfHost = (family: Family): string => {
  const loopback = family === 'IPv4' ? '127.0.0.0/8' : '::1';
  return `meta nfproto ipv${digit(family)} fib daddr type local ${ipOfFamily(family)} daddr != ${loopback} meta l4proto . th dport`;
};

/** Who comes to an entry that is for some, and is none of them, is not answered. */
function guarded(family: Family): string {
  const [ip, number] = [ipOfFamily(family), digit(family)];
  const entry = `${ip} daddr . meta l4proto . th dport`;
  return `${entry} @guarded${number} ${entry} . ${ip} saddr != @admitted${number} drop`;
}

/**
 * A question that comes while nobody answers, because the agent is being replaced, is not refused: clients ask again, but not those
 * who were refused. The refusal repeats the question, behind a header of its own.
 */
const quiet = (address: string): string =>
  ipOf(address) === 'ip'
    ? `    icmp type destination-unreachable @th,136,8 17 @th,192,32 ${hexOf(address)} @th,240,16 53 drop\n`
    : `    icmpv6 type destination-unreachable @th,112,8 17 @th,256,128 ${hexOf(address)} @th,400,16 53 drop\n`;

const hexOf = (address: string): string => {
  const parsed = Address.parse(address);
  return parsed === undefined ? '0x0' : `0x${parsed.value.toString(16)}`;
};

const elements = (cidrs: readonly string[], ip: 'ip' | 'ip6'): string => {
  const own = cidrs.filter((cidr) => ipOf(cidr) === ip);
  return own.length === 0 ? '' : `elements = { ${own.join(', ')} };`;
};

function leaving({ addresses, otherWays = [] }: ProxyHost, family: Family): string {
  const own = addresses[family];
  if (own === undefined) return '';
  const ip = ipOfFamily(family);
  const fromHere = `meta nfproto ipv${digit(family)} meta mark & 0x0000ffff == ${FROM_HERE}`;
  const others = otherWays
    .filter((way) => way.family === family)
    .map(
      ({ link, address }) => `    oifname "${link}" ${fromHere} snat ${ip} to ${address}
    oifname "${link}" ct status dnat ${ip} saddr ${own} snat ${ip} to ${address}
`,
    );
  return `${others.join('')}    ${fromHere} snat ${ip} to ${own}
    ct status dnat ${ip} saddr . ${ip} daddr @hairpin${digit(family)} snat ${ip} to ${own}
`;
}

/** Where the backends of an entry are: those of everybody, or those of this host. */
interface BackendsPlace {
  readonly kind: 'services' | 'ports';
  readonly whose: 'all' | 'local';
  readonly protocol: string;
  readonly family: Family;
}

const PLACES: readonly BackendsPlace[] = (['services', 'ports'] as const).flatMap((kind) =>
  (['all', 'local'] as const).flatMap((whose) =>
    ['tcp', 'udp', 'sctp'].flatMap((protocol) =>
      (['IPv4', 'IPv6'] as const).map((family) => ({ kind, whose, protocol, family })),
    ),
  ),
);

const nameOf = ({ kind, whose, protocol, family }: BackendsPlace): string =>
  `${whose}-${kind}-${protocol}${digit(family)}`;

/** An entry and a number lead to an address and a port. */
function backendsMap(place: BackendsPlace): string {
  const { kind, protocol, family } = place;
  const ip = ipOfFamily(family);
  const entry = kind === 'services' ? `${ip} daddr . ${protocol} dport` : `${protocol} dport`;
  return `  map ${nameOf(place)} {
    typeof ${entry} . numgen random mod 65536 : ${ip} daddr . ${protocol} dport
  }
`;
}

const kindOf = ({ kind }: Entry): 'services' | 'ports' => (kind === 'node-port' ? 'ports' : 'services');

/** The map of verdicts that the entry is in, and its key there. */
export const verdictsOf = (entry: Entry): string => `${kindOf(entry)}${digit(entry.family)}`;
export const verdictKey = ({ address, protocol, port }: Entry): string =>
  address === undefined ? `${protocol} . ${port}` : `${address} . ${protocol} . ${port}`;

/** No two entries of the table are the same. */
export const keyOf = (entry: Entry): string => `${verdictsOf(entry)} ${verdictKey(entry)}`;

/** The map in which the backends of an entry are, and what their keys begin with. */
export const backendsOf = (entry: Entry, whose: 'all' | 'local'): string =>
  nameOf({ kind: kindOf(entry), whose, protocol: entry.protocol, family: entry.family });
export const backendKey = ({ address, port }: Entry): string =>
  address === undefined ? String(port) : `${address} . ${port}`;

/** The same everywhere and always: a client comes to the same pod by another host, and after the agent was replaced. */
const SEED = '0x4e65746c';

/** A chain that sends a packet to one of the backends of its entry. */
export interface Draw {
  readonly chain: string;
  readonly rules: readonly string[];
}

/**
 * The chain for an entry: it depends on nothing but how many backends there are and who may be sent to which, so that entries share
 * it. Undefined where there is no backend.
 */
export function drawOf(
  { podLinks }: ProxyHost,
  entry: Entry,
  all: Choice,
  local: Choice | undefined,
): Draw | undefined {
  const { family, protocol, kind } = entry;
  const count = all.backends.length;
  if (count === 0) return undefined;
  const ip = ipOfFamily(family);
  const place = entry.address === undefined ? `${protocol} dport` : `${ip} daddr . ${protocol} dport`;
  const among = (whose: 'all' | 'local', of: number): string => {
    const number = all.byClient ? `jhash ${ip} saddr mod ${of} seed ${SEED}` : `numgen random mod ${of}`;
    return `meta l4proto ${protocol} dnat ${ip} to ${place} . ${number} map @${backendsOf(entry, whose)}`;
  };
  const words = [`${kind}-${protocol}${digit(family)}`, `${count}`, ...(all.byClient ? ['by-client'] : [])];
  if (kind === 'cluster') return { chain: words.join('-'), rules: [among('all', count)] };
  // Answers must come back through this host; only there is it known where the client is.
  if (local === undefined) {
    return { chain: words.join('-'), rules: [MARK, among('all', count)] };
  }
  const here = local.backends.length;
  return {
    chain: [...words, 'local', here].join('-'),
    rules: [
      // Only of its own pods this host sees the answers too: to one that comes from another host these would go past it.
      `iifgroup ${podLinks} ${among('all', count)}`,
      `fib saddr type local ${MARK} ${among('all', count)}`,
      // Balancers do not lead here, and whoever comes all the same finds nobody: a refusal would say that there is nobody anywhere.
      here === 0 ? 'drop' : among('local', here),
    ],
  };
}
