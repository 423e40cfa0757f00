import { Address } from '../api/address.ts';
import type { IPSet, NetworkRequest } from '../api/network.openstack.org/ipset.ts';
import type { Reservation } from '../api/network.openstack.org/reservation.ts';
import { sameName } from '../api/network.openstack.org/shapes.ts';
import type { Holding } from '../ledger/space.ts';
import type { Networks, Subnet } from './networks.ts';

/** What there is to be known about an IPSet when its addresses are decided. */
export interface Situation {
  readonly ipSet: IPSet;
  readonly networks: Networks;
  /** What the ledger has on record for it. */
  readonly holdings: readonly Holding[];
  /** The Reservation of its name, whoever it was made for. */
  readonly reservation: Reservation | undefined;
}

/** What shall become of an IPSet: for each requested network an address, or a way to one, or why there is none. */
export interface Plan {
  readonly entries: readonly PlanEntry[];
  /** What it holds and does not ask for (any more). */
  readonly surplus: readonly Holding[];
}

export interface PlanEntry {
  readonly request: NetworkRequest;
  readonly goal: Goal;
}

export type Goal =
  | { readonly is: 'held'; readonly subnet: Subnet; readonly address: Address }
  /** It was promised this address before; the record of it is missing in the ledger. */
  | { readonly is: 'promised'; readonly subnet: Subnet; readonly address: Address }
  /** It would like this address, which an earlier object of its name had; any other will do. */
  | { readonly is: 'wished'; readonly subnet: Subnet; readonly address: Address }
  | { readonly is: 'fixed'; readonly subnet: Subnet; readonly address: Address }
  | { readonly is: 'any'; readonly subnet: Subnet }
  /** Nobody can say now, and what it holds there stays its own. */
  | { readonly is: 'impossible'; readonly why: string };

/**
 * An address stays for as long as the IPSet lives: whatever the NetConfig says by now, what is promised in its
 * Reservation comes first, then what the ledger has for it, then what it asks for.
 */
export function plan({ ipSet, networks, holdings, reservation }: Situation): Plan {
  const own = reservation !== undefined && isFor(reservation, ipSet);
  const claims = claimsOf({ holdings, reservation, own });
  const subnets = ipSet.spec.networks.map(({ name, subnetName }) => networks.find(name, subnetName));
  const matched = match(ipSet.spec.networks, subnets, claims);
  const entries = ipSet.spec.networks.map((request, i): PlanEntry => {
    const subnet = subnets[i] ?? '';
    if (typeof subnet === 'string') return { request, goal: { is: 'impossible', why: subnet } };
    const claim = matched[i];
    if (claim === undefined || (claim.by === 'wished' && !grants(claim.address, request, subnet))) {
      return { request, goal: goalOf(request, subnet) };
    }
    return { request, goal: { is: claim.by, subnet, address: claim.address } };
  });
  const kept = new Set(matched.map((claim) => claim?.address.toString()));
  const undecided = ipSet.spec.networks.filter((_, i) => typeof subnets[i] === 'string');
  const surplus = holdings.filter(
    ({ address, network }) =>
      !kept.has(address.toString()) && !undecided.some((request) => sameName(request.name, network)),
  );
  return { entries, surplus };
}

/** Whether the Reservation was made for exactly this object, and not for an earlier one of its name. */
export function isFor({ spec, metadata }: Reservation, { metadata: { uid } }: IPSet): boolean {
  return spec.ipSetRef.uid === uid || (metadata.ownerReferences ?? []).some((owner) => owner.uid === uid);
}

/** An address that the IPSet has a right to. */
interface Claim {
  readonly by: 'held' | 'promised' | 'wished';
  readonly address: Address;
  readonly network: string;
  readonly subnet: string;
}

/** The strongest first. What was held twice for a network in a race is decided by the Reservation, which only one can write. */
function claimsOf({
  holdings,
  reservation,
  own,
}: Pick<Situation, 'holdings' | 'reservation'> & { own: boolean }): Claim[] {
  const held = holdings.map(({ address, network, subnet }): Claim => ({ by: 'held', address, network, subnet }));
  const reserved = Object.values(reservation?.spec.reservation ?? {}).flatMap(
    ({ address: text, network, subnet }): Claim[] => {
      const address = Address.parse(text);
      if (address === undefined) return [];
      const onRecord = held.find((claim) => claim.address.equals(address));
      return [onRecord ?? { by: own ? 'promised' : 'wished', address, network, subnet }];
    },
  );
  return own ? [...reserved, ...held] : [...held, ...reserved];
}

/** Gives each request at most one claim: first where network and subnet agree, then where the network and the family do. */
function match(
  requests: readonly NetworkRequest[],
  subnets: readonly (Subnet | string)[],
  claims: readonly Claim[],
): (Claim | undefined)[] {
  const left = new Set(claims);
  const take = (agrees: (claim: Claim) => boolean): Claim | undefined => {
    for (const claim of left) {
      if (!agrees(claim)) continue;
      left.delete(claim);
      return claim;
    }
    return undefined;
  };
  const matched = requests.map(({ name, subnetName }) =>
    take(({ network, subnet }) => sameName(network, name) && sameName(subnet, subnetName)),
  );
  return requests.map(({ name }, i) => {
    const subnet = subnets[i];
    if (matched[i] !== undefined || subnet === undefined || typeof subnet === 'string') return matched[i];
    return take(({ network, address }) => sameName(network, name) && address.family === subnet.prefix.family);
  });
}

/** A wish must not overrule what is asked for, nor the NetConfig. */
const grants = (address: Address, { fixedIP }: NetworkRequest, subnet: Subnet): boolean =>
  fixedIP === undefined && subnet.prefix.contains(address) && !subnet.excludes(address);

function goalOf({ fixedIP }: NetworkRequest, subnet: Subnet): Goal {
  if (fixedIP === undefined) return { is: 'any', subnet };
  const address = Address.parse(fixedIP);
  if (address === undefined || !subnet.prefix.contains(address)) {
    return { is: 'impossible', why: `fixedIP ${fixedIP} is not an address in CIDR ${subnet.prefix}` };
  }
  if (subnet.excludes(address)) {
    const { network, definition } = subnet;
    return {
      is: 'impossible',
      why: `FixedIP ${address} is in ExcludeAddresses of subnet ${definition.name} in network ${network.name}`,
    };
  }
  return { is: 'fixed', subnet, address };
}
