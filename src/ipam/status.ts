import type { IPSetStatus, NetworkRequest, ReservedAddress } from '../api/network.openstack.org/ipset.ts';
import { folded } from '../api/network.openstack.org/shapes.ts';
import type { Allotment } from './allocator.ts';
import { isAbout, type Reserved } from './reservation.ts';

/**
 * What a host must know to use its addresses: the control plane first, then by network. `before`: what was said so far, which goes on
 * being said where nobody knows better.
 */
export function reservationsOf(
  { reserved, undecided }: Pick<Allotment, 'reserved' | 'undecided'>,
  before: readonly ReservedAddress[] = [],
): Required<Pick<IPSetStatus, 'reservation' | 'reservations'>> {
  const still = before.filter((entry) => undecided.some((request) => isAbout(request, entry)));
  const reservations = [...reserved.map(entryOf), ...still].sort(inOrder);
  return { reservation: reservations.map(({ address }) => address).join(', '), reservations };
}

function entryOf({ request, subnet, address }: Reserved & { readonly request: NetworkRequest }): ReservedAddress {
  const { network, definition, gateway, prefix } = subnet;
  const dnsDomain = definition.dnsDomain ?? network.dnsDomain;
  const routes = [...(definition.routes ?? [])];
  if (request.defaultRoute === true && gateway !== undefined) {
    routes.push({ destination: prefix.family === 4 ? '0.0.0.0/0' : '::/0', nexthop: gateway.toString() });
  }
  return {
    network: network.name,
    subnet: definition.name,
    address: address.toString(),
    mtu: network.mtu,
    cidr: definition.cidr,
    serviceNetwork: network.serviceNetwork ?? folded(network.name),
    ...(dnsDomain === undefined ? {} : { dnsDomain }),
    ...(definition.vlan === undefined ? {} : { vlan: definition.vlan }),
    ...(definition.gateway === undefined ? {} : { gateway: definition.gateway }),
    ...(routes.length === 0 ? {} : { routes }),
  };
}

function inOrder(a: ReservedAddress, b: ReservedAddress): number {
  if (isControlPlane(a) !== isControlPlane(b)) return isControlPlane(a) ? -1 : 1;
  if (a.network !== b.network) return a.network < b.network ? -1 : 1;
  // The two families of one network.
  return Number(a.address.includes(':')) - Number(b.address.includes(':'));
}

const isControlPlane = ({ network, serviceNetwork }: ReservedAddress): boolean =>
  folded(network) === CONTROL_PLANE || (serviceNetwork !== undefined && folded(serviceNetwork) === CONTROL_PLANE);

const CONTROL_PLANE = 'ctlplane';
