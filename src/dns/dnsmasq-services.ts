import type { Service, ServicePort, ServiceSpec } from '../api/core/service.ts';
import type { DNSMasq, ExternalEndpoint } from '../api/network.openstack.org/dnsmasq.ts';
import type { Applied } from '../runtime/draft.ts';
import { DNS_PORT } from './dnsmasq-workload.ts';
import { childName, labelsOf, podLabels } from './names.ts';

/**
 * Where a DNSMasq is reached. The newer form lays `override.service` over one Service; the former one has a Service for each
 * of its `externalEndpoints`. Where both are given, the newer one counts.
 */
export function servicesOf(dnsMasq: DNSMasq): Applied<Service>[] {
  const { override, externalEndpoints = [] } = dnsMasq.spec;
  if (override?.service === undefined && externalEndpoints.length > 0) {
    return externalEndpoints.map((endpoint, i) => serviceOf(dnsMasq, endpoint, nameOf(dnsMasq, externalEndpoints, i)));
  }
  const { metadata, spec } = override?.service ?? {};
  const base = serviceNamed(dnsMasq, childName(dnsMasq));
  return [
    {
      metadata: {
        ...base.metadata,
        labels: { ...base.metadata.labels, ...metadata?.labels },
        annotations: { ...base.metadata.annotations, ...metadata?.annotations },
      },
      spec: { ...base.spec, ...spec },
    },
  ];
}

/** That of the pool; who asks one pool for several addresses gets a number for each further one. */
function nameOf(dnsMasq: DNSMasq, endpoints: readonly ExternalEndpoint[], index: number): string {
  const pool = endpoints[index]?.ipAddressPool ?? '';
  const before = endpoints.slice(0, index).filter(({ ipAddressPool }) => ipAddressPool === pool).length;
  return `${childName(dnsMasq)}-${pool}${before === 0 ? '' : `-${before + 1}`}`;
}

function serviceOf(dnsMasq: DNSMasq, endpoint: ExternalEndpoint, name: string): Applied<Service> {
  const { ipAddressPool: pool, loadBalancerIPs, sharedIP, sharedIPKey } = endpoint;
  const base = serviceNamed(dnsMasq, name);
  const annotations: Record<string, string> = {
    ...base.metadata.annotations,
    'metallb.universe.tf/address-pool': pool,
    ...(loadBalancerIPs.length === 0 ? {} : { 'metallb.universe.tf/loadBalancerIPs': loadBalancerIPs.join(',') }),
    ...(sharedIP ? { 'metallb.universe.tf/allow-shared-ip': sharedIPKey === '' ? pool : sharedIPKey } : {}),
  };
  return { metadata: { ...base.metadata, annotations }, spec: { ...base.spec, type: 'LoadBalancer' } };
}

interface Base {
  metadata: {
    name: string;
    namespace: string;
    labels: Record<string, string>;
    annotations: Record<string, string>;
  };
  spec: ServiceSpec;
}

function serviceNamed(dnsMasq: DNSMasq, name: string): Base {
  const { namespace = '' } = dnsMasq.metadata;
  return {
    metadata: {
      name,
      namespace,
      labels: { ...labelsOf(dnsMasq), service: 'dnsmasq' },
      annotations: { 'core.openstack.org/ingress_create': 'false' },
    },
    spec: {
      selector: podLabels(dnsMasq),
      ports: [port('dnsmasq', 'UDP'), port('dnsmasq-tcp', 'TCP')],
    },
  };
}

const port = (name: string, protocol: 'UDP' | 'TCP'): ServicePort => ({
  name,
  protocol,
  port: 53,
  targetPort: DNS_PORT,
});
