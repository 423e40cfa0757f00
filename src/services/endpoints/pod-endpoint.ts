import { Address } from '../../api/address.ts';
import type { Container, Pod } from '../../api/core/pod.ts';
import type { Service, ServicePort } from '../../api/core/service.ts';
import type { Endpoint, EndpointPort } from '../../api/discovery.k8s.io/endpoint-slice.ts';

export type Family = 'IPv4' | 'IPv6';

export const isReady = ({ status }: Pod): boolean =>
  status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true;

export const isEnding = ({ metadata }: Pod): boolean => metadata.deletionTimestamp !== undefined;

/** A pod whose containers have ended for good answers nobody, whatever it was. */
export const hasEnded = ({ status }: Pod): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed';

export function addressOf({ status }: Pod, family: Family): string | undefined {
  const addresses = status?.podIPs?.map(({ ip }) => ip) ?? (status?.podIP === undefined ? [] : [status.podIP]);
  return addresses.find((address) => Address.parse(address)?.family === (family === 'IPv4' ? 4 : 6));
}

/** The name under which the pod is found below a headless Service. */
export const hostnameOf = ({ metadata, spec }: Pod, service: Service): string | undefined =>
  spec.hostname !== undefined &&
  spec.hostname !== '' &&
  spec.subdomain === service.metadata.name &&
  metadata.namespace === service.metadata.namespace
    ? spec.hostname
    : undefined;

/** In which zone a node is, by its name; undefined when it says nothing. */
export type ZoneOf = (node: string) => string | undefined;

/** A pod as one endpoint of a Service; nothing as long as it has no address of the family. */
export function endpointOf(pod: Pod, service: Service, family: Family, zoneOf: ZoneOf): Endpoint | undefined {
  const address = addressOf(pod, family);
  if (address === undefined || hasEnded(pod)) return undefined;
  const serving = isReady(pod);
  const terminating = isEnding(pod);
  const ready = service.spec.publishNotReadyAddresses === true || (serving && !terminating);
  const hostname = hostnameOf(pod, service);
  const { nodeName = '' } = pod.spec;
  const zone = zoneOf(nodeName);
  const { namespace = '', name, uid } = pod.metadata;
  return {
    addresses: [address],
    conditions: { ready, serving, terminating },
    ...(hostname === undefined ? {} : { hostname }),
    ...(nodeName === '' ? {} : { nodeName }),
    ...(zone === undefined ? {} : { zone }),
    targetRef: { kind: 'Pod', namespace, name, uid },
  };
}

/** The ports of a Service as this pod has them: a name may mean another number in each pod, or none. */
export const portsOf = (service: Service, pod: Pod): EndpointPort[] =>
  (service.spec.ports ?? []).flatMap((port) => {
    const number = numberOf(port, pod);
    if (number === undefined) return [];
    const { name = '', protocol = 'TCP', appProtocol } = port;
    return [{ name, protocol, port: number, ...(appProtocol === undefined ? {} : { appProtocol }) }];
  });

function numberOf({ port, targetPort = port, protocol = 'TCP' }: ServicePort, pod: Pod): number | undefined {
  if (typeof targetPort === 'number') return targetPort === 0 ? port : targetPort;
  const sidecars = (pod.spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  return [...pod.spec.containers, ...sidecars]
    .flatMap(({ ports = [] }: Container) => ports)
    .find((each) => each.name === targetPort && (each.protocol ?? 'TCP') === protocol)?.containerPort;
}
