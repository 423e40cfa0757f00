import { Address } from '../../api/address.ts';
import { type EndpointAddress, Endpoints } from '../../api/core/endpoints.ts';
import { Service } from '../../api/core/service.ts';
import { type Endpoint, type EndpointPort, EndpointSlice } from '../../api/discovery.k8s.io/endpoint-slice.ts';
import type { Caches } from '../../runtime/cache.ts';
import { type Controller, controller } from '../../runtime/controller.ts';
import { done, wait } from '../../runtime/outcome.ts';
import { refOf } from '../../runtime/ref.ts';
import { type Group, groupKey } from './groups.ts';
import type { Family } from './pod-endpoint.ts';
import { writeSlices } from './slice-writer.ts';

const KEEPER = 'endpointslicemirroring-controller.k8s.io';
const SKIP = 'endpointslice.kubernetes.io/skip-mirror';
/** On objects that are only somebody's lock. */
const LEADER = 'control-plane.alpha.kubernetes.io/leader';

/** Of each subset so many addresses are mirrored; more than that nobody writes by hand. */
const MOST = 1_000;
const LATE = 1_000;

/** Says in EndpointSlices what people write as Endpoints for a Service that selects nothing. */
export const mirroredSlices = (): Controller =>
  controller({
    name: 'mirrored-slices',
    for: Endpoints,
    owns: [EndpointSlice],
    watches: [{ kind: Service, wakes: (service) => [refOf(service)] }],
    parallel: 4,
    async reconcile(endpoints, { caches, client }) {
      if (endpoints.metadata.deletionTimestamp !== undefined) return done();
      const { [SKIP]: _, ...labels } = endpoints.metadata.labels ?? {};
      const about = { owner: endpoints, service: endpoints.metadata.name, managedBy: KEEPER, labels };
      const groups = isMirrored(endpoints, caches) ? mirrorOf(endpoints) : [];
      const isSettled = await writeSlices(about, groups, { client, slices: caches.of(EndpointSlice) });
      return isSettled ? done() : wait({ after: LATE });
    },
  });

function isMirrored(endpoints: Endpoints, caches: Caches): boolean {
  const { labels = {}, annotations = {} } = endpoints.metadata;
  if (labels[SKIP] === 'true' || annotations[LEADER] !== undefined) return false;
  const service = caches.of(Service).get(refOf(endpoints));
  return service !== undefined && Object.keys(service.spec.selector ?? {}).length === 0;
}

export function mirrorOf({ subsets = [] }: Endpoints): Group[] {
  const groups = new Map<string, { family: Family; ports: EndpointPort[]; endpoints: Endpoint[] }>();
  for (const { addresses = [], notReadyAddresses = [], ports = [] } of subsets) {
    const all = [
      ...addresses.map((address) => ({ address, ready: true })),
      ...notReadyAddresses.map((address) => ({ address, ready: false })),
    ];
    const named = ports.map(({ name = '', protocol = 'TCP', ...rest }) => ({ name, protocol, ...rest }));
    for (const { address, ready } of all.slice(0, MOST)) {
      const family = Address.parse(address.ip)?.family === 6 ? 'IPv6' : 'IPv4';
      const key = groupKey(family, named);
      const group = groups.get(key) ?? { family, ports: named, endpoints: [] };
      groups.set(key, group);
      group.endpoints.push(endpointOf(address, ready));
    }
  }
  return [...groups.values()];
}

function endpointOf({ ip, hostname, nodeName, targetRef }: EndpointAddress, ready: boolean): Endpoint {
  return {
    addresses: [ip],
    conditions: { ready },
    ...(hostname === undefined ? {} : { hostname }),
    ...(nodeName === undefined ? {} : { nodeName }),
    ...(targetRef === undefined ? {} : { targetRef }),
  };
}
