import { Node } from '../../api/core/node.ts';
import { Pod } from '../../api/core/pod.ts';
import { Service } from '../../api/core/service.ts';
import { EndpointSlice } from '../../api/discovery.k8s.io/endpoint-slice.ts';
import { type Controller, controller } from '../../runtime/controller.ts';
import { done, wait } from '../../runtime/outcome.ts';
import { groupsOf } from './groups.ts';
import { isSelecting, podsOf, servicesOf, servicesOn } from './selection.ts';
import { writeSlices } from './slice-writer.ts';

export const KEEPER = 'endpointslice-controller.k8s.io';
export const HEADLESS = 'service.kubernetes.io/headless';

/** On a Node, where people or the one who made it say in which part of the world it is. */
const ZONE = 'topology.kubernetes.io/zone';

/** News that are on their way for so long, in milliseconds, are looked for once more. */
const LATE = 1_000;

/** Says in EndpointSlices which pods are behind each Service, and in which state. */
export const endpointSlices = (): Controller =>
  controller({
    name: 'endpoint-slices',
    for: Service,
    owns: [EndpointSlice],
    watches: [
      { kind: Pod, wakes: servicesOf },
      { kind: Node, wakes: servicesOn },
    ],
    parallel: 16,
    async reconcile(service, { caches, client }) {
      if (!isSelecting(service) || service.metadata.deletionTimestamp !== undefined) return done();
      const about = {
        owner: service,
        service: service.metadata.name,
        managedBy: KEEPER,
        labels: labelsFor(service),
      };
      const zoneOf = (node: string): string | undefined =>
        caches.of(Node).get({ namespace: '', name: node })?.metadata.labels?.[ZONE];
      const groups = groupsOf(service, podsOf(service, caches.of(Pod)), zoneOf);
      const isSettled = await writeSlices(about, groups, { client, slices: caches.of(EndpointSlice) });
      return isSettled ? done() : wait({ after: LATE });
    },
  });

/** Those of the Service, so that its slices are found by them too. */
export function labelsFor({ metadata, spec }: Service): Record<string, string> {
  const { [HEADLESS]: _, ...labels } = metadata.labels ?? {};
  return spec.clusterIP === 'None' ? { ...labels, [HEADLESS]: '' } : labels;
}
