import { Address, type Family } from '../../../src/api/address.ts';
import type { IPAddressPool } from '../../../src/api/metallb.io/ip-address-pool.ts';
import type { NetConfig } from '../../../src/api/network.openstack.org/netconfig.ts';
import { Prefix } from '../../../src/api/prefix.ts';

/** What is true of the networks of a story whatever is drawn: the gateway, and what ends in zeros, is for those who ask for it by number. */
export const NEVER_GIVEN: ReadonlySet<string> = new Set(['172.18.0.11', '172.20.1.0', 'fd00::1:0']);

/** Whose networks have the address. */
export function netConfigsAround(netConfigs: readonly NetConfig[], text: string): string[] {
  const address = Address.parse(text);
  if (address === undefined) return [];
  const around = netConfigs.filter(({ spec }) =>
    spec.networks.some(({ subnets }) => subnets.some(({ cidr }) => Prefix.parse(cidr)?.contains(address) === true)),
  );
  return around.map(({ metadata }) => metadata.namespace ?? '');
}

export const familyOf = (text: string): Family => (text.includes(':') ? 6 : 4);

/** Every address from `first` to `last`. */
export function addressesBetween(first: string, last: string): string[] {
  const [from, to] = [Address.parse(first), Address.parse(last)];
  const found: string[] = [];
  for (let one = from; one !== undefined && to !== undefined && one.value <= to.value; one = one.next)
    found.push(`${one}`);
  return found;
}

export const addressesOf = ({ spec }: IPAddressPool): string[] =>
  spec.addresses.flatMap((range) => {
    const [first = '', last = ''] = range.split('-');
    return addressesBetween(first, last);
  });
