import { Address } from '../../api/address.ts';
import type { Service, ServicePort, ServiceSpec } from '../../api/core/service.ts';
import type { EndpointSlice } from '../../api/discovery.k8s.io/endpoint-slice.ts';
import { Prefix } from '../../api/prefix.ts';
import { type Backend, candidatesOf, chosenOf, isProxied, type Viewpoint } from './backends.ts';
import type { Health } from './health-checks.ts';

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
  /** Networks, none within another: who comes from elsewhere is not let in. */
  readonly sources?: readonly string[];
}

/** What one Service needs of the kernel. */
export interface ServiceRules {
  /** When the Service was made: of two that claim the same entry the elder has it, on every host. */
  readonly since: string;
  readonly choices: ReadonlyMap<string, Choice>;
  readonly entries: readonly Entry[];
  /** Balancers elsewhere ask at this port of the host whether it has backends of its own. */
  readonly health?: Health;
}

export const NO_RULES: ServiceRules = { since: '', choices: new Map(), entries: [] };

export function rulesOf(service: Service, slices: readonly EndpointSlice[], from: Viewpoint): ServiceRules {
  if (!isProxied(service)) return NO_RULES;
  const choices = new Map<string, Choice>();
  const entries: Entry[] = [];
  for (const port of service.spec.ports ?? []) {
    for (const family of familiesOf(service)) addPort(service, port, family, slices, from, choices, entries);
  }
  const health = healthOf(service, slices, from);
  const since = service.metadata.creationTimestamp ?? '';
  return { since, choices, entries, ...(health === undefined ? {} : { health }) };
}

/** Those that end are not counted: nobody new is to be sent here for them. */
function healthOf({ spec }: Service, slices: readonly EndpointSlice[], { host }: Viewpoint): ServiceRules['health'] {
  const { type, externalTrafficPolicy, healthCheckNodePort: port = 0 } = spec;
  if (type !== 'LoadBalancer' || externalTrafficPolicy !== 'Local' || port === 0) return undefined;
  const here = slices
    .flatMap(({ endpoints }) => endpoints)
    .filter(({ nodeName, conditions }) => nodeName === host && (conditions?.ready ?? true));
  return { port, backends: new Set(here.map(({ targetRef, addresses }) => targetRef?.uid ?? addresses[0])).size };
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
  const enter = (address: string, rest: Pick<Entry, 'kind' | 'choice' | 'localChoice' | 'sources'>): void => {
    const parsed = Address.parse(address);
    if (parsed?.family !== (family === 'IPv4' ? 4 : 6)) return;
    entries.push({ family, protocol, address: parsed.toString(), port: port.port, ...rest });
  };
  for (const address of clusterAddresses(spec)) enter(address, { kind: 'cluster', choice: inside });
  const outside = spec.externalTrafficPolicy === 'Local' ? { localChoice: here } : {};
  const sources = sourcesOf(spec, family);
  for (const { ip = '', ipMode } of status?.loadBalancer?.ingress ?? []) {
    // A balancer that ends connections itself is to be passed by nobody.
    if (ipMode !== 'Proxy') enter(ip, { kind: 'outside', choice: everywhere, ...outside, ...sources });
  }
  for (const ip of spec.externalIPs ?? []) enter(ip, { kind: 'outside', choice: everywhere, ...outside });
  if (port.nodePort !== undefined && port.nodePort > 0) {
    entries.push({ family, protocol, port: port.nodePort, kind: 'node-port', choice: everywhere, ...outside });
  }
}

function sourcesOf({ loadBalancerSourceRanges = [] }: ServiceSpec, family: Family): Pick<Entry, 'sources'> {
  const networks = loadBalancerSourceRanges
    .flatMap((text) => Prefix.parse(text.trim()) ?? [])
    .filter((network) => network.family === (family === 'IPv4' ? 4 : 6));
  if (networks.length === 0 || networks.some(({ length }) => length === 0)) return {};
  const widest = networks.filter((one, i) =>
    networks.every((other, j) => i === j || !contains(other, one) || (other.equals(one) && i < j)),
  );
  return { sources: widest.map(String).sort() };
}

const contains = (outer: Prefix, inner: Prefix): boolean => outer.length <= inner.length && outer.contains(inner.first);

const PROTOCOLS: Readonly<Record<string, string>> = { TCP: 'tcp', UDP: 'udp', SCTP: 'sctp' };

const clusterAddresses = ({ clusterIP = '', clusterIPs = [clusterIP] }: Service['spec']): string[] =>
  clusterIPs.filter((address) => address !== '' && address !== 'None');

function familiesOf({ spec }: Service): Family[] {
  const families = clusterAddresses(spec).map((address): Family => (address.includes(':') ? 'IPv6' : 'IPv4'));
  return [...new Set(families)];
}
