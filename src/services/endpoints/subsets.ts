import type { EndpointAddress, EndpointSubset } from '../../api/core/endpoints.ts';
import type { Pod } from '../../api/core/pod.ts';
import type { Service } from '../../api/core/service.ts';
import { groupKey } from './groups.ts';
import { addressOf, hasEnded, hostnameOf, isEnding, isReady, portsOf } from './pod-endpoint.ts';

/** What one object can tell. EndpointSlices tell them all. */
const MOST = 1_000;

export interface Subsets {
  readonly subsets: EndpointSubset[];
  readonly isTruncated: boolean;
}

/** The pods of a Service in the older form: of its first family, and without those that are about to end. */
export function subsetsOf(service: Service, pods: readonly Pod[]): Subsets {
  const family = service.spec.ipFamilies?.[0] ?? 'IPv4';
  const isForAll = service.spec.publishNotReadyAddresses === true;
  const found = pods.flatMap((pod) => {
    const ip = addressOf(pod, family);
    if (ip === undefined || hasEnded(pod) || (isEnding(pod) && !isForAll)) return [];
    const ports = portsOf(service, pod);
    const isPortless = service.spec.clusterIP === 'None' && (service.spec.ports ?? []).length === 0;
    if (ports.length === 0 && !isPortless) return [];
    return [{ address: addressIn(pod, service, ip), ports, ready: isForAll || isReady(pod) }];
  });
  found.sort((a, b) => Number(b.ready) - Number(a.ready) || (a.address.ip < b.address.ip ? -1 : 1));
  const groups = Map.groupBy(found.slice(0, MOST), ({ ports }) => groupKey('', ports));
  const subsets = [...groups]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, members]): EndpointSubset => {
      const addresses = members.filter(({ ready }) => ready).map(({ address }) => address);
      const others = members.filter(({ ready }) => !ready).map(({ address }) => address);
      const ports = (members[0]?.ports ?? []).flatMap(({ name = '', port, protocol = 'TCP', appProtocol }) =>
        port === undefined
          ? []
          : [
              {
                ...(name === '' ? {} : { name }),
                port,
                protocol,
                ...(appProtocol === undefined ? {} : { appProtocol }),
              },
            ],
      );
      return {
        ...(addresses.length === 0 ? {} : { addresses }),
        ...(others.length === 0 ? {} : { notReadyAddresses: others }),
        ...(ports.length === 0 ? {} : { ports }),
      };
    });
  return { subsets, isTruncated: found.length > MOST };
}

function addressIn(pod: Pod, service: Service, ip: string): EndpointAddress {
  const { nodeName = '' } = pod.spec;
  const hostname = hostnameOf(pod, service);
  const { namespace = '', name, uid } = pod.metadata;
  return {
    ip,
    ...(hostname === undefined ? {} : { hostname }),
    ...(nodeName === '' ? {} : { nodeName }),
    targetRef: { kind: 'Pod', namespace, name, uid },
  };
}
