import type { Affinity, TopologySpreadConstraint } from '../core/pod.ts';
import { type Declared, defineKind } from '../kind.ts';
import { object, optional, type Shape } from '../shape.ts';

/** As in the specification of a pod: who makes pods of it is told what is wrong with it. */
const ofPods = 'x-kubernetes-preserve-unknown-fields';
const constraintsShape: Shape<TopologySpreadConstraint[]> = {
  schema: {
    type: 'array',
    description:
      'How pods are spread over parts of the cluster. One without a labelSelector is about the pods that refer to it.',
    items: { type: 'object', [ofPods]: true },
  },
};
const affinityShape: Shape<Affinity> = {
  schema: { type: 'object', description: 'Which nodes and neighbours pods want, and which not.', [ofPods]: true },
};

/** Where the pods of those go that refer to it. */
export const Topology = defineKind({
  group: 'topology.openstack.org',
  version: 'v1beta1',
  kind: 'Topology',
  plural: 'topologies',
  scope: 'Namespaced',
  description: 'Where pods go, for those that refer to it.',
  spec: object({ topologySpreadConstraints: optional(constraintsShape), affinity: optional(affinityShape) }),
});
export type Topology = Declared<{ topologySpreadConstraints?: TopologySpreadConstraint[]; affinity?: Affinity }, never>;
