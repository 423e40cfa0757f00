import { Deployment } from '../api/apps/workloads.ts';
import { ConfigMap, ServiceAccount } from '../api/core/config.ts';
import { Service } from '../api/core/service.ts';
import type { Kind } from '../api/kind.ts';
import type { DNSMasq } from '../api/network.openstack.org/dnsmasq.ts';
import { Role, RoleBinding } from '../api/rbac.authorization.k8s.io/role.ts';
import type { Applied } from '../runtime/draft.ts';
import { servicesOf } from './dnsmasq-services.ts';
import { workloadOf } from './dnsmasq-workload.ts';
import { childName, labelsOf } from './names.ts';
import { optionLines, optionsOf } from './options.ts';
import type { Placement } from './placement.ts';

/** Everything that is made for a DNSMasq. */
export interface Children {
  readonly account: Applied<ServiceAccount>;
  readonly role: Applied<Role>;
  readonly binding: Applied<RoleBinding>;
  /** For people to read: the pods are told the same by themselves. */
  readonly options: Applied<ConfigMap>;
  readonly services: readonly Applied<Service>[];
  readonly workload: Applied<Deployment>;
}

/** Which names they have, in the order in which the pods need them. */
export const namesOf = (children: Children): readonly { readonly kind: Kind; readonly name: string }[] => [
  { kind: ServiceAccount, name: children.account.metadata.name },
  { kind: Role, name: children.role.metadata.name },
  { kind: RoleBinding, name: children.binding.metadata.name },
  { kind: ConfigMap, name: children.options.metadata.name },
  ...children.services.map(({ metadata }) => ({ kind: Service, name: metadata.name })),
  { kind: Deployment, name: children.workload.metadata.name },
];

/** All that the helper does with ConfigMaps is to read hosts. */
export const HELPER_READS = ['get', 'list', 'watch'];

export function childrenOf(dnsMasq: DNSMasq, helperImage: string, placement: Placement = {}): Children {
  const { name, namespace = '' } = dnsMasq.metadata;
  const labels = labelsOf(dnsMasq);
  const account = childName(dnsMasq);
  const role = `${account}-role`;
  return {
    account: { metadata: { name: account, namespace, labels } },
    role: {
      metadata: { name: role, namespace, labels },
      rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: HELPER_READS }],
    },
    binding: {
      metadata: { name: `${account}-rolebinding`, namespace, labels },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: role },
      subjects: [{ kind: 'ServiceAccount', name: account, namespace }],
    },
    options: {
      metadata: { name: name.toLowerCase(), namespace, labels },
      data: { [name]: optionLines(optionsOf(dnsMasq)) },
    },
    services: servicesOf(dnsMasq),
    workload: workloadOf(dnsMasq, helperImage, placement),
  };
}
