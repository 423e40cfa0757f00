import assert from 'node:assert/strict';
import { type Faults, noFaults } from '../../test/simulation/faults.ts';
import type { SimulatedTransport } from '../../test/simulation/transport.ts';
import { type World, world } from '../../test/simulation/world.ts';
import type { Condition } from '../api/condition.ts';
import { Namespace } from '../api/core/namespace.ts';
import { Service } from '../api/core/service.ts';
import { IPAddressPool } from '../api/metallb.io/ip-address-pool.ts';
import { AddressBlock } from '../api/netloom.io/address-block.ts';
import { AddressClaim } from '../api/netloom.io/address-claim.ts';
import { IPSet, type NetworkRequest } from '../api/network.openstack.org/ipset.ts';
import { NetConfig, type NetConfigNetwork, type NetConfigSubnet } from '../api/network.openstack.org/netconfig.ts';
import { Reservation } from '../api/network.openstack.org/reservation.ts';
import { Event } from '../runtime/builtin.ts';
import { Manager } from '../runtime/manager.ts';
import { type IpamOptions, ipamControllers } from './index.ts';

export const NAMESPACE = 'openstack';

export const subnet = (change: Partial<NetConfigSubnet> = {}): NetConfigSubnet => ({
  name: 'subnet1',
  cidr: '172.18.0.0/24',
  allocationRanges: [{ start: '172.18.0.10', end: '172.18.0.250' }],
  ...change,
});
export const network = (change: Partial<NetConfigNetwork> = {}): NetConfigNetwork => ({
  name: 'Storage',
  mtu: 1500,
  subnets: [subnet()],
  ...change,
});
/** A network with so few addresses that people have to wait. */
export const smallNetwork = (end: string): NetConfigNetwork =>
  network({ subnets: [subnet({ allocationRanges: [{ start: '172.18.0.10', end }] })] });

/** A simulated server with the address capability running on it. */
export class Lab {
  readonly world: World;
  readonly controllers: Running[] = [];
  readonly #options: IpamOptions;

  constructor({ seed = 1, ...options }: { seed?: number } & IpamOptions = {}) {
    this.#options = options;
    this.world = world({
      seed,
      kinds: [NetConfig, IPSet, Reservation, AddressClaim, AddressBlock, IPAddressPool, Service, Event, Namespace],
      level: 'error',
    });
  }

  async start(faults: Partial<Faults> = {}): Promise<Running> {
    const { api, clock, log } = this.world;
    const transport = api.transport({ ...noFaults, ...faults });
    const manager = new Manager({
      transport,
      controllers: ipamControllers(this.#options),
      system: clock,
      log,
      fieldManager: 'netloom',
      instance: `host-${this.controllers.length}`,
      freeze: true,
    });
    const running = { manager, transport };
    this.controllers.push(running);
    manager.start();
    await this.settle();
    return running;
  }

  /** Lets everything happen that happens soon; well short of the time after which abandoned addresses are swept up. */
  settle(ms = 5_000): Promise<void> {
    return this.world.clock.advance(ms);
  }

  async netConfig(...networks: NetConfigNetwork[]): Promise<void> {
    const found = await this.world.client.get(NetConfig, 'netconfig', NAMESPACE);
    if (found === undefined) {
      await this.world.client.create(NetConfig, {
        metadata: { name: 'netconfig', namespace: NAMESPACE },
        spec: { networks },
      });
    } else {
      await this.world.client.update(NetConfig, { ...found, spec: { networks } });
    }
    await this.settle();
  }

  /** A pool from which Services get addresses. */
  async pool(...addresses: string[]): Promise<void> {
    await this.world.client.create(IPAddressPool, {
      metadata: { name: 'pool', namespace: 'metallb-system' },
      spec: { addresses, autoAssign: true, avoidBuggyIPs: false },
    });
    await this.settle();
  }

  async create(name: string, ...networks: NetworkRequest[]): Promise<void> {
    const asked = networks.length > 0 ? networks : [{ name: 'Storage', subnetName: 'subnet1' }];
    const metadata = { name, namespace: NAMESPACE };
    await this.world.client.create(IPSet, { metadata, spec: { immutable: false, networks: asked } });
  }

  /** As `create`, and waits for what comes of it. */
  async ipSet(name: string, ...networks: NetworkRequest[]): Promise<IPSet> {
    await this.create(name, ...networks);
    await this.settle();
    return this.find(name);
  }

  async delete(name: string): Promise<void> {
    await this.world.client.delete(IPSet, { name, namespace: NAMESPACE });
    await this.settle();
  }

  async claim(name: string, change: Partial<AddressClaim['spec']> = {}): Promise<void> {
    const spec = { host: 'host-a', network: 'Storage', subnet: 'subnet1', ...change };
    await this.world.client.create(AddressClaim, { metadata: { name, namespace: NAMESPACE }, spec });
    await this.settle();
  }

  async deleteClaim(name: string): Promise<void> {
    await this.world.client.delete(AddressClaim, { name, namespace: NAMESPACE });
    await this.settle();
  }

  findClaim(name: string): AddressClaim {
    const found = this.world.api.objects(AddressClaim).find(({ metadata }) => metadata.name === name);
    assert.ok(found, `there is no AddressClaim ${name}`);
    return found;
  }

  find(name: string): IPSet {
    const found = this.world.api.objects(IPSet).find(({ metadata }) => metadata.name === name);
    assert.ok(found, `there is no IPSet ${name}`);
    return found;
  }

  /** What the status of an IPSet says in one line: its addresses, or why it has none. */
  state(name: string): string {
    const { status } = this.find(name);
    return stateOf(status?.conditions, status?.reservation);
  }

  claimState(name: string): string {
    const { status } = this.findClaim(name);
    return stateOf(status?.conditions, status?.address);
  }

  /** Every address on record, with its holder. */
  held(): string[] {
    return this.world.api
      .objects(AddressBlock)
      .flatMap(({ spec }) => spec.holdings.map(({ address, holder }) => `${address} ${holder.kind} ${holder.name}`));
  }

  reservation(name: string): Reservation | undefined {
    return this.world.api.objects(Reservation).find(({ metadata }) => metadata.name === name);
  }

  writes(): Map<string, number> {
    return new Map([...this.world.api.requests].filter(([what]) => !/^(get|list|watch) /.test(what)));
  }

  async stop(): Promise<void> {
    await Promise.all(this.controllers.map(({ manager }) => this.world.clock.run(manager.stop({ within: 1_000 }))));
  }
}

function stateOf(conditions: readonly Condition[] = [], addresses = ''): string {
  const [ready] = conditions;
  if (ready?.status === 'True') return addresses;
  return `${ready?.status ?? 'nothing said'}: ${ready?.message ?? ''}`;
}

/** Controllers at work, and the network between them and the server. */
export interface Running {
  manager: Manager;
  transport: SimulatedTransport;
}
