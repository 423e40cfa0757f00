import { Address, compareAddresses } from '../api/address.ts';
import { Service } from '../api/core/service.ts';
import { DNSData, type DNSHost } from '../api/network.openstack.org/dnsdata.ts';
import { DNSMasq } from '../api/network.openstack.org/dnsmasq.ts';
import type { Caches } from '../runtime/cache.ts';
import { type Controller, controller } from '../runtime/controller.ts';
import { done, wait } from '../runtime/outcome.ts';
import { type Ref, refOf } from '../runtime/ref.ts';
import { HOST_NAME_ANNOTATION } from './names.ts';
import { isTaken } from './ownership.ts';

/** Names the addresses of annotated Services for each DNSMasq of their namespace. */
export const serviceNames = (): Controller =>
  controller({
    name: 'service-names',
    for: DNSMasq,
    owns: [DNSData],
    watches: [
      // Whoever has written it: what we wrote may be gone, and what was in our way as well.
      { kind: DNSData, wakes: namedBy },
      {
        kind: Service,
        wakes: ({ metadata }: Service, caches: Caches) =>
          metadata.annotations?.[HOST_NAME_ANNOTATION] === undefined
            ? []
            : caches.of(DNSMasq).list(metadata.namespace).map(refOf),
      },
    ],
    async reconcile(object, { caches, children, events }) {
      if (object.metadata.deletionTimestamp !== undefined) return done();
      const { name, namespace = '' } = object.metadata;
      const hosts = namedHosts(caches.of(Service).by(annotated, namespace));
      const { dnsDataLabelSelectorValue } = object.spec;
      const metadata = { name: `${name}${SUFFIX}`, namespace };
      if (isTaken(object, metadata, { caches, events })) return wait();
      await children.apply(DNSData, { metadata, spec: { dnsDataLabelSelectorValue, hosts } }, object);
      return done();
    },
  });

const SUFFIX = '-svc';

const namedBy = ({ metadata: { namespace = '', name } }: DNSData): Ref[] =>
  name.endsWith(SUFFIX) ? [{ namespace, name: name.slice(0, -SUFFIX.length) }] : [];

const annotated = {
  kind: Service,
  keys: ({ metadata, spec }: Service): string[] =>
    spec.type === 'LoadBalancer' && metadata.annotations?.[HOST_NAME_ANNOTATION] !== undefined
      ? [metadata.namespace ?? '']
      : [],
};

/** One entry for each address, with the names of all Services that share it. An address that is no IP has no entry. */
export function namedHosts(services: readonly Service[]): DNSHost[] {
  const names = new Map<string, { address: Address; hostnames: Set<string> }>();
  for (const { metadata, status } of services) {
    for (const { ip = '' } of status?.loadBalancer?.ingress ?? []) {
      const address = Address.parse(ip);
      if (address === undefined) continue;
      const entry = names.get(address.toString()) ?? { address, hostnames: new Set() };
      names.set(address.toString(), entry);
      for (const name of hostNamesIn(metadata.annotations?.[HOST_NAME_ANNOTATION] ?? '')) entry.hostnames.add(name);
    }
  }
  return [...names.values()]
    .sort((a, b) => compareAddresses(a.address, b.address))
    .map(({ address, hostnames }) => ({ ip: address.toString(), hostnames: [...hostnames].sort() }));
}

/** One name, or several between commas or spaces. */
const hostNamesIn = (text: string): string[] => text.split(/[\s,]+/).filter((name) => name !== '');
