import type { ServiceSpec } from '../../../src/api/core/service.ts';
import type { AddressClaim } from '../../../src/api/netloom.io/address-claim.ts';
import type { IPSet, NetworkRequest } from '../../../src/api/network.openstack.org/ipset.ts';
import type { Dice } from './dice.ts';

/** One address on each of one to five networks, in any spelling, sometimes a certain one. */
export function drawIPSet(dice: Dice): IPSet['spec'] {
  const networks: NetworkRequest[] = [{ name: 'Storage', subnetName: 'subnet1', ...certain(dice, '172.18.0.', 8, 8) }];
  if (dice.oneIn(2)) networks.push({ name: 'tenant', subnetName: 'subnet1' });
  if (dice.oneIn(3)) networks.push({ name: 'Tenant', subnetName: 'subnet6' });
  if (dice.oneIn(2)) {
    networks.push({ name: 'InternalApi', subnetName: 'subnet1', ...certain(dice, '172.17.0.', 80, 7) });
  }
  if (dice.oneIn(4)) networks.push({ name: 'internalapi', subnetName: 'subnet6' });
  if (dice.oneIn(4)) networks.push({ name: 'Wide', subnetName: 'subnet1', ...certain(dice, '172.18.0.', 8, 8) });
  return { immutable: dice.oneIn(4), networks };
}

export function drawClaim(dice: Dice): AddressClaim['spec'] {
  const onHost = { host: `host-${dice.below(3)}` };
  const { fixedIP } = certain(dice, '172.18.0.', 8, 8);
  if (dice.oneIn(3)) return { ...onHost, network: 'InternalApi', subnet: 'subnet1' };
  return {
    ...onHost,
    network: 'storage',
    subnet: 'subnet1',
    ...(fixedIP === undefined ? {} : { address: fixedIP }),
  };
}

const certain = (dice: Dice, start: string, from: number, count: number): { fixedIP?: string } =>
  dice.oneIn(5) ? { fixedIP: `${start}${from + dice.below(count)}` } : {};

/** The annotations of a Service that say what it wants. */
export function drawServiceWishes(dice: Dice): Record<string, string> {
  const wishes: Record<string, string> = {};
  const prefix = dice.oneIn(3) ? 'metallb.universe.tf' : 'metallb.io';
  if (dice.oneIn(2)) wishes[`${prefix}/allow-shared-ip`] = dice.pick(['a', 'b']) ?? '';
  const asks = dice.below(6);
  if (asks === 0) wishes[`${prefix}/loadBalancerIPs`] = `172.17.0.${81 + dice.below(6)}`;
  else if (asks === 1) wishes[`${prefix}/address-pool`] = dice.pick(['extra', 'internalapi', 'none']) ?? '';
  return wishes;
}

export function drawService(dice: Dice): ServiceSpec {
  const ports = [80, 443].filter(() => dice.oneIn(2)).map((port) => ({ name: `p${port}`, port }));
  const families = dice.weighted<ServiceSpec>([
    [5, {}],
    [1, { ipFamilies: ['IPv6'] }],
    [1, { ipFamilyPolicy: 'PreferDualStack' }],
    [1, { ipFamilyPolicy: 'RequireDualStack', ipFamilies: ['IPv6', 'IPv4'] }],
  ]);
  const local: ServiceSpec = { externalTrafficPolicy: 'Local', selector: { app: 'web' } };
  return {
    type: dice.oneIn(8) ? 'ClusterIP' : 'LoadBalancer',
    ports: ports.length > 0 ? ports : [{ name: 'dns', port: 53, protocol: 'UDP' }],
    ...families,
    ...(dice.oneIn(6) ? local : {}),
  };
}
