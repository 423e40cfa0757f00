import type { IPAddressPoolSpec } from '../../../src/api/metallb.io/ip-address-pool.ts';
import type { NetConfigNetwork } from '../../../src/api/network.openstack.org/netconfig.ts';
import type { Dice } from './dice.ts';

/** Each has a NetConfig of its own, with the same addresses. */
export const NAMESPACES = ['east', 'west'];
export const POOLS = 'metallb-system';

/**
 * So few addresses for so many that people have to wait; ranges over the borders of blocks; a gateway in the middle of a range; and addresses
 * that hosts and Services both are given. Each draw is a little larger or smaller than the one before.
 */
export function drawNetworks(dice: Dice): NetConfigNetwork[] {
  const last = 12 + dice.below(6);
  const excludeAddresses = dice.oneIn(3) ? [`172.18.0.${10 + dice.below(5)}`] : [];
  const storage = dice.oneIn(4)
    ? [range('172.18.0.10', '172.18.0.12'), range('172.18.0.15', `172.18.0.${last + 3}`)]
    : [range('172.18.0.10', `172.18.0.${last}`)];
  return [
    network('Storage', {
      name: 'subnet1',
      cidr: '172.18.0.0/24',
      gateway: '172.18.0.11',
      vlan: 21,
      allocationRanges: storage,
      ...(excludeAddresses.length === 0 ? {} : { excludeAddresses }),
    }),
    network(
      'Tenant',
      {
        name: 'subnet1',
        cidr: '172.20.0.0/16',
        allocationRanges: [range('172.20.0.254', `172.20.1.${1 + dice.below(5)}`)],
      },
      {
        name: 'subnet6',
        cidr: 'fd00::/64',
        allocationRanges: [range('fd00::fffe', `fd00::1:${(1 + dice.below(5)).toString(16)}`)],
      },
    ),
    // Overlaps the first one, and has the same router.
    network('Wide', {
      name: 'subnet1',
      cidr: '172.18.0.0/16',
      gateway: '172.18.0.11',
      allocationRanges: [range('172.18.0.9', '172.18.0.14')],
    }),
    network(
      'InternalApi',
      { name: 'subnet1', cidr: '172.17.0.0/24', allocationRanges: [range('172.17.0.80', '172.17.0.85')] },
      { name: 'subnet6', cidr: 'fd17::/64', allocationRanges: [range('fd17::10', 'fd17::14')] },
    ),
  ];
}

/** Name of a pool → what it may look like. */
export const POOL_NAMES = ['internalapi', 'extra'] as const;

export function drawPool(name: (typeof POOL_NAMES)[number], dice: Dice): IPAddressPoolSpec {
  if (name === 'extra') {
    const addresses = [`192.0.2.25${3 + dice.below(3)}-192.0.3.${dice.below(2)}`];
    return { addresses, autoAssign: !dice.oneIn(3), avoidBuggyIPs: dice.oneIn(2) };
  }
  const addresses = [`172.17.0.82-172.17.0.${83 + dice.below(3)}`];
  if (!dice.oneIn(3)) addresses.push(`fd17::12-fd17::1${3 + dice.below(2)}`);
  return { addresses, autoAssign: true, avoidBuggyIPs: false };
}

const range = (start: string, end: string) => ({ start, end });

const network = (name: string, ...subnets: NetConfigNetwork['subnets']): NetConfigNetwork => ({
  name,
  mtu: 1500,
  subnets,
});
