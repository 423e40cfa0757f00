import { definitions } from './apiextensions/definition.ts';
import { deployments } from './apps/deployment.ts';
import type { BuiltinKind } from './builtin-kind.ts';
import { signingRequests } from './certificates/signing-request.ts';
import { leases } from './coordination/lease.ts';
import { configMaps } from './core/configmap.ts';
import { events, newEvents } from './core/event.ts';
import { namespaces } from './core/namespace.ts';
import { nodes } from './core/node.ts';
import { pods } from './core/pod.ts';
import { secrets } from './core/secret.ts';
import { services } from './core/service.ts';
import { serviceAccounts } from './core/service-account.ts';
import { clusterRoleBindings, roleBindings } from './rbac/role-bindings.ts';
import { clusterRoles, roles } from './rbac/roles.ts';
import { reviews } from './reviews/reviews.ts';

/** Every built-in kind. Another one is another entry here; then `tools/builtin-data.ts` adds what is published about it. */
export const builtinKinds: readonly BuiltinKind[] = [
  configMaps,
  events,
  namespaces,
  nodes,
  pods,
  secrets,
  serviceAccounts,
  services,
  deployments,
  definitions,
  leases,
  newEvents,
  signingRequests,
  roles,
  clusterRoles,
  roleBindings,
  clusterRoleBindings,
  ...reviews,
];
