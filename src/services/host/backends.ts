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

/** An endpoint that may take connections. */
export interface Candidate {
  readonly backend: Backend;
  /** Ends already, but still serves. */
  readonly isEnding: boolean;
  /** Whether its host does not answer, seen from here. */
  readonly isSilent: boolean;
}

/** This host, and what it knows of others. */
export interface Viewpoint {
  /** The name of the Node. */
  readonly host: string;
  readonly isSilent: (host: string) => boolean;
}

/** The endpoints of a port that take connections at all. */
export function candidatesOf(
  slices: readonly EndpointSlice[],
  port: ServicePort,
  family: 'IPv4' | 'IPv6',
  { host, isSilent }: Viewpoint,
): Candidate[] {
  const found = new Map<string, Candidate>();
  for (const slice of slices) {
    if (slice.addressType !== family) continue;
    const target = slice.ports?.find(
      ({ name = '', protocol = 'TCP' }) => name === (port.name ?? '') && protocol === (port.protocol ?? 'TCP'),
    );
    if (target?.port === undefined) continue;
    for (const { addresses, conditions = {}, nodeName } of slice.endpoints) {
      // Parsed, because it will be words of a script that root runs.
      const parsed = Address.parse(addresses[0] ?? '');
      if (parsed?.family !== (family === 'IPv4' ? 4 : 6) || !isPort(target.port)) continue;
      const address = parsed.toString();
      const isReady = conditions.ready ?? true;
      if (!isReady && !(conditions.serving === true && conditions.terminating === true)) continue;
      const key = `${address} ${target.port}`;
      // Moving from one slice to another it is in both for a moment, and ready in one of them.
      if (!isReady && found.has(key)) continue;
      found.set(key, {
        backend: { address, port: target.port, isLocal: nodeName === host },
        isEnding: !isReady,
        isSilent: nodeName !== undefined && nodeName !== host && isSilent(nodeName),
      });
    }
  }
  return [...found.values()];
}

/**
 * Those that are ready, without those on silent hosts; where there is none, those that still serve while they end, so that a
 * Service whose last pods are being replaced answers on; where all hosts are silent, it may be we who hear nothing.
 */
export function chosenOf(candidates: readonly Candidate[]): Backend[] {
  const wishes: ((candidate: Candidate) => boolean)[] = [
    ({ isEnding, isSilent }) => !isEnding && !isSilent,
    ({ isSilent }) => !isSilent,
    ({ isEnding }) => !isEnding,
    () => true,
  ];
  for (const wish of wishes) {
    const chosen = candidates.filter(wish);
    if (chosen.length > 0) return chosen.map(({ backend }) => backend).sort(byAddress);
  }
  return [];
}

const isPort = (port: number): boolean => Number.isInteger(port) && port > 0 && port < 65_536;

/** Every host makes the same list of the same endpoints. */
const byAddress = (a: Backend, b: Backend): number =>
  a.address < b.address ? -1 : a.address > b.address ? 1 : a.port - b.port;

/** A Service without an address of its own, or one that stands for a name elsewhere, is not proxied. */
export const isProxied = ({ spec }: Service): boolean =>
  spec.type !== 'ExternalName' && spec.clusterIP !== undefined && spec.clusterIP !== '' && spec.clusterIP !== 'None';
