import { type Address, compareAddresses } from '../../api/address.ts';
import { type NamedRange, namedRanges } from '../../api/metallb.io/address-ranges.ts';
import { IPAddressPool } from '../../api/metallb.io/ip-address-pool.ts';
import { NetConfig } from '../../api/network.openstack.org/netconfig.ts';
import { type AddressRange, rangeText } from '../../api/prefix.ts';
import { type Subnet, subnetsOf } from './subnets.ts';

/** Where an address lies, and whether it could be given there. Printed as it is by `-o json`. */
export interface Place {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** Of a NetConfig. */
  readonly network?: string;
  readonly subnet?: string;
  readonly cidr?: string;
  /** The range of a NetConfig or of a pool that the address is in. */
  readonly range?: string;
  readonly role?: 'network' | 'broadcast' | 'gateway' | 'nexthop';
  readonly excluded: boolean;
  /** `dynamic`: to whoever asks for any address; `request`: to who asks for exactly this one (or names the pool); `never`. */
  readonly given: 'dynamic' | 'request' | 'never';
  readonly because: string;
}

export interface Environment {
  readonly netConfigs: readonly NetConfig[];
  readonly pools: readonly IPAddressPool[];
}

export const placesOf = (address: Address, { netConfigs, pools }: Environment): Place[] => [
  ...netConfigs.flatMap((netConfig) => placesInNetConfig(address, netConfig, pools)),
  ...pools.flatMap((pool) => placesInPool(address, pool, netConfigs)),
];

function placesInNetConfig(address: Address, netConfig: NetConfig, pools: readonly IPAddressPool[]): Place[] {
  const { name, namespace = '' } = netConfig.metadata;
  const keptOut = rangesOf(pools);
  const pool = keptOut.find((range) => covers(range, address));
  const subnets = subnetsOf(netConfig, keptOut);
  const special = subnets.find((subnet) => subnet.roleOf(address) !== undefined);
  return subnets
    .filter(({ prefix }) => prefix.contains(address))
    .map((subnet): Place => {
      const range = subnet.pool.ranges.find((each) => covers(each, address));
      const role = subnet.roleOf(address);
      return {
        kind: NetConfig.kind,
        namespace,
        name,
        network: subnet.network.name,
        subnet: subnet.definition.name,
        cidr: `${subnet.prefix}`,
        ...(range === undefined ? {} : { range: rangeText(range) }),
        ...(role === undefined ? {} : { role }),
        excluded: subnet.excludes(address),
        ...givenBy(subnet, address, { range: range && rangeText(range), role, special, pool: pool?.pool }),
      };
    });
}

function givenBy(
  subnet: Subnet,
  address: Address,
  {
    range,
    role,
    special,
    pool,
  }: {
    range: string | undefined;
    role: Place['role'];
    /** Of those that overlap, the one in which the address has a role. */
    special: Subnet | undefined;
    pool: string | undefined;
  },
): Pick<Place, 'given' | 'because'> {
  if (subnet.excludes(address)) return { given: 'never', because: 'it is in excludeAddresses' };
  if (subnet.pool.gives(address)) return { given: 'dynamic', because: `it is in the allocation range ${range}` };
  if (role === 'gateway') return { given: 'request', because: 'it is the gateway' };
  if (role === 'nexthop') return { given: 'request', because: 'a route leads through it' };
  if (role !== undefined) return { given: 'request', because: `it is the ${role} address` };
  if (special !== undefined) {
    const { network, definition } = special;
    const what = {
      gateway: 'the gateway',
      nexthop: 'a router',
      network: 'the network address',
      broadcast: 'the broadcast address',
    };
    const other = what[special.roleOf(address) ?? 'nexthop'];
    return { given: 'request', because: `it is ${other} of network ${network.name} subnet ${definition.name}` };
  }
  if (pool !== undefined) return { given: 'request', because: `addresses of pool ${pool} are for Services` };
  if (range === undefined) return { given: 'request', because: 'it is in no allocation range' };
  return { given: 'request', because: 'many programs take an address that ends like this for a network' };
}

function placesInPool(address: Address, { metadata, spec }: IPAddressPool, netConfigs: readonly NetConfig[]): Place[] {
  const range = namedRanges(metadata.name, spec.addresses).find((each) => covers(each, address));
  if (range === undefined) return [];
  const router = netConfigs
    .flatMap((netConfig) => subnetsOf(netConfig))
    .find((subnet) => ['gateway', 'nexthop'].includes(subnet.roleOf(address) ?? ''));
  const isAvoided = spec.avoidBuggyIPs && address.family === 4 && [0, 255].includes(address.low % 256);
  return [
    {
      kind: IPAddressPool.kind,
      namespace: metadata.namespace ?? '',
      name: metadata.name,
      range: range.text,
      excluded: isAvoided,
      ...(isAvoided
        ? { given: 'never', because: 'the pool has avoidBuggyIPs, and it ends in .0 or .255' }
        : router !== undefined
          ? { given: 'request', because: `it is a router of network ${router.network.name}` }
          : spec.autoAssign
            ? { given: 'dynamic', because: 'Services of type LoadBalancer get it' }
            : { given: 'request', because: 'the pool has autoAssign: false' }),
    },
  ];
}

/** What pools give to Services. */
export const rangesOf = (pools: readonly IPAddressPool[]): NamedRange[] =>
  pools.flatMap(({ metadata, spec }) => namedRanges(metadata.name, spec.addresses));

const covers = ({ first, last }: AddressRange, address: Address): boolean =>
  compareAddresses(first, address) <= 0 && compareAddresses(address, last) <= 0;
