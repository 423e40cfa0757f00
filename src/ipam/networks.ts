import { Address } from '../api/address.ts';
import { subnetFaults } from '../api/network.openstack.org/netconfig.faults.ts';
import type { NetConfig, NetConfigNetwork, NetConfigSubnet } from '../api/network.openstack.org/netconfig.ts';
import { folded } from '../api/network.openstack.org/shapes.ts';
import { type AddressRange, Prefix } from '../api/prefix.ts';
import { Pool } from '../ledger/pool.ts';
import { KeptBack, rangeOfOne } from './kept-back.ts';

/** A subnet of a NetConfig, ready to take addresses from. */
export class Subnet {
  readonly network: NetConfigNetwork;
  readonly definition: NetConfigSubnet;
  readonly prefix: Prefix;
  readonly gateway: Address | undefined;
  /** Routers that routes lead through, besides the gateway. */
  readonly #nexthops: readonly Address[];
  readonly #excluded: ReadonlySet<bigint>;
  readonly #keptBack: KeptBack;
  #pool: Pool | undefined;

  /** The definition must be free of faults. `keptBack`: in the NetConfig that it is of. */
  constructor(network: NetConfigNetwork, definition: NetConfigSubnet, prefix: Prefix, keptBack: KeptBack) {
    this.network = network;
    this.definition = definition;
    this.prefix = prefix;
    this.#keptBack = keptBack;
    this.gateway = definition.gateway === undefined ? undefined : parsed(definition.gateway);
    this.#nexthops = (definition.routes ?? []).map(({ nexthop }) => parsed(nexthop));
    this.#excluded = new Set((definition.excludeAddresses ?? []).map((text) => parsed(text).value));
  }

  /** Whether a route of the subnet leads through the address. */
  isNexthop(address: Address): boolean {
    return this.#nexthops.some((nexthop) => nexthop.equals(address));
  }

  /** Whether somebody else's way leads through the address, be it in this subnet or in another one of the NetConfig. */
  isRouter(address: Address): boolean {
    return this.#keptBack.isRouter(address);
  }

  /** Whether nobody may have the address, not even by asking for it. */
  excludes({ value }: Address): boolean {
    return this.#excluded.has(value);
  }

  /** What is given to those who ask for any address. Made when it is first needed: who only asks about the subnet does not. */
  get pool(): Pool {
    this.#pool ??= new Pool({
      family: this.prefix.family,
      ranges: this.definition.allocationRanges.map(({ start, end }) => ({ first: parsed(start), last: parsed(end) })),
      excluded: this.withheld,
    });
    return this.#pool;
  }

  /** What nobody is given who asks for any address, also outside of the ranges: excluded addresses, and what is kept back in the NetConfig. */
  get withheld(): AddressRange[] {
    const excluded = [...this.#excluded].map((value) => Address.of(this.prefix.family, value));
    return [...excluded.map(rangeOfOne), ...this.#keptBack.within(this.prefix)];
  }
}

/** What a NetConfig says, read once. */
export class Networks {
  readonly netConfig: NetConfig;
  /** Network name → subnet name → the subnet, or why it cannot be used; names without case. */
  readonly #networks = new Map<string, Map<string, Subnet | string>>();

  /** Nobody is given an address in `keptOut` who does not ask for it by number. */
  constructor(netConfig: NetConfig, keptOut: readonly AddressRange[] = []) {
    this.netConfig = netConfig;
    const keptBack = new KeptBack(netConfig, keptOut);
    for (const network of netConfig.spec.networks) {
      const subnets = new Map<string, Subnet | string>();
      for (const definition of network.subnets)
        subnets.set(folded(definition.name), subnetOf(network, definition, keptBack));
      this.#networks.set(folded(network.name), subnets);
    }
  }

  get pools(): Pool[] {
    return this.subnets.map(({ pool }) => pool);
  }

  /** Those that can be used. */
  get subnets(): Subnet[] {
    return this.#all().filter((subnet) => typeof subnet !== 'string');
  }

  /** Why the others cannot. */
  get faults(): string[] {
    return this.#all().filter((subnet) => typeof subnet === 'string');
  }

  has(network: string): boolean {
    return this.#networks.has(folded(network));
  }

  /** The subnet, or a sentence that says why there is none. */
  find(network: string, subnet: string): Subnet | string {
    const { name } = this.netConfig.metadata;
    const subnets = this.#networks.get(folded(network));
    if (subnets === undefined) return `network ${network} is not in NetConfig ${name}`;
    return subnets.get(folded(subnet)) ?? `subnet ${subnet} is not in network ${network} of NetConfig ${name}`;
  }

  #all(): (Subnet | string)[] {
    return [...this.#networks.values()].flatMap((subnets) => [...subnets.values()]);
  }
}

function subnetOf(network: NetConfigNetwork, definition: NetConfigSubnet, keptBack: KeptBack): Subnet | string {
  // Where admission does not run, anything may be in a NetConfig.
  const [fault] = subnetFaults(definition, `subnet ${definition.name} of network ${network.name}`);
  const prefix = Prefix.parse(definition.cidr);
  return fault !== undefined || prefix === undefined
    ? `${fault?.field}: ${fault?.detail}`
    : new Subnet(network, definition, prefix, keptBack);
}

/** Of what was found to be an address before. */
function parsed(text: string): Address {
  const address = Address.parse(text);
  if (address === undefined) throw new Error(`"${text}" was taken for an address`);
  return address;
}
