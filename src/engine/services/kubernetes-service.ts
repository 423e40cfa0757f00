import { networkInterfaces } from 'node:os';
import { POD_CIDRS, SERVICE_CIDRS } from '../../api/core/service.ts';
import { equalJson, type JsonObject } from '../../api/json.ts';
import type { Prefix } from '../../api/prefix.ts';
import type { Log } from '../../runtime/log.ts';
import { ipFamily } from '../builtin/ip-text.ts';
import { metadataOf, objectMadeAt } from '../builtin/reading.ts';
import { storageEndpoint } from '../lifecycle/garbage-collector.ts';
import { internalOptions } from '../lifecycle/internal-options.ts';
import { Jobs } from '../lifecycle/jobs.ts';
import type { Context, Target } from '../objects/context.ts';
import { create } from '../objects/create.ts';
import { decode } from '../objects/encoding.ts';
import { update } from '../objects/replace.ts';
import type { ServiceAllocator } from './allocator.ts';

const NAMESPACE = 'default';
const NAME = 'kubernetes';

/** Keeps the Service by which pods reach the API, and says where the API is. */
export class KubernetesService {
  readonly #context: Context;
  readonly #jobs: Jobs;
  readonly #wanted: readonly (readonly [resource: string, object: JsonObject])[];
  readonly #following: { close(): void }[] = [];

  constructor(context: Context, options: Advertised & { log: Log }) {
    this.#context = context;
    this.#jobs = new Jobs(`the Service ${NAME}`, options.log);
    this.#wanted = wantedObjects(options);
  }

  /** Resolves when it is there. */
  async start(): Promise<void> {
    const { store } = this.#context;
    for (const [resource, object] of this.#wanted) {
      await this.#keep(resource, object);
      const watch = store.watch({ resource, namespace: NAMESPACE, after: store.revision }, (events) => {
        if (!events.some(({ current }) => current.name === NAME)) return;
        this.#jobs.add(resource, () => this.#keep(resource, object));
      });
      this.#following.push(watch);
    }
  }

  stop(): Promise<void> {
    for (const watch of this.#following) watch.close();
    return this.#jobs.stop();
  }

  async #keep(resource: string, wanted: JsonObject): Promise<void> {
    const endpoint = storageEndpoint(this.#context, resource);
    if (endpoint === undefined) return;
    const target: Target = { endpoint, namespace: NAMESPACE, name: '', subresource: '' };
    const version = this.#context.store.newest(resource, NAMESPACE, NAME);
    const options = internalOptions('netloom');
    if (version === undefined) {
      await create(this.#context, target, { object: structuredClone(wanted), duplicates: [] }, options);
      return;
    }
    const found = decode(version.bytes);
    const object = withWanted(found, wanted);
    if (metadataOf(found)['deletionTimestamp'] !== undefined || equalJson(found, object)) return;
    await update(this.#context, { ...target, name: NAME }, { object, duplicates: [] }, options);
  }
}

/** What people have added stays; the address of the Service is for life. */
function withWanted(found: JsonObject, wanted: JsonObject): JsonObject {
  const object = structuredClone(found);
  for (const key of ['labels', 'annotations']) {
    const ours = metadataOf(wanted)[key];
    if (ours !== undefined) Object.assign(objectMadeAt(metadataOf(object), key), ours);
  }
  for (const key of ['endpoints', 'ports', 'subsets']) {
    if (wanted[key] !== undefined) object[key] = structuredClone(wanted[key]);
  }
  const spec = wanted['spec'];
  if (typeof spec === 'object' && spec !== null && !Array.isArray(spec)) {
    Object.assign(objectMadeAt(object, 'spec'), { type: spec['type'], ports: structuredClone(spec['ports'] ?? []) });
  }
  return object;
}

interface Advertised {
  readonly allocator: ServiceAllocator;
  readonly host: string;
  readonly port: number;
  /** What pods have their addresses from, where this process knows it. */
  readonly podNetworks: readonly Prefix[];
}

function wantedObjects({ allocator, host, port, podNetworks }: Advertised) {
  const [first] = allocator.ranges;
  const family = first?.family ?? 'IPv4';
  const addresses = advertised(host).filter((address) => `IPv${ipFamily(address)}` === family);
  const ports = [{ name: 'https', protocol: 'TCP', port }];
  const metadata = { name: NAME, namespace: NAMESPACE };
  const service: JsonObject = {
    metadata: {
      ...metadata,
      labels: { component: 'apiserver', provider: 'kubernetes' },
      annotations: {
        [SERVICE_CIDRS]: allocator.ranges.map(({ network }) => `${network}`).join(','),
        ...(podNetworks.length === 0 ? {} : { [POD_CIDRS]: podNetworks.join(',') }),
      },
    },
    spec: {
      type: 'ClusterIP',
      ...(first === undefined ? {} : { clusterIP: `${first.first}` }),
      ports: [{ name: 'https', protocol: 'TCP', port: 443, targetPort: port }],
    },
  };
  const slice: JsonObject = {
    metadata: { ...metadata, labels: { 'kubernetes.io/service-name': NAME } },
    addressType: family,
    endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })),
    ports,
  };
  const endpoints: JsonObject = {
    metadata: { ...metadata, labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } },
    ...(addresses.length === 0 ? {} : { subsets: [{ addresses: addresses.map((ip) => ({ ip })), ports }] }),
  };
  return [
    ['services', service],
    ['endpointslices.discovery.k8s.io', slice],
    ['endpoints', endpoints],
  ] as const;
}

/** Where others reach the API: nowhere, if it listens on loopback alone. There the relays of hosts lead to it. */
function advertised(host: string): string[] {
  const everywhere = host === '0.0.0.0' || host === '::';
  if (!everywhere) return ipFamily(host) !== 0 && !isLoopback(host) ? [host] : [];
  const own = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  const usable = own.filter(({ internal, address }) => !internal && !/^(fe80:|169\.254\.)/i.test(address));
  const firstOf = (family: string) => usable.find((each) => each.family === family)?.address;
  return ['IPv4', 'IPv6'].flatMap((family) => firstOf(family) ?? []);
}

const isLoopback = (address: string): boolean => address === '::1' || address.startsWith('127.');
