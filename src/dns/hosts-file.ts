import { Address, addressFault } from '../api/address.ts';
import type { ConfigMap } from '../api/core/config.ts';
import type { DNSHost } from '../api/network.openstack.org/dnsdata.ts';

/** Hosts as dnsmasq reads them, and what was left out for not being an address or a name. */
export interface HostsFile {
  readonly lines: readonly HostsLine[];
  readonly faults: readonly string[];
}

export interface HostsLine {
  readonly address: string;
  /** The first one is the answer to a reverse question. */
  readonly names: readonly string[];
}

/**
 * One line for each host, in the order given; the names of a line are sorted, as they always were.
 * @param first the place of the first host among all there are
 */
export function hostsFile(hosts: readonly DNSHost[], first = 0): HostsFile {
  const lines: HostsLine[] = [];
  const faults: string[] = [];
  for (const [place, { ip, hostnames }] of hosts.entries()) {
    const i = first + place;
    const address = Address.parse(ip);
    if (address === undefined) {
      faults.push(`hosts[${i}].ip: ${quoted(ip)} ${addressFault(ip)}`);
      continue;
    }
    const names: string[] = [];
    for (const [j, name] of hostnames.entries()) {
      const fault = hostNameFault(name);
      if (fault === undefined) names.push(name);
      else faults.push(`hosts[${i}].hostnames[${j}]: ${quoted(name)} ${fault}`);
    }
    if (names.length > 0) lines.push(hostsLine(address, names.sort()));
  }
  return { lines, faults };
}

/** Text that somebody else wrote, in their order, with everything left out that dnsmasq would stumble over. */
export function cleaned(text: string): HostsFile {
  const lines: HostsLine[] = [];
  const faults: string[] = [];
  for (const [i, raw] of text.split('\n').entries()) {
    const [ip, ...names] = raw.replace(/#.*/, '').trim().split(/\s+/);
    if (ip === undefined || ip === '') continue;
    const address = Address.parse(ip);
    const good = names.filter((name) => hostNameFault(name) === undefined);
    if (address === undefined) faults.push(`line ${i + 1}: ${quoted(ip)} ${addressFault(ip)}`);
    for (const name of names) {
      const fault = hostNameFault(name);
      if (fault !== undefined) faults.push(`line ${i + 1}: ${quoted(name)} ${fault}`);
    }
    if (address !== undefined && good.length > 0) lines.push(hostsLine(address, good));
  }
  return { lines, faults };
}

/** The hosts files in a ConfigMap, by key. What some byte keeps from being text, such as one in a comment, is `binaryData`. */
export function textsOf({
  data = {},
  binaryData = {},
}: Pick<ConfigMap, 'data' | 'binaryData'> = {}): Map<string, string> {
  const decoded = Object.entries(binaryData).map(
    ([key, bytes]) => [key, Buffer.from(bytes, 'base64').toString()] as const,
  );
  return new Map([...Object.entries(data), ...decoded]);
}

/** The faults in one sentence, for people. */
export function leftOut(faults: readonly string[]): string {
  const shown = faults.slice(0, MOST_SHOWN).join('; ');
  const more = faults.length > MOST_SHOWN ? `; and ${faults.length - MOST_SHOWN} more` : '';
  return `${faults.length} host ${faults.length === 1 ? 'entry is' : 'entries are'} left out: ${shown}${more}`;
}
const MOST_SHOWN = 5;

export const textOf = (lines: readonly HostsLine[]): string => lines.map(textOfLine).join('');

export const textOfLine = ({ address, names }: HostsLine): string => `${address} ${names.join(' ')}
`;

const hostsLine = (address: Address, names: readonly string[]): HostsLine => ({
  address: address.toString(),
  names: names.map((name) => name.replace(/\.$/, '')),
});

/** Why dnsmasq would not answer for a name, to be read after the name. */
function hostNameFault(name: string): string | undefined {
  if (name === '') return 'is no name: leave it out';
  if (name.length > 253) return 'is no host name: it is longer than 253 characters';
  for (const label of name.replace(/\.$/, '').split('.')) {
    if (label === '') return 'is no host name: two dots follow each other, or it begins with one';
    if (label.length > 63) return 'is no host name: a part of it is longer than 63 characters';
    if (!LABEL.test(label)) {
      return 'is no host name: its parts consist of letters, digits, - and _, and neither begin nor end with -';
    }
  }
  return undefined;
}

const LABEL = /^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?$/i;

/** So that no text from an object can break the line it is shown in. */
const quoted = (text: string): string => JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
