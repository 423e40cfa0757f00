import assert from 'node:assert/strict';
import { type Faults, noFaults } from '../../test/simulation/faults.ts';
import { type World, world } from '../../test/simulation/world.ts';
import { Namespace } from '../api/core/namespace.ts';
import { Service, type ServiceSpec } from '../api/core/service.ts';
import { IPAddressPool, type IPAddressPoolSpec } from '../api/metallb.io/ip-address-pool.ts';
import { L2Advertisement } from '../api/metallb.io/l2-advertisement.ts';
import { AddressBlock } from '../api/netloom.io/address-block.ts';
import { NetConfig, type NetConfigSubnet } from '../api/network.openstack.org/netconfig.ts';
import { Event } from '../runtime/builtin.ts';
import { Manager } from '../runtime/manager.ts';
import type { Transport } from '../runtime/transport.ts';
import { POOL_NAMESPACE, type VipsOptions, vipsControllers } from './index.ts';

export const NAMESPACE = 'openstack';

/** What a test says about a Service; the rest is as usual. */
export interface ServiceDraft extends Partial<ServiceSpec> {
  readonly namespace?: string;
  readonly labels?: Record<string, string>;
  readonly annotations?: Record<string, string>;
  /** Of TCP. */
  readonly port?: number;
  readonly ingress?: readonly string[];
}

/** A simulated server with pools on it, and Services that want addresses from them. */
export class Lab {
  readonly world: World;
  readonly managers: Manager[] = [];

  constructor({ seed = 1 }: { seed?: number } = {}) {
    const kinds = [Service, Namespace, IPAddressPool, L2Advertisement, NetConfig, AddressBlock, Event];
    this.world = world({ seed, kinds, level: 'error' });
  }

  /** `deafTo`: what is in the path of watches that fall silent as soon as they have begun. */
  async start(faults: Partial<Faults> = {}, options: VipsOptions = {}, deafTo?: string): Promise<Manager> {
    const { api, clock, log } = this.world;
    const transport = api.transport({ ...noFaults, ...faults });
    const manager = new Manager({
      transport: deafTo === undefined ? transport : deaf(transport, deafTo),
      controllers: vipsControllers(options),
      system: clock,
      log,
      fieldManager: 'netloom',
      instance: `host-${this.managers.length}`,
      freeze: true,
    });
    this.managers.push(manager);
    manager.start();
    await this.settle();
    return manager;
  }

  settle(ms = 5_000): Promise<void> {
    return this.world.clock.advance(ms);
  }

  async pool(name: string, spec: Partial<IPAddressPoolSpec>, { advertised = true, labels = {} } = {}): Promise<void> {
    const { client } = this.world;
    const found = await client.get(IPAddressPool, name, POOL_NAMESPACE);
    const complete = { addresses: ['172.17.0.80-172.17.0.90'], autoAssign: true, avoidBuggyIPs: false, ...spec };
    if (found === undefined) {
      await client.create(IPAddressPool, { metadata: { name, namespace: POOL_NAMESPACE, labels }, spec: complete });
    } else {
      await client.update(IPAddressPool, { ...found, spec: complete });
    }
    if (advertised && (await client.get(L2Advertisement, 'all', POOL_NAMESPACE)) === undefined) {
      await client.create(L2Advertisement, { metadata: { name: 'all', namespace: POOL_NAMESPACE }, spec: {} });
    }
    await this.settle();
  }

  findPool(name: string): IPAddressPool {
    const found = this.world.api.objects(IPAddressPool).find(({ metadata }) => metadata.name === name);
    assert.ok(found, `there is no pool ${name}`);
    return found;
  }

  async create(name: string, draft: ServiceDraft = {}): Promise<void> {
    const { namespace = NAMESPACE, labels = {}, annotations = {}, port = 80, ingress = [], ...spec } = draft;
    const created = await this.world.client.create(Service, {
      metadata: { name, namespace, labels, annotations },
      spec: { type: 'LoadBalancer', clusterIPs: ['10.96.0.1'], ports: [{ protocol: 'TCP', port }], ...spec },
    });
    if (ingress.length > 0) {
      const status = { loadBalancer: { ingress: ingress.map((ip) => ({ ip })) } };
      await this.world.client.updateStatus(Service, { ...created, status });
    }
  }

  /** As `create`, and waits for what comes of it. */
  async service(name: string, draft: ServiceDraft = {}): Promise<string> {
    await this.create(name, draft);
    await this.settle();
    return this.addresses(name);
  }

  async change(name: string, change: (service: Service) => Service): Promise<string> {
    await this.world.client.update(Service, change(this.find(name)));
    await this.settle();
    return this.addresses(name);
  }

  annotate(name: string, annotations: Record<string, string>): Promise<string> {
    return this.change(name, (service) => ({
      ...service,
      metadata: { ...service.metadata, annotations: { ...service.metadata.annotations, ...annotations } },
    }));
  }

  async delete(name: string, namespace = NAMESPACE): Promise<void> {
    await this.world.client.delete(Service, { name, namespace });
    await this.settle();
  }

  find(name: string): Service {
    const found = this.world.api.objects(Service).find(({ metadata }) => metadata.name === name);
    assert.ok(found, `there is no Service ${name}`);
    return found;
  }

  /** What the status says: the addresses, or nothing. */
  addresses(name: string): string {
    return (this.find(name).status?.loadBalancer?.ingress ?? []).map(({ ip }) => ip).join(' ');
  }

  poolOf(name: string): string | undefined {
    return this.find(name).metadata.annotations?.['metallb.io/ip-allocated-from-pool'];
  }

  /** What was said about an object, oldest first. */
  events(name: string, reason?: string): string[] {
    return this.world.api
      .objects(Event)
      .filter((event) => event.involvedObject.name === name && (reason === undefined || event.reason === reason))
      .map((event) => `${event.type} ${event.reason}: ${event.message}`);
  }

  /** Every address on record: `namespace/space address users`. */
  held(): string[] {
    return this.world.api.objects(AddressBlock).flatMap(({ metadata, spec }) =>
      spec.holdings.map(({ address, holder, sharers }) => {
        const users = (sharers ?? [holder]).map(({ name }) => name).join(',');
        return `${metadata.namespace}/${spec.space} ${address} ${users}`;
      }),
    );
  }

  async netConfig(cidr: string, start: string, end: string, more: Partial<NetConfigSubnet> = {}): Promise<void> {
    const subnet = { name: 'subnet1', cidr, allocationRanges: [{ start, end }], ...more };
    const spec = { networks: [{ name: 'InternalApi', mtu: 1500, subnets: [subnet] }] };
    const found = await this.world.client.get(NetConfig, 'netconfig', NAMESPACE);
    if (found === undefined)
      await this.world.client.create(NetConfig, { metadata: { name: 'netconfig', namespace: NAMESPACE }, spec });
    else await this.world.client.update(NetConfig, { ...found, spec });
    await this.settle();
  }

  writes(): number {
    return [...this.world.api.requests]
      .filter(([what]) => !/^(get|list|watch) /.test(what))
      .reduce((sum, [, count]) => sum + count, 0);
  }

  async stop(): Promise<void> {
    await Promise.all(this.managers.map((manager) => this.world.clock.run(manager.stop({ within: 1_000 }))));
  }
}

const deaf = (transport: Transport, path: string): Transport => ({
  request: (request) => transport.request(request),
  stream: async function* (request) {
    for await (const line of transport.stream(request)) if (!request.path.includes(path)) yield line;
  },
});
