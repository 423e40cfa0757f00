import { Address } from '../../api/address.ts';
import type { Service, ServicePort } from '../../api/core/service.ts';
import type { EndpointSlice } from '../../api/discovery.k8s.io/endpoint-slice.ts';
import { type Backend, candidatesOf, chosenOf, isProxied, type Viewpoint } from './backends.ts';

export type Family = 'IPv4' | 'IPv6';

/** Among whom connections are spread. */
export interface Choice {
  readonly family: Family;
  readonly protocol: string;
  readonly backends: readonly Backend[];
  /** The same client comes to the same backend, as long as these stay the same. */
  readonly byClient: boolean;
}

/** Where packets enter a Service. Whoever comes from outside of the cluster is treated differently. */
export interface Entry {
  readonly family: Family;
  readonly protocol: string;
  /** `10.96.0.10`; none for a port of the host. */
  readonly address?: string;
  readonly port: number;
  readonly kind: 'cluster' | 'outside' | 'node-port';
  readonly choice: string;
  /** With externalTrafficPolicy Local: the choice among backends of this host, the only ones who come from outside reach. */
  readonly localChoice?: string;
}

/** What one Service needs of the kernel. */
export interface ServiceRules {
  readonly choices: ReadonlyMap<string, Choice>;
  readonly entries: readonly Entry[];
}

export const NO_RULES: ServiceRules = { choices: new Map(), entries: [] };

export function rulesOf(service: Service, slices: readonly EndpointSlice[], from: Viewpoint): ServiceRules {
  if (!isProxied(service)) return NO_RULES;
  const choices = new Map<string, Choice>();
  const entries: Entry[] = [];
  for (const port of service.spec.ports ?? []) {
    for (const family of familiesOf(service)) addPort(service, port, family, slices, from, choices, entries);
  }
  return { choices, entries };
}

function addPort(
  { metadata, spec, status }: Service,
  port: ServicePort,
  family: Family,
  slices: readonly EndpointSlice[],
  from: Viewpoint,
  choices: Map<string, Choice>,
  entries: Entry[],
): void {
  const protocol = PROTOCOLS[port.protocol ?? 'TCP'];
  if (protocol === undefined || !Number.isInteger(port.port)) return;
  const byClient = spec.sessionAffinity === 'ClientIP';
  const candidates = candidatesOf(slices, port, family, from);
  const all = chosenOf(candidates);
  // By itself: where this host alone is asked, its pods that end go on although others elsewhere are ready.
  const local = chosenOf(candidates.filter(({ backend }) => backend.isLocal));
  const id = `${metadata.namespace}/${metadata.name}:${port.name ?? ''}/${protocol}/${family}`;
  const choose = (name: string, backends: readonly Backend[]): string => {
    choices.set(name, { family, protocol, backends, byClient });
    return name;
  };
  const everywhere = choose(id, all);
  const here = choose(`${id}/local`, local);
  const inside = spec.internalTrafficPolicy === 'Local' ? here : everywhere;
  const enter = (address: string, rest: Pick<Entry, 'kind' | 'choice' | 'localChoice'>): void => {
    const parsed = Address.parse(address);
    if (parsed?.family !== (family === 'IPv4' ? 4 : 6)) return;
    entries.push({ family, protocol, address: parsed.toString(), port: port.port, ...rest });
  };
  for (const address of clusterAddresses(spec)) enter(address, { kind: 'cluster', choice: inside });
  const outside = spec.externalTrafficPolicy === 'Local' ? { localChoice: here } : {};
  for (const { ip = '' } of status?.loadBalancer?.ingress ?? []) {
    enter(ip, { kind: 'outside', choice: everywhere, ...outside });
  }
  if (port.nodePort !== undefined && port.nodePort > 0) {
    entries.push({ family, protocol, port: port.nodePort, kind: 'node-port', choice: everywhere, ...outside });
  }
}

const PROTOCOLS: Readonly<Record<string, string>> = { TCP: 'tcp', UDP: 'udp', SCTP: 'sctp' };

const clusterAddresses = ({ clusterIP = '', clusterIPs = [clusterIP] }: Service['spec']): string[] =>
  clusterIPs.filter((address) => address !== '' && address !== 'None');

function familiesOf({ spec }: Service): Family[] {
  const families = clusterAddresses(spec).map((address): Family => (address.includes(':') ? 'IPv6' : 'IPv4'));
  return [...new Set(families)];
}
