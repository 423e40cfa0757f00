import { createHash } from 'node:crypto';
import type { DNSHost } from '../api/network.openstack.org/dnsdata.ts';
import type { IPSet } from '../api/network.openstack.org/ipset.ts';
import { IPSET_NAMES_ANNOTATION } from './names.ts';

/**
 * What the addresses of IPSets are called: `<ipset>.<dnsDomain>` on each network with a domain. An IPSet named by a whole
 * domain name is called by its first part everywhere, and by all of it on the control plane; but by its whole name everywhere
 * where another IPSet begins with the same part, or the two would be answered as one. The same IPSets always make the same words,
 * in whatever order they were heard of.
 *
 * @param ipSets with each of them, all others of the namespace that begin with the same part
 */
export function hostsOf(ipSets: readonly IPSet[]): DNSHost[] {
  const named = ipSets.filter(isNamed).sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const counts = new Map<string, number>();
  for (const { metadata } of named) counts.set(shortOf(metadata.name), (counts.get(shortOf(metadata.name)) ?? 0) + 1);
  return named.flatMap((ipSet) => {
    const { name } = ipSet.metadata;
    return hostsOfOne(ipSet, counts.get(shortOf(name)) === 1 ? shortOf(name) : name);
  });
}

const isNamed = ({ metadata }: IPSet): boolean =>
  metadata.annotations?.[IPSET_NAMES_ANNOTATION] !== 'false' && metadata.deletionTimestamp === undefined;

const shortOf = (name: string): string => name.split('.')[0] ?? '';

function hostsOfOne({ metadata: { name }, status }: IPSet, host: string): DNSHost[] {
  return (status?.reservations ?? []).flatMap(({ address, dnsDomain, network, serviceNetwork }) => {
    const hostnames = dnsDomain === undefined || dnsDomain === '' ? [] : [`${host}.${dnsDomain}`];
    const isControlPlane = (serviceNetwork ?? network).toLowerCase() === 'ctlplane';
    if (isControlPlane && name !== shortOf(name)) hostnames.push(name);
    return hostnames.length === 0 ? [] : [{ ip: address, hostnames }];
  });
}

/** Large namespaces are cut into parts, so that one more IPSet rewrites one of them. Those that begin alike are in one part. */
export const PARTS = 64;
export const MOST_IN_ONE = 200;

export const partOf = (ipSet: string): number => (createHash('sha1').update(shortOf(ipSet)).digest()[0] ?? 0) % PARTS;

export const partName = (dnsMasq: string, part: number | undefined): string =>
  part === undefined ? `${dnsMasq}-ipsets` : `${dnsMasq}-ipsets-${part.toString().padStart(2, '0')}`;

/** Whose names a DNSData of this name would hold, and which part of them; none when it holds all of them. */
export function readPartName(name: string): { dnsMasq: string; part: number | undefined } | undefined {
  const [, dnsMasq, part] = /^(.+)-ipsets(?:-(\d\d))?$/.exec(name) ?? [];
  return dnsMasq === undefined ? undefined : { dnsMasq, part: part === undefined ? undefined : Number(part) };
}
