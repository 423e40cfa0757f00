import { definitions } from './apiextensions/definition.ts';
import { controllerRevisions } from './apps/controller-revision.ts';
import { daemonSets } from './apps/daemon-set.ts';
import { deployments } from './apps/deployment.ts';
import { replicaSets } from './apps/replica-set.ts';
import { statefulSets } from './apps/stateful-set.ts';
import type { BuiltinKind } from './builtin-kind.ts';
import { signingRequests } from './certificates/signing-request.ts';
import { leases } from './coordination/lease.ts';
import { configMaps } from './core/configmap.ts';
import { endpoints } from './core/endpoints.ts';
import { events, newEvents } from './core/event.ts';
import { namespaces } from './core/namespace.ts';
import { nodes } from './core/node.ts';
import { pods } from './core/pod.ts';
import { podTemplates } from './core/pod-template.ts';
import { secrets } from './core/secret.ts';
import { services } from './core/service.ts';
import { serviceAccounts } from './core/service-account.ts';
import { endpointSlices } from './discovery/endpoint-slice.ts';
import { podDisruptionBudgets } from './policy/pod-disruption-budget.ts';
import { clusterRoleBindings, roleBindings } from './rbac/role-bindings.ts';
import { clusterRoles, roles } from './rbac/roles.ts';
import { reviews } from './reviews/reviews.ts';
import { priorityClasses } from './scheduling/priority-class.ts';

/** Every built-in kind. Another one is another entry here; then `tools/builtin-data.ts` adds what is published about it. */
export const builtinKinds: readonly BuiltinKind[] = [
  configMaps,
  endpoints,
  events,
  namespaces,
  nodes,
  pods,
  podTemplates,
  secrets,
  serviceAccounts,
  services,
  controllerRevisions,
  daemonSets,
  deployments,
  replicaSets,
  statefulSets,
  definitions,
  leases,
  endpointSlices,
  newEvents,
  signingRequests,
  roles,
  clusterRoles,
  roleBindings,
  clusterRoleBindings,
  podDisruptionBudgets,
  priorityClasses,
  ...reviews,
];
