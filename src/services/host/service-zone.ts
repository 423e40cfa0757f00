import { Address } from '../../api/address.ts';
import { Service } from '../../api/core/service.ts';
import { type Endpoint, EndpointSlice, SERVICE_NAME } from '../../api/discovery.k8s.io/endpoint-slice.ts';
import { type Cache, index } from '../../runtime/cache.ts';
import { CODES, type DnsRecord, type Question, type Reply, TYPES } from './dns-message.ts';

export interface ServiceZoneOptions {
  readonly services: Cache<Service>;
  readonly slices: Cache<EndpointSlice>;
  /** The domain of the cluster, `cluster.local`. */
  readonly domain: string;
}

/** Clients may remember an answer for as long as a change may stay unnoticed. */
const TTL = 5;

/**
 * Answers for the names of Services: `<service>.<namespace>.svc`, with or without the domain of the cluster, their ports (SRV), the
 * pods of headless ones, and the way back from an address. Undefined for names that are not ours to answer.
 */
export class ServiceZone {
  readonly #services: Cache<Service>;
  readonly #slices: Cache<EndpointSlice>;
  readonly #domain: string;
  #turn = 0;

  constructor({ services, slices, domain }: ServiceZoneOptions) {
    this.#services = services;
    this.#slices = slices;
    this.#domain = domain;
  }

  answer({ name, type }: Question): Reply | undefined {
    const reverse = addressOfReverseName(name);
    if (reverse !== undefined) return this.#reverse(name, reverse, type);
    if (!this.#isOurs(name)) return undefined;
    const records = this.#records(name);
    if (records === undefined) return this.#nothing(CODES.noSuchName);
    const wanted = records.filter(
      (record) => type === TYPES.ANY || TYPES[record.type] === type || record.type === 'CNAME',
    );
    if (wanted.length === 0) return this.#nothing(CODES.noError);
    return { code: CODES.noError, answers: this.#turned(wanted), additional: this.#addressesOfTargets(wanted) };
  }

  #isOurs(name: string): boolean {
    return [this.#domain, 'svc'].some((domain) => name === domain || name.endsWith(`.${domain}`));
  }

  /** All that there is under a name of ours; undefined when there is no such name. */
  #records(name: string): DnsRecord[] | undefined {
    if (name === this.#domain) return [this.#authority()];
    const short = name.endsWith(`.${this.#domain}`) ? name.slice(0, -this.#domain.length - 1) : name;
    const [top, namespace, serviceName, ...before] = short.split('.').reverse();
    if (top !== 'svc') return undefined;
    if (namespace === undefined) return [];
    // To some clients "no such record" is a reason to stop searching, and "no such name" is not.
    if (serviceName === undefined) return this.#services.by(byNamespace, namespace).length > 0 ? [] : undefined;
    const service = this.#services.get({ namespace, name: serviceName });
    if (service === undefined) return undefined;
    const [first, second, ...more] = before;
    if (first === undefined) return this.#recordsOfService(name, service);
    if (second === undefined) return this.#recordsOfEndpoint(name, service, first);
    return more.length > 0 ? undefined : this.#recordsOfPort(name, service, second, first);
  }

  /** Undefined for a headless one without an endpoint, as the specification of Kubernetes for names has it. */
  #recordsOfService(name: string, service: Service): DnsRecord[] | undefined {
    const { type, externalName = '' } = service.spec;
    if (type === 'ExternalName') {
      const target = externalName.toLowerCase().replace(/\.$/, '');
      return target === '' ? [] : [{ name, ttl: TTL, type: 'CNAME', target }];
    }
    if (!isHeadless(service)) return clusterAddresses(service).flatMap((address) => addressRecord(name, address));
    const addresses = this.#endpointsOf(service).flatMap(({ endpoint }) => endpoint.addresses.slice(0, 1));
    if (addresses.length === 0) return undefined;
    return [...new Set(addresses)].flatMap((address) => addressRecord(name, address));
  }

  #recordsOfEndpoint(name: string, service: Service, hostname: string): DnsRecord[] | undefined {
    // Ports are below it.
    if (PROTOCOLS.has(hostname)) return [];
    const found = this.#endpointsOf(service).filter(({ endpoint }) => labelOf(endpoint) === hostname);
    if (found.length === 0) return undefined;
    const addresses = new Set(found.map(({ endpoint }) => endpoint.addresses[0] ?? ''));
    return [...addresses].flatMap((address) => addressRecord(name, address));
  }

  #recordsOfPort(name: string, service: Service, portName: string, protocol: string): DnsRecord[] | undefined {
    const { namespace = '', name: serviceName } = service.metadata;
    const home = `${serviceName}.${namespace}.svc.${this.#domain}`;
    const isPort = (port: { name?: string; protocol?: string }): boolean =>
      `_${port.name ?? ''}` === portName && `_${(port.protocol ?? 'TCP').toLowerCase()}` === protocol;
    const srv = (port: number, target: string): DnsRecord => ({
      ...{ name, ttl: TTL, type: 'SRV' as const },
      ...{ priority: 0, weight: 100, port, target },
    });
    if (!isHeadless(service)) {
      const ports = (service.spec.ports ?? []).filter(isPort);
      return ports.length === 0 ? undefined : ports.map(({ port }) => srv(port, home));
    }
    const found = this.#endpointsOf(service).flatMap(({ slice, endpoint }) =>
      (slice.ports ?? [])
        .filter(isPort)
        .flatMap(({ port }) => (port === undefined ? [] : [srv(port, `${labelOf(endpoint)}.${home}`)])),
    );
    // A pod of both families is in two slices, and yet one target.
    const targets = new Map(found.map((record) => [JSON.stringify(record), record]));
    return targets.size === 0 ? undefined : [...targets.values()];
  }

  /** So that whoever asks for a port need not ask again for the addresses. */
  #addressesOfTargets(records: readonly DnsRecord[]): DnsRecord[] {
    const targets = new Set(records.flatMap((record) => (record.type === 'SRV' ? [record.target] : [])));
    const [first] = targets;
    if (first === undefined) return [];
    const [namespace = '', service = ''] = first.slice(0, -`.svc.${this.#domain}`.length).split('.').reverse();
    const found = this.#services.get({ namespace, name: service });
    if (found === undefined) return [];
    if (!isHeadless(found)) return this.#recordsOfService(first, found) ?? [];
    const home = this.#nameOf(service, namespace);
    return this.#endpointsOf(found).flatMap(({ endpoint }) => {
      const name = `${labelOf(endpoint)}.${home}`;
      return targets.has(name) ? addressRecord(name, endpoint.addresses[0] ?? '') : [];
    });
  }

  #reverse(name: string, address: Address, type: number): Reply | undefined {
    const text = address.toString();
    const targets = [
      ...this.#services
        .by(byClusterAddress, text)
        .map(({ metadata }) => this.#nameOf(metadata.name, metadata.namespace)),
      ...this.#slices.by(byAddress, text).flatMap((slice) => this.#namesOfEndpoint(slice, text)),
    ];
    if (targets.length === 0) return undefined;
    if (type !== TYPES.PTR && type !== TYPES.ANY) return this.#nothing(CODES.noError);
    return { code: CODES.noError, answers: targets.map((target) => ({ name, ttl: TTL, type: 'PTR', target })) };
  }

  /** Its own name, or the one by its address where a Service has no other addresses than those of its endpoints. */
  #namesOfEndpoint({ metadata, endpoints }: EndpointSlice, address: string): string[] {
    const { labels = {}, namespace = '' } = metadata;
    const service = this.#services.get({ namespace, name: labels[SERVICE_NAME] ?? '' });
    if (service === undefined) return [];
    return endpoints
      .filter(({ addresses, conditions }) => addresses[0] === address && (conditions?.ready ?? true))
      .filter(({ hostname }) => hostname !== undefined || isHeadless(service))
      .map((endpoint) => `${labelOf(endpoint)}.${this.#nameOf(service.metadata.name, namespace)}`);
  }

  #nameOf(service: string, namespace = ''): string {
    return `${service}.${namespace}.svc.${this.#domain}`;
  }

  #endpointsOf(service: Service): { slice: EndpointSlice; endpoint: Endpoint }[] {
    const all = service.spec.publishNotReadyAddresses === true;
    return this.#slices
      .by(byService, `${service.metadata.namespace}/${service.metadata.name}`)
      .flatMap((slice) => slice.endpoints.map((endpoint) => ({ slice, endpoint })))
      .filter(({ endpoint }) => all || (endpoint.conditions?.ready ?? true));
  }

  /** Clients take the first address: each turn another one stands there. */
  #turned(records: readonly DnsRecord[]): DnsRecord[] {
    this.#turn += 1;
    const at = this.#turn % records.length;
    return [...records.slice(at), ...records.slice(0, at)];
  }

  #nothing(code: number): Reply {
    return { code, answers: [], authority: this.#authority() };
  }

  #authority(): DnsRecord {
    return {
      ...{ name: this.#domain, ttl: TTL, type: 'SOA' as const },
      ...{ primary: `ns.dns.${this.#domain}`, minimum: TTL },
    };
  }
}

const PROTOCOLS = new Set(['_tcp', '_udp', '_sctp']);

const isHeadless = ({ spec }: Service): boolean => spec.clusterIP === 'None';

const clusterAddresses = ({ spec: { clusterIP = '', clusterIPs = [clusterIP] } }: Service): string[] =>
  clusterIPs.filter((address) => address !== '' && address !== 'None');

/** What an endpoint is called below its Service: as its pod says, or else by its address. */
const labelOf = ({ hostname, addresses }: Endpoint): string =>
  hostname ?? (addresses[0] ?? '').replaceAll(/[.:]/g, '-');

function addressRecord(name: string, text: string): DnsRecord[] {
  const address = Address.parse(text);
  if (address === undefined) return [];
  return [{ name, ttl: TTL, type: address.family === 4 ? 'A' : 'AAAA', address: address.toString() }];
}

/** `5.0.244.10.in-addr.arpa` and the nibbles of `ip6.arpa`. */
function addressOfReverseName(name: string): Address | undefined {
  const four = /^(\d+)\.(\d+)\.(\d+)\.(\d+)\.in-addr\.arpa$/.exec(name);
  if (four !== null) return Address.parse(four.slice(1).reverse().join('.'));
  if (!name.endsWith('.ip6.arpa')) return undefined;
  const nibbles = name.slice(0, -'.ip6.arpa'.length).split('.').reverse().join('');
  if (!/^[0-9a-f]{32}$/.test(nibbles)) return undefined;
  return Address.parse((nibbles.match(/.{4}/g) ?? []).join(':'));
}

const byService = index(EndpointSlice, ({ metadata }) => {
  const name = metadata.labels?.[SERVICE_NAME];
  return name === undefined ? [] : [`${metadata.namespace ?? ''}/${name}`];
});
const byNamespace = index(Service, ({ metadata }) => [metadata.namespace ?? '']);
const byClusterAddress = index(Service, clusterAddresses);
const byAddress = index(EndpointSlice, ({ endpoints }) => endpoints.flatMap(({ addresses }) => addresses.slice(0, 1)));
