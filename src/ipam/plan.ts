import { Address } from '../api/address.ts';
import type { NetworkRequest } from '../api/network.openstack.org/ipset.ts';
import { sameName } from '../api/network.openstack.org/shapes.ts';
import type { Holding } from '../ledger/space.ts';
import type { Applicant, Promises } from './applicant.ts';
import type { Networks, Subnet } from './networks.ts';

/** What there is to be known about an applicant when its addresses are decided. */
export interface Situation extends Pick<Applicant, 'requests' | 'promises' | 'told'> {
  readonly networks: Networks;
  /** What the ledger has on record for it. */
  readonly holdings: readonly Holding[];
  /** What cools down after an earlier object of its name. */
  readonly former: readonly Holding[];
  /** Whether the ledger has somebody else on record for an address, as far as we know. */
  readonly isAnothers: (address: Address) => boolean;
}

/** What shall become of an applicant: for each requested network an address, or a way to one, or why there is none. */
export interface Plan {
  readonly entries: readonly PlanEntry[];
  /** What it holds and does not ask for (any more). */
  readonly surplus: readonly Holding[];
  /** Whether it was promised something that it does not get, because it has something in its place. */
  readonly overrules: boolean;
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
 * An address stays for as long as its holder lives: whatever the NetConfig says by now, what is promised to it in writing
 * comes first, then what the ledger has for it, what its status says, and then what it asks for. What somebody else has was promised
 * in vain, and so was what the ledger knows nothing of when it has another one for it: it keeps what it has, and waits for the promised
 * address only where it has none.
 */
export function plan({ requests, networks, ...known }: Situation): Plan {
  const { holdings } = known;
  const rights = [...rightsOf(known), ...known.former.map((holding): Right => ({ by: 'former', ...holding }))];
  const subnets = requests.map(({ name, subnetName }) => networks.find(name, subnetName));
  const matched = match(requests, subnets, rights);
  const entries = requests.map((request, i): PlanEntry => {
    const subnet = subnets[i] ?? '';
    if (typeof subnet === 'string') return { request, goal: { is: 'impossible', why: subnet } };
    const right = matched[i];
    if (right === undefined || !grants(right, request, subnet)) return { request, goal: goalOf(request, subnet) };
    return { request, goal: { is: AS_GOAL[right.by], subnet, address: right.address } };
  });
  const kept = new Set(matched.map((right) => right?.address.toString()));
  const undecided = requests.filter((_, i) => typeof subnets[i] === 'string');
  const surplus = holdings.filter(
    ({ address, network }) =>
      !kept.has(address.toString()) && !undecided.some((request) => sameName(request.name, network)),
  );
  const overrules = rights.some((right) => right.by === 'vain' && !matched.includes(right));
  return { entries: onceEach(entries), surplus, overrules };
}

/** An address that the applicant has a right to. */
interface Right {
  readonly by: 'held' | 'promised' | 'vain' | 'wished' | 'former';
  readonly address: Address;
  readonly network: string;
  readonly subnet: string;
}

/**
 * The strongest first. What was held twice for a network in a race is decided by the promise, which only one can write. What the status says
 * counts where neither is known: a promise may have been deleted, and what is held be on its way to us.
 */
function rightsOf({
  holdings,
  promises,
  told,
  isAnothers,
}: Pick<Situation, 'holdings' | 'promises' | 'told' | 'isAnothers'>): Right[] {
  const held = holdings.map(({ address, network, subnet }): Right => ({ by: 'held', address, network, subnet }));
  const promised = inWriting(promises, held);
  if (!promises.areOwn) {
    const said = inWriting(told, [...held, ...promised]).filter((right) => !held.includes(right));
    return [...held, ...said.filter((right) => !promised.includes(right)), ...promised];
  }
  // A promise is written once its address is on record: one that contradicts the ledger was written by somebody else.
  const others = held.filter((right) => !promised.includes(right));
  const isVain = (right: Right): boolean =>
    right.by === 'promised' && (isAnothers(right.address) || others.some((other) => isAlternative(other, right)));
  const vain = promised.filter(isVain).map((right): Right => ({ ...right, by: 'vain' }));
  const known = [...promised.filter((right) => !isVain(right)), ...held, ...vain];
  return [...known, ...inWriting(told, known).filter((right) => !known.includes(right))];
}

/** Of two rights of one applicant, whether one of them is enough. */
const isAlternative = (a: Right, b: Right): boolean =>
  sameName(a.network, b.network) && a.address.family === b.address.family;

/** Those that are in writing; what is known of an address already stays what it is. */
const inWriting = ({ areOwn, entries }: Promises, known: readonly Right[]): Right[] =>
  entries.flatMap(({ address: text, network, subnet }): Right[] => {
    const address = Address.parse(text);
    if (address === undefined) return [];
    const before = known.find((right) => right.address.equals(address));
    return [before ?? { by: areOwn ? 'promised' : 'wished', address, network, subnet }];
  });

/** Gives each request at most one right: first where network and subnet agree, then where the network and the family do. */
function match(
  requests: readonly NetworkRequest[],
  subnets: readonly (Subnet | string)[],
  rights: readonly Right[],
): (Right | undefined)[] {
  const left = new Set(rights);
  const take = (agrees: (right: Right) => boolean): Right | undefined => {
    for (const right of left) {
      if (!agrees(right)) continue;
      left.delete(right);
      return right;
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

const AS_GOAL = {
  held: 'held',
  promised: 'promised',
  vain: 'promised',
  wished: 'wished',
  former: 'wished',
} as const satisfies Record<Right['by'], Goal['is']>;

/** Networks may overlap: of several requests that come to the same address only the one with the strongest reason has it. */
function onceEach(entries: readonly PlanEntry[]): PlanEntry[] {
  const first = new Map<string, PlanEntry>();
  for (const reason of REASONS) {
    for (const entry of entries) {
      if (entry.goal.is !== reason) continue;
      const address = entry.goal.address.toString();
      if (!first.has(address)) first.set(address, entry);
    }
  }
  return entries.map((entry): PlanEntry => {
    const { request, goal } = entry;
    if (goal.is === 'any' || goal.is === 'impossible') return entry;
    const other = first.get(goal.address.toString());
    if (other === undefined || other === entry) return entry;
    if (goal.is === 'wished') return { request, goal: { is: 'any', subnet: goal.subnet } };
    const { name, subnetName } = other.request;
    const why = `${goal.address} is given only once, and here it is for network ${name} subnet ${subnetName}, not for network ${request.name} subnet ${request.subnetName} as well`;
    return { request, goal: { is: 'impossible', why } };
  });
}

/** Why somebody shall have a certain address, the strongest reason first. */
const REASONS = ['held', 'promised', 'fixed', 'wished'] as const;

/** A wish must not overrule what is asked for, nor the NetConfig. What cools down is wished for only where anybody may get it. */
function grants({ by, address }: Right, { fixedIP }: NetworkRequest, subnet: Subnet): boolean {
  if (by !== 'wished' && by !== 'former') return true;
  if (fixedIP !== undefined || !subnet.prefix.contains(address)) return false;
  return by === 'former' ? subnet.pool.gives(address) : !subnet.excludes(address) && !subnet.isRouter(address);
}

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
