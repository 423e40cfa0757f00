import { Address } from '../api/address.ts';
import { addressRange } from '../api/metallb.io/address-ranges.ts';
import { NetConfig } from '../api/network.openstack.org/netconfig.ts';
import { type AddressRange, Prefix, rangeText } from '../api/prefix.ts';
import type { Caches } from '../runtime/cache.ts';

/** The networks of hosts, in every namespace: which addresses are theirs, and which they give to those who ask for any. */
export class Networks {
  readonly #subnets: readonly Subnet[];
  readonly #byNamespace: ReadonlyMap<string, readonly Subnet[]>;
  /** Text → the address. */
  readonly #routers: ReadonlyMap<string, Address>;

  constructor(netConfigs: readonly NetConfig[]) {
    this.#subnets = netConfigs
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
      .flatMap(({ metadata: { namespace = '' }, spec }) =>
        spec.networks.flatMap(({ name, subnets }) =>
          subnets.flatMap((subnet) => {
            const prefix = Prefix.parse(subnet.cidr);
            if (prefix === undefined) return [];
            const ranges = subnet.allocationRanges.map(({ start, end }) => addressRange(`${start}-${end}`));
            const gives = ranges.filter((range) => typeof range !== 'string');
            const routers = [subnet.gateway, ...(subnet.routes ?? []).map(({ nexthop }) => nexthop)];
            const known = routers.flatMap((text) => (text === undefined ? [] : (Address.parse(text) ?? [])));
            return [{ namespace, name: `${name}/${subnet.name}`, prefix, gives, routers: known }];
          }),
        ),
      );
    this.#routers = new Map(this.#subnets.flatMap(({ routers }) => routers.map((one) => [one.toString(), one])));
    this.#byNamespace = Map.groupBy(this.#subnets, ({ namespace }) => namespace);
  }

  static of(caches: Caches): Networks {
    return new Networks(caches.of(NetConfig).list());
  }

  /** Gateways, and next hops of routes: nobody else can have these addresses without cutting off a network. */
  get routers(): Iterable<Address> {
    return this.#routers.values();
  }

  isRouter(address: Address): boolean {
    return this.#routers.has(address.toString());
  }

  /** The namespaces in which hosts may have the address. */
  namespacesAround(address: Address): string[] {
    const around = this.#subnets.filter(({ prefix }) => prefix.contains(address));
    return [...new Set(around.map(({ namespace }) => namespace))].sort();
  }

  /** Whether hosts of the namespace may have the address. */
  haveIn(namespace: string, address: Address): boolean {
    return (this.#byNamespace.get(namespace) ?? []).some(({ prefix }) => prefix.contains(address));
  }

  /** Where these ranges meet addresses that hosts get without asking for them by number. */
  overlaps(ranges: readonly AddressRange[]): string[] {
    return this.#subnets.flatMap(({ namespace, name, gives }) => {
      const met = gives.filter((given) => ranges.some((range) => meet(given, range)));
      return met.length === 0 ? [] : [`${met.map(rangeText).join(', ')} of network ${name} in namespace ${namespace}`];
    });
  }
}

interface Subnet {
  readonly namespace: string;
  /** Of the network and the subnet. */
  readonly name: string;
  readonly prefix: Prefix;
  readonly gives: readonly AddressRange[];
  readonly routers: readonly Address[];
}

const nameOf = ({ metadata: { namespace, name } }: NetConfig): string => `${namespace}/${name}`;

const meet = (a: AddressRange, b: AddressRange): boolean =>
  a.first.family === b.first.family && a.first.value <= b.last.value && b.first.value <= a.last.value;
