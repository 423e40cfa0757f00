import { createHash } from 'node:crypto';
import type { Choice, Entry, Family } from './service-rules.ts';

/** The nftables table of the proxy. Everything in it is ours, and nothing of the proxy is elsewhere. */
export const TABLE = 'netloom-services';

export interface ProxyHost {
  /** What connections from outside are sent on as, so that their answers come back here. */
  readonly addresses: Readonly<Partial<Record<Family, string>>>;
  /** The addresses that Services have: one that no Service has is refused. */
  readonly serviceCidrs: readonly string[];
  /** The addresses that pods have, on all hosts. */
  readonly podCidrs: readonly string[];
}

/** Put on packets that have to leave with an address of this host. */
const FROM_HERE = '0x00004e4c';

export const digit = (family: Family): '4' | '6' => (family === 'IPv4' ? '4' : '6');
const ipOf = (text: string): 'ip' | 'ip6' => (text.includes(':') ? 'ip6' : 'ip');

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
  set hairpin4 { type ipv4_addr . ipv4_addr; }
  set hairpin6 { type ipv6_addr . ipv6_addr; }
  set pods4 { type ipv4_addr; flags interval; ${elements(host.podCidrs, 'ip')} }
  set pods6 { type ipv6_addr; flags interval; ${elements(host.podCidrs, 'ip6')} }
  chain enter {
    ip daddr . meta l4proto . th dport vmap @services4
    ip6 daddr . meta l4proto . th dport vmap @services6
    meta nfproto ipv4 fib daddr type local ip daddr != 127.0.0.0/8 meta l4proto . th dport vmap @ports4
    meta nfproto ipv6 fib daddr type local ip6 daddr != ::1 meta l4proto . th dport vmap @ports6
  }
  chain no {
    meta l4proto tcp reject with tcp reset
    reject
  }
  chain refuse {
    ip daddr . meta l4proto . th dport @refused4 goto no
    ip6 daddr . meta l4proto . th dport @refused6 goto no
    meta nfproto ipv4 fib daddr type local meta l4proto . th dport @refusedports4 goto no
    meta nfproto ipv6 fib daddr type local meta l4proto . th dport @refusedports6 goto no
${host.serviceCidrs.map((cidr) => `    ${ipOf(cidr)} daddr ${cidr} goto no\n`).join('')}  }
  chain prerouting {
    type nat hook prerouting priority dstnat; policy accept;
    jump enter
  }
  chain output {
    type nat hook output priority -100; policy accept;
    jump enter
  }
  chain postrouting {
    type nat hook postrouting priority srcnat; policy accept;
${leaving(host, 'IPv4')}${leaving(host, 'IPv6')}  }
  chain forwarded {
    type filter hook forward priority -5; policy accept;
    ct state new jump refuse
  }
  chain incoming {
    type filter hook input priority -5; policy accept;
    ct state new jump refuse
  }
  chain outgoing {
    type filter hook output priority -5; policy accept;
    ct state new jump refuse
  }
}
`;

const elements = (cidrs: readonly string[], ip: 'ip' | 'ip6'): string => {
  const own = cidrs.filter((cidr) => ipOf(cidr) === ip);
  return own.length === 0 ? '' : `elements = { ${own.join(', ')} };`;
};

function leaving({ addresses }: ProxyHost, family: Family): string {
  const own = addresses[family];
  if (own === undefined) return '';
  const ip = family === 'IPv4' ? 'ip' : 'ip6';
  return `    meta nfproto ipv${digit(family)} meta mark & 0x0000ffff == ${FROM_HERE} snat ${ip} to ${own}
    ct status dnat ${ip} saddr . ${ip} daddr @hairpin${digit(family)} snat ${ip} to ${own}
`;
}

/** The type of the map of a choice: a number leads to an address and a port. */
export const choiceType = ({ family, protocol }: Choice): string =>
  `typeof numgen random mod 65536 : ${family === 'IPv4' ? 'ip' : 'ip6'} daddr . ${protocol} dport`;

/** The rule that draws a backend; nothing where there is none. */
export function drawing(map: string, { family, protocol, backends, byClient }: Choice): string {
  if (backends.length === 0) return '';
  const ip = family === 'IPv4' ? 'ip' : 'ip6';
  const number = byClient ? `jhash ${ip} saddr mod` : 'numgen random mod';
  return `meta l4proto ${protocol} dnat ${ip} to ${number} ${backends.length} map @${map}`;
}

export const mapOf = ({ kind, family }: Entry): string =>
  `${kind === 'node-port' ? 'ports' : 'services'}${digit(family)}`;

/** No two entries of the table are the same. */
export const keyOf = (entry: Entry): string => `${mapOf(entry)} ${entry.key}`;

/** Who comes from outside goes through a chain of the entry's own before the choice. */
export function doorOf(entry: Entry): string | undefined {
  if (entry.kind === 'cluster') return undefined;
  return `d${createHash('sha256').update(keyOf(entry)).digest('hex').slice(0, 16)}`;
}

export function doorRules({ family, choice, localChoice }: Entry): string[] {
  const ip = family === 'IPv4' ? 'ip' : 'ip6';
  // Answers must come back through this host; only there is it known where the client is.
  if (localChoice === undefined) return [`meta mark set meta mark | ${FROM_HERE}`, `goto ${choice}`];
  return [
    `${ip} saddr @pods${digit(family)} goto ${choice}`,
    `fib saddr type local goto ${choice}`,
    `goto ${localChoice}`,
  ];
}

/** Where an entry leads. */
export const openingOf = (entry: Entry): string => `${doorRules(entry).join('; ')} ${entry.kind}`;
