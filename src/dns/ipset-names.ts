import { createHash } from 'node:crypto';
import type { DNSHost } from '../api/network.openstack.org/dnsdata.ts';
import type { IPSet } from '../api/network.openstack.org/ipset.ts';
import { IPSET_NAMES_ANNOTATION } from './names.ts';

/**
 * What the addresses of an IPSet are called: `<ipset>.<dnsDomain>` on each network with a domain. An IPSet named by a whole
 * domain name is called by its first part everywhere, and by all of it on the control plane.
 */
export function hostsOf({ metadata, status }: IPSet): DNSHost[] {
  if (metadata.annotations?.[IPSET_NAMES_ANNOTATION] === 'false' || metadata.deletionTimestamp !== undefined) return [];
  const [short = ''] = metadata.name.split('.');
  return (status?.reservations ?? []).flatMap(({ address, dnsDomain, network, serviceNetwork }) => {
    const hostnames = dnsDomain === undefined || dnsDomain === '' ? [] : [`${short}.${dnsDomain}`];
    const isControlPlane = (serviceNetwork ?? network).toLowerCase() === 'ctlplane';
    if (isControlPlane && short !== metadata.name) hostnames.push(metadata.name);
    return hostnames.length === 0 ? [] : [{ ip: address, hostnames }];
  });
}

/** Large namespaces are cut into parts, so that one more IPSet rewrites one of them. */
export const PARTS = 64;
export const MOST_IN_ONE = 200;

export const partOf = (name: string): number => (createHash('sha1').update(name).digest()[0] ?? 0) % PARTS;

export const partName = (dnsMasq: string, part: number | undefined): string =>
  part === undefined ? `${dnsMasq}-ipsets` : `${dnsMasq}-ipsets-${part.toString().padStart(2, '0')}`;
