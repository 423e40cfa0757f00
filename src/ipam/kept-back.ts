import { Address, compareAddresses } from '../api/address.ts';
import type { NetConfig } from '../api/network.openstack.org/netconfig.ts';
import { type AddressRange, Prefix } from '../api/prefix.ts';

/**
 * What nobody is given in a NetConfig who asks for any address: routers, networks and broadcast addresses of all its subnets, because
 * subnets may overlap, and what others give from.
 */
export class KeptBack {
  /** Ascending, IPv4 first. */
  readonly #inOrder: readonly Address[];
  /** Texts of addresses. */
  readonly #routers: ReadonlySet<string>;
  readonly #keptOut: readonly AddressRange[];

  constructor({ spec }: Pick<NetConfig, 'spec'>, keptOut: readonly AddressRange[] = []) {
    const definitions = spec.networks.flatMap(({ subnets }) => subnets);
    // Where admission does not run, anything may be in a NetConfig.
    const routers = definitions
      .flatMap(({ gateway, routes = [] }) => [gateway, ...routes.map(({ nexthop }) => nexthop)])
      .flatMap((text) => (text === undefined ? [] : (Address.parse(text) ?? [])));
    const ends = definitions
      .map(({ cidr }) => Prefix.parse(cidr))
      .flatMap((prefix) => (prefix ? unusable(prefix) : []));
    this.#routers = new Set(routers.map(String));
    this.#inOrder = [...routers, ...ends].sort(compareAddresses);
    this.#keptOut = keptOut;
  }

  /** Whether a way of some subnet leads through the address. */
  isRouter(address: Address): boolean {
    return this.#routers.has(`${address}`);
  }

  /** What of it may be in the prefix. */
  within(prefix: Prefix): AddressRange[] {
    const inside: Address[] = [];
    for (let place = this.#placeOf(prefix.first); ; place += 1) {
      const address = this.#inOrder[place];
      if (address === undefined || !prefix.contains(address)) break;
      inside.push(address);
    }
    return [...inside.map(rangeOfOne), ...this.#keptOut.filter(({ first }) => first.family === prefix.family)];
  }

  /** Of the first that is not lower. A NetConfig can have thousands of subnets, and each is asked about. */
  #placeOf(address: Address): number {
    let from = 0;
    let to = this.#inOrder.length;
    while (from < to) {
      const middle = (from + to) >> 1;
      const there = this.#inOrder[middle];
      if (there !== undefined && compareAddresses(there, address) < 0) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}

/** The network itself and, in IPv4, the broadcast address; networks of two addresses or one have neither. */
function unusable({ family, length, first, last }: Prefix): Address[] {
  if (family === 4) return length <= 30 ? [first, last] : [];
  return length <= 126 ? [first] : [];
}

export const rangeOfOne = (address: Address): AddressRange => ({ first: address, last: address });
