import { Service, type ServiceSpec } from '../../api/core/service.ts';
import { type Endpoint, EndpointSlice, SERVICE_NAME } from '../../api/discovery.k8s.io/endpoint-slice.ts';
import type { ObjectMeta } from '../../api/object.ts';
import { ObjectCache } from '../../runtime/cache.ts';

/** Services and endpoints as an agent has heard of them. */
export class Cluster {
  readonly services = new ObjectCache<Service>();
  readonly slices = new ObjectCache<EndpointSlice>();

  service(name: string, spec: Partial<ServiceSpec>, status: Service['status'] = {}): Service {
    const service = serviceOf(name, spec, status);
    this.services.set(service);
    return service;
  }

  endpoints(
    service: string,
    endpoints: Endpoint[],
    ports: EndpointSlice['ports'] = [{ name: '', port: 8080 }],
  ): EndpointSlice {
    const slice = sliceOf(service, endpoints, ports);
    this.slices.set(slice);
    return slice;
  }
}

export const serviceOf = (name: string, spec: Partial<ServiceSpec>, status: Service['status'] = {}): Service => ({
  apiVersion: 'v1',
  kind: Service.kind,
  metadata: metadataOf(name),
  spec: { type: 'ClusterIP', ports: [{ port: 80 }], ...spec },
  status,
});

export const sliceOf = (
  service: string,
  endpoints: Endpoint[],
  ports: EndpointSlice['ports'] = [{ name: '', port: 8080 }],
): EndpointSlice => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: EndpointSlice.kind,
  metadata: { ...metadataOf(`${service}-1`), labels: { [SERVICE_NAME]: service } },
  addressType: endpoints[0]?.addresses[0]?.includes(':') === true ? 'IPv6' : 'IPv4',
  endpoints,
  ports,
});

const metadataOf = (name: string): ObjectMeta => ({
  name,
  namespace: 'openstack',
  uid: `uid-of-${name}`,
  resourceVersion: '1',
  creationTimestamp: '2026-01-01T00:00:00Z',
});
