import type { PodSpec, TopologySpreadConstraint } from '../api/core/pod.ts';
import { DNSMasq } from '../api/network.openstack.org/dnsmasq.ts';
import { Topology } from '../api/topology.openstack.org/topology.ts';
import type { Caches } from '../runtime/cache.ts';
import { type Ref, refOf } from '../runtime/ref.ts';

/** Where the pods of a DNSMasq go: as the Topology says that it refers to, if any. */
export interface Placement {
  readonly topology?: Topology;
  /** Why nobody knows. Pods that are there stay where they are. */
  readonly fault?: string;
}

export function placementOf(dnsMasq: DNSMasq, caches: Caches): Placement {
  const ref = topologyOf(dnsMasq);
  if (ref === undefined) return {};
  const topology = caches.of(Topology).get(ref);
  if (topology !== undefined) return { topology };
  return { fault: `there is no Topology ${ref.name} in this namespace: create it, or change spec.topologyRef` };
}

/** Those whose pods go where this one says. */
export const placedBy = ({ metadata }: Topology, caches: Caches): Ref[] =>
  caches
    .of(DNSMasq)
    .list(metadata.namespace)
    .filter((dnsMasq) => topologyOf(dnsMasq)?.name === metadata.name)
    .map(refOf);

export const topologyOf = ({ metadata, spec: { topologyRef } }: DNSMasq): Ref | undefined =>
  topologyRef?.name === undefined || topologyRef.name === ''
    ? undefined
    : { namespace: metadata.namespace ?? '', name: topologyRef.name };

export function inPodSpec(
  { topology }: Placement,
  labels: Record<string, string>,
): Pick<PodSpec, 'topologySpreadConstraints' | 'affinity'> {
  const own = ownPods(labels);
  if (topology === undefined) return { topologySpreadConstraints: [{ ...APART, ...own }] };
  const { topologySpreadConstraints = [], affinity } = topology.spec;
  return {
    topologySpreadConstraints: topologySpreadConstraints.map((each) =>
      each.labelSelector === undefined ? { ...own, ...each } : each,
    ),
    ...(affinity === undefined ? {} : { affinity }),
  };
}

/** Each on a host of its own where there are enough. */
const APART = {
  maxSkew: 1,
  topologyKey: 'kubernetes.io/hostname',
  whenUnsatisfiable: 'ScheduleAnyway',
} as const satisfies TopologySpreadConstraint;

/** Those that a roll is about to end do not count: they leave no gap there, and keep nobody out. */
const ownPods = (matchLabels: Record<string, string>) => ({
  labelSelector: { matchLabels },
  matchLabelKeys: ['pod-template-hash'],
});
