import type { Pod } from '../../api/core/pod.ts';
import type { Service } from '../../api/core/service.ts';
import type { Endpoint, EndpointPort } from '../../api/discovery.k8s.io/endpoint-slice.ts';
import { endpointOf, type Family, portsOf, type ZoneOf } from './pod-endpoint.ts';

/** Endpoints that can be told in the same slices: of one family, and with the same ports. */
export interface Group {
  readonly family: Family;
  readonly ports: readonly EndpointPort[];
  readonly endpoints: readonly Endpoint[];
}

export const groupKey = (family: string, ports: readonly EndpointPort[] = []): string =>
  JSON.stringify([
    family,
    ports
      .map(({ name = '', protocol = 'TCP', port = 0, appProtocol = '' }) => [name, protocol, port, appProtocol])
      .sort(),
  ]);

/** What shall be told of a Service. A family without endpoints is told as such. */
export function groupsOf(service: Service, pods: readonly Pod[], zoneOf: ZoneOf): Group[] {
  return familiesOf(service).flatMap((family) => {
    const groups = new Map<string, { family: Family; ports: EndpointPort[]; endpoints: Endpoint[] }>();
    for (const pod of [...pods].sort(byName)) {
      const endpoint = endpointOf(pod, service, family, zoneOf);
      if (endpoint === undefined) continue;
      const ports = portsOf(service, pod);
      const key = groupKey(family, ports);
      const group = groups.get(key);
      if (group === undefined) groups.set(key, { family, ports, endpoints: [endpoint] });
      else group.endpoints.push(endpoint);
    }
    return groups.size === 0 ? [{ family, ports: [], endpoints: [] }] : [...groups.values()];
  });
}

/** Services of servers that do not say so are of the older family. */
function familiesOf({ spec }: Service): readonly Family[] {
  const { ipFamilies = [] } = spec;
  return ipFamilies.length === 0 ? ['IPv4'] : ipFamilies;
}

const byName = (a: Pod, b: Pod): number =>
  a.metadata.name < b.metadata.name ? -1 : a.metadata.name > b.metadata.name ? 1 : 0;
