import { ControllerRevision, Deployment, ReplicaSet, StatefulSet } from '../api/apps/workloads.ts';
import { Namespace } from '../api/core/namespace.ts';
import { Node } from '../api/core/node.ts';
import { Pod } from '../api/core/pod.ts';
import { AddressBlock } from '../api/netloom.io/address-block.ts';
import { PodDisruptionBudget } from '../api/policy/pod-disruption-budget.ts';
import { Lease } from '../runtime/builtin.ts';
import { may, mayBlockDeletion, mayHear, type Right } from '../runtime/right.ts';
import { LEASE_NAMESPACE } from './nodes/health.controller.ts';

export const podsRights: readonly Right[] = [
  ...mayHear(Pod, Node, Namespace, Deployment, ReplicaSet, StatefulSet, ControllerRevision, PodDisruptionBudget),
  ...may('patch', [Pod, Node, Deployment, ReplicaSet, StatefulSet, PodDisruptionBudget], 'status'),
  // Ranges and taints of nodes.
  ...may('get patch', [Node]),
  ...may('get list watch', [Lease]).map((right) => ({ ...right, namespace: LEASE_NAMESPACE })),
  ...may('create', [Pod], 'binding'),
  ...may('get', [Deployment, StatefulSet]),
  ...may('get create patch delete', [ReplicaSet, ControllerRevision, Pod]),
  ...mayBlockDeletion(Deployment, ReplicaSet, StatefulSet),
  // Who has which range of addresses for its pods.
  ...may('list watch create delete', [AddressBlock]),
];
