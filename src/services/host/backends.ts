import { Address } from '../../api/address.ts';
import type { Service, ServicePort } from '../../api/core/service.ts';
import type { EndpointSlice } from '../../api/discovery.k8s.io/endpoint-slice.ts';

/** Where connections to one port of a Service may go. */
export interface Backend {
  readonly address: string;
  readonly port: number;
  /** Whether it is on this host. */
  readonly isLocal: boolean;
}

/**
 * The endpoints that take connections: those that are ready; where none is, those that still serve while they end, so that a
 * Service whose last pods are being replaced answers on.
 */
export function backendsOf(
  slices: readonly EndpointSlice[],
  port: ServicePort,
  family: 'IPv4' | 'IPv6',
  host: string,
): Backend[] {
  const ready = new Map<string, Backend>();
  const ending = new Map<string, Backend>();
  for (const slice of slices) {
    if (slice.addressType !== family) continue;
    const target = slice.ports?.find(
      ({ name = '', protocol = 'TCP' }) => name === (port.name ?? '') && protocol === (port.protocol ?? 'TCP'),
    );
    if (target?.port === undefined) continue;
    for (const { addresses, conditions = {}, nodeName } of slice.endpoints) {
      // Parsed, because it will be words of a script that root runs.
      const address = Address.parse(addresses[0] ?? '')?.toString();
      if (address === undefined || !Number.isInteger(target.port)) continue;
      const backend = { address, port: target.port, isLocal: nodeName === host };
      const key = `${address} ${target.port}`;
      if (conditions.ready ?? true) ready.set(key, backend);
      else if (conditions.serving === true && conditions.terminating === true) ending.set(key, backend);
    }
  }
  return [...(ready.size > 0 ? ready : ending).values()].sort(byAddress);
}

/** Every host makes the same list of the same endpoints. */
const byAddress = (a: Backend, b: Backend): number =>
  a.address < b.address ? -1 : a.address > b.address ? 1 : a.port - b.port;

/** A Service without an address of its own, or one that stands for a name elsewhere, is not proxied. */
export const isProxied = ({ spec }: Service): boolean =>
  spec.type !== 'ExternalName' && spec.clusterIP !== undefined && spec.clusterIP !== '' && spec.clusterIP !== 'None';
