import type { Kind } from '../api/kind.ts';
import type { DNSMasq } from '../api/network.openstack.org/dnsmasq.ts';
import type { ApiObject } from '../api/object.ts';
import { type Index, index } from '../runtime/cache.ts';
import { fingerprint } from './fingerprint.ts';

/** ConfigMaps that carry this label hold hosts, for the DNSMasqs that look for its value. */
export const HOSTS_LABEL = 'dnsmasqhosts';

/** On a Service of type LoadBalancer: the names that stand for its addresses. */
export const HOST_NAME_ANNOTATION = 'dnsmasq.network.openstack.org/hostname';

/** On an IPSet: `false` keeps its addresses out of DNS. */
export const IPSET_NAMES_ANNOTATION = 'dns.netloom.io/names';

/** Values of the selector are compared without case. */
export const selectorValue = (spec: { dnsDataLabelSelectorValue: string }): string =>
  spec.dnsDataLabelSelectorValue.toLowerCase();

export const labelsOf = ({ metadata }: ApiObject): Record<string, string> => ({
  'dnsmasq.openstack.org/uid': metadata.uid,
  'dnsmasq.openstack.org/namespace': metadata.namespace ?? '',
  'dnsmasq.openstack.org/name': labelOf(metadata.name),
});

/** Names may be longer than labels. */
const labelOf = (name: string): string =>
  name.length <= 63 ? name : `${name.slice(0, 54)}-${fingerprint(name).slice(0, 8)}`;

export const childName = (dnsMasq: DNSMasq): string => `dnsmasq-${dnsMasq.metadata.name}`;

/** What the pods of one DNSMasq are told apart by from those of another. */
export const podLabels = (dnsMasq: DNSMasq): Record<string, string> => ({
  service: 'dnsmasq',
  'dnsmasq.openstack.org/name': dnsMasq.metadata.name,
});

/** Finds what an object controls, by its UID. */
export const byController = <T extends ApiObject>(kind: Kind<T>): Index<T> =>
  index(kind, ({ metadata }) =>
    (metadata.ownerReferences ?? []).filter(({ controller }) => controller === true).map(({ uid }) => uid),
  );
