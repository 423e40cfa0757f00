import { Address } from '../api/address.ts';
import { Namespace } from '../api/core/namespace.ts';
import type { Service } from '../api/core/service.ts';
import type { Caches } from '../runtime/cache.ts';
import type { Applicant } from './decide.ts';
import { type FamilyFault, familiesOf } from './family.ts';
import type { Register } from './register.ts';
import { termsOf, type User } from './terms.ts';
import { POOL_OF_ADDRESSES, wishesOf } from './wishes.ts';

/** Whether a Service wants an address from us. Those with a class that is not ours are served by somebody else. */
export const isServed = ({ spec }: Service, loadBalancerClass: string): boolean =>
  spec.type === 'LoadBalancer' && (spec.loadBalancerClass ?? '') === loadBalancerClass;

export const poolAnnotation = ({ metadata: { annotations = {} } }: Service): string | undefined =>
  Object.hasOwn(annotations, POOL_OF_ADDRESSES) ? annotations[POOL_OF_ADDRESSES] : undefined;

/** The addresses that the status of a Service says. */
export const ingressOf = ({ status }: Service): Address[] =>
  (status?.loadBalancer?.ingress ?? []).flatMap(({ ip = '' }) => Address.parse(ip) ?? []);

export const userOf = (service: Service): User => ({
  namespace: service.metadata.namespace ?? '',
  name: service.metadata.name,
  uid: service.metadata.uid,
  terms: termsOf(service, wishesOf(service).sharingKey),
});

export function applicantOf(service: Service, caches: Caches, register: Register): Applicant | FamilyFault {
  const families = familiesOf(service);
  if (typeof families === 'string') return families;
  const user = userOf(service);
  const ingress = ingressOf(service);
  return {
    user,
    client: {
      namespace: user.namespace,
      labels: service.metadata.labels ?? {},
      namespaceLabels: caches.of(Namespace).get({ namespace: '', name: user.namespace })?.metadata.labels ?? {},
    },
    families,
    wishes: wishesOf(service),
    current: ingress.length > 0 ? ingress : register.of(user.uid).map(({ address }) => address),
    isTold: ingress.length > 0,
  };
}
