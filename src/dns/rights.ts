import { Deployment } from '../api/apps/workloads.ts';
import { ConfigMap, ServiceAccount } from '../api/core/config.ts';
import { Pod } from '../api/core/pod.ts';
import { Service } from '../api/core/service.ts';
import { DNSData } from '../api/network.openstack.org/dnsdata.ts';
import { DNSMasq } from '../api/network.openstack.org/dnsmasq.ts';
import { IPSet } from '../api/network.openstack.org/ipset.ts';
import { Role, RoleBinding } from '../api/rbac.authorization.k8s.io/role.ts';
import { Topology } from '../api/topology.openstack.org/topology.ts';
import { may, mayBlockDeletion, mayHear, type Right } from '../runtime/right.ts';
import { HELPER_READS } from './dnsmasq-children.ts';

export const dnsRights: readonly Right[] = [
  ...mayHear(DNSMasq, DNSData, Topology, IPSet, Service, Pod),
  ...mayHear(ServiceAccount, Role, RoleBinding, ConfigMap, Deployment),
  ...may('patch', [DNSMasq, DNSData], 'status'),
  // Patches put on finalizers and take them off.
  ...may('get patch', [DNSMasq, DNSData]),
  // To apply what is not there takes both.
  ...may('create patch', [ServiceAccount, Role, RoleBinding, Deployment]),
  ...may('create patch delete', [DNSData, ConfigMap, Service]),
  ...mayBlockDeletion(DNSMasq, DNSData),
  // Nobody hands out what he does not hold, and the helper beside each dnsmasq is given this.
  ...may(HELPER_READS.join(' '), [ConfigMap]),
];
