import type { Address, Family } from '../api/address.ts';
import type { Families } from './family.ts';
import type { Client, Pool } from './pool.ts';
import type { Pools } from './pools.ts';
import type { Register } from './register.ts';
import { mayShare, nameOf, sharingFault, type User } from './terms.ts';
import type { Underlay } from './underlay.ts';
import type { Vip } from './vip.ts';
import { familiesIn, pairFault, quoted, type Wishes } from './wishes.ts';

/** A Service that is to have addresses, and what it has. */
export interface Applicant {
  readonly user: User;
  readonly client: Client;
  readonly families: Families;
  readonly wishes: Wishes;
  /** What its status says; where that is nothing, what is on record for it. */
  readonly current: readonly Address[];
  /** Whether its status says so. */
  readonly isTold: boolean;
}

export interface Decision {
  /** What the Service shall have; empty: nothing. IPv4 comes first. */
  readonly addresses: readonly Address[];
  readonly pool: string;
  /** Leave everything as it is: nobody can understand what is asked for. */
  readonly standstill: boolean;
  /** What the Service has been told to have is taken from it, by no wish of its own. */
  readonly isTakenAway: boolean;
  readonly remarks: readonly Remark[];
  /** Why something is missing that may come: said once, and looked at again when something changes. */
  readonly lack: Remark | undefined;
}

export interface Remark {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

export interface Stock {
  readonly pools: Pools;
  readonly register: Register;
  readonly underlay: Underlay;
}

/** What a Service shall have. An address stays for as long as nothing that is asked for speaks against it. */
export function decide(applicant: Applicant, stock: Stock): Decision {
  const { user, wishes } = applicant;
  const remarks: Remark[] = [];
  const standing = standingOf(applicant, stock);
  if (standing.fault !== undefined) {
    const message = `current IP for "${nameOf(user)}" not allowed by config, will attempt for new IP assignment: ${standing.fault}`;
    remarks.push({ type: 'Normal', reason: 'ClearAssignment', message });
  }
  const isTakenAway = standing.fault !== undefined;
  const asked = wishes.addresses;
  if ('fault' in asked) return puzzled(applicant, standing, { isTakenAway, remarks }, asked.fault);
  const fits =
    standing.addresses.length > 0 &&
    (wishes.pool === '' || wishes.pool === standing.pool) &&
    (asked.length === 0 || sameSet(asked, standing.addresses));
  const kept = fits ? completed(applicant, stock, standing, remarks) : undefined;
  if (kept !== undefined) return kept;
  const found = allocate(applicant, asked, stock);
  if (typeof found === 'string') return { ...NOTHING, isTakenAway, remarks, lack: notAllocated(user, found) };
  remarks.push({ type: 'Normal', reason: 'IPAllocated', message: `Assigned IP ${quoted(found.addresses)}` });
  return { addresses: found.addresses, pool: found.pool, standstill: false, isTakenAway, remarks, lack: undefined };
}

/** Who asks for what nobody can understand keeps what it may keep of what it has been told, and gets nothing else. */
function puzzled(
  { user, isTold }: Applicant,
  { addresses, pool }: Given,
  { isTakenAway, remarks }: Pick<Decision, 'isTakenAway' | 'remarks'>,
  fault: string,
): Decision {
  if (!isTold || addresses.length === 0) {
    return { ...NOTHING, isTakenAway, remarks, lack: notAllocated(user, fault) };
  }
  const message = `invalid requested loadbalancer IPs: ${fault}`;
  const lack: Remark = { type: 'Warning', reason: 'LoadBalancerFailed', message };
  return { addresses, pool, standstill: true, isTakenAway, remarks, lack };
}

const notAllocated = (user: User, why: string): Remark => ({
  type: 'Warning',
  reason: 'AllocationFailed',
  message: `Failed to allocate IP for "${nameOf(user)}": ${why}`,
});

interface Given {
  readonly addresses: readonly Address[];
  readonly pool: string;
}

/** What the Service has and may keep, whatever it asks for by now. */
function standingOf(applicant: Applicant, stock: Stock): Given & { fault?: string } {
  const { user, families, current, isTold } = applicant;
  const nothing = { addresses: [], pool: '' };
  // Of a family that the Service does not have any more it needs no address, and keeps the other.
  const fitting = current.filter(({ family }) => families.wanted.includes(family));
  if (fitting.length === 0 || pairFault(current) !== undefined) return nothing;
  const pool = keepingPool(fitting, user, stock);
  const fault =
    pool === undefined ? `${quoted(fitting)} is not allowed in config` : keepingFault(pool, fitting, applicant, stock);
  if (pool !== undefined && fault === undefined) return { addresses: inOrder(fitting), pool: pool.name };
  // An address that was only on its way may turn back, and nobody needs to hear of it.
  return isTold && fault !== undefined ? { ...nothing, fault } : nothing;
}

const keepingFault = (
  pool: Pool,
  addresses: readonly Address[],
  applicant: Applicant,
  stock: Stock,
): string | undefined =>
  pool.serves(applicant.client)
    ? useFault(addresses, applicant, stock)
    : `pool ${pool.name} not compatible for ip assignment`;

/**
 * The pool that gives these addresses now or, when its ranges do not have them any more, the one that gave them: who has an
 * address keeps it until it gives it back.
 */
function keepingPool(addresses: readonly Address[], { uid }: User, { pools, register }: Stock): Pool | undefined {
  const giving = pools.giving(addresses);
  if (giving !== undefined) return giving;
  const givers = addresses.map((address) => {
    const vip = register.at(address);
    return vip?.users.some((user) => user.uid === uid) === true ? vip.pool : undefined;
  });
  const [giver] = givers;
  return giver !== undefined && givers.every((other) => other === giver) ? pools.find(giver) : undefined;
}

function isOfFamilies(addresses: readonly Address[], { wanted, oneWillDo }: Families): boolean {
  if (pairFault(addresses) !== undefined) return false;
  const has = familiesIn(addresses);
  if (![...has].every((family) => wanted.includes(family))) return false;
  return has.size === wanted.length || oneWillDo;
}

/**
 * With one address where two are preferred, the other may come later, from the same pool. Undefined where two are required and
 * the pool has no other.
 */
function completed(
  applicant: Applicant,
  stock: Stock,
  { addresses, pool: name }: Given,
  remarks: readonly Remark[],
): Decision | undefined {
  const { user, families, wishes } = applicant;
  const kept = { addresses, pool: name, standstill: false, isTakenAway: false, remarks, lack: undefined };
  const missing = families.wanted.find((family) => !familiesIn(addresses).has(family));
  if (missing === undefined) return kept;
  // Who asks for exactly this one address has all that it wants, unless it cannot do with one.
  if (!('length' in wishes.addresses) || wishes.addresses.length > 0) return families.oneWillDo ? kept : undefined;
  const pool = stock.pools.find(name);
  const more = pool === undefined || pool.isLeaving ? undefined : firstFit(pool, missing, user, stock);
  if (more === undefined && !families.oneWillDo) return undefined;
  if (more === undefined) {
    const message = `cannot assign additional IP in PreferDualStack: no available IPv${missing} addresses in pool ${name}`;
    return { ...kept, lack: { type: 'Normal', reason: 'AdditionalAssignFailed', message } };
  }
  const remark: Remark = { type: 'Normal', reason: 'IPAllocated', message: `Assigned additional IP "${more}"` };
  return { ...kept, addresses: inOrder([...addresses, more]), remarks: [...remarks, remark] };
}

/** New addresses, or why there are none. */
function allocate(applicant: Applicant, asked: readonly Address[], stock: Stock): Given | string {
  if (asked.length > 0) return exactly(asked, applicant, stock);
  const { client, families, user, wishes } = applicant;
  if (wishes.pool !== '') {
    const pool = stock.pools.find(wishes.pool);
    if (pool === undefined) return `unknown pool "${wishes.pool}"`;
    if (!pool.serves(client)) return `pool ${pool.name} not compatible for ip assignment`;
    if (pool.isLeaving) return `pool "${pool.name}" is being deleted`;
    return fromPools([pool], families, user, stock) ?? `no available IPs in pool ${pool.name}`;
  }
  for (const pools of stock.pools.automaticFor(client)) {
    const found = fromPools(pools, families, user, stock);
    if (found !== undefined) return found;
  }
  return 'no available IPs';
}

function exactly(asked: readonly Address[], applicant: Applicant, stock: Stock): Given | string {
  const { client, families, wishes } = applicant;
  if (!isOfFamilies(asked, families)) {
    const inside = families.wanted.map((family) => `IPv${family}`).join(' and ');
    return `requested loadBalancer IP(s) ${quoted(asked)} does not match the ipFamily of the service, which is ${inside}`;
  }
  const pool = stock.pools.giving(asked);
  if (pool === undefined) return `${quoted(asked)} is not allowed in config: ${whyNotGiven(asked, stock.pools)}`;
  if (!pool.serves(client)) return `pool ${pool.name} not compatible for ip assignment`;
  if (wishes.pool !== '' && wishes.pool !== pool.name) {
    return `requested loadBalancer IP(s) ${quoted(asked)} is not compatible with requested address pool ${wishes.pool}: the pool is ${pool.name}`;
  }
  if (pool.isLeaving) return `pool "${pool.name}" is being deleted`;
  return useFault(asked, applicant, stock) ?? { addresses: inOrder(asked), pool: pool.name };
}

function whyNotGiven(asked: readonly Address[], pools: Pools): string {
  for (const address of asked) {
    const pool = pools.around(address);
    if (pool?.gives(address) === false) return `pool ${pool.name} has avoidBuggyIPs, and never gives "${address}"`;
  }
  return `no pool has ${asked.length === 1 ? 'it' : 'them'}`;
}

/** From the first pool that has all that is wanted; else, if one will do, from the first that has the primary family, or the other. */
function fromPools(
  pools: readonly Pool[],
  { wanted, oneWillDo }: Families,
  user: User,
  stock: Stock,
): Given | undefined {
  const tries = wanted.length > 1 && oneWillDo ? [wanted, ...wanted.map((family) => [family])] : [wanted];
  for (const families of tries) {
    for (const pool of pools) {
      const addresses = families.flatMap((family) => firstFit(pool, family, user, stock) ?? []);
      if (addresses.length === families.length) return { addresses: inOrder(addresses), pool: pool.name };
    }
  }
  return undefined;
}

/**
 * The address of the pool that the Service has already; else the first one that nobody has, or that those who have it share with this
 * Service.
 */
function firstFit(pool: Pool, family: Family, user: User, { register, underlay }: Stock): Address | undefined {
  const mayUse = ({ address, users }: Vip): boolean =>
    address.family === family &&
    pool.gives(address) &&
    mayShare(user, othersThan(user, users)) &&
    underlay.stranger(address) === undefined;
  const own = register.of(user.uid).find(mayUse);
  if (own !== undefined) return own.address;
  const free = pool.firstFree(family);
  const { sharingKey, ports } = user.terms;
  if (sharingKey === '') return free;
  let best = free;
  for (const vip of register.sharedUnder(sharingKey, ports)) {
    if (best !== undefined && !comesBefore(vip.address, best, pool)) continue;
    if (mayUse(vip)) best = vip.address;
  }
  return best;
}

/** Why a Service cannot use these; nothing when it can. */
function useFault(
  addresses: readonly Address[],
  { user, current, isTold }: Applicant,
  { register, underlay }: Stock,
): string | undefined {
  for (const address of addresses) {
    const vip = register.at(address);
    // Who has been told that it has the address keeps it, whoever else says to have it.
    const isCurrent = isTold && current.some((one) => one.equals(address));
    const isUser = isCurrent && vip?.users.some(({ uid }) => uid === user.uid) === true;
    const stranger = isUser ? undefined : underlay.stranger(address);
    if (stranger !== undefined) {
      const { coolsUntil, namespace, holder } = stranger;
      const who = `${holder.kind} ${holder.name} in namespace ${namespace}`;
      return coolsUntil === undefined
        ? `"${address}" is held by ${who}`
        : `"${address}" was given back by ${who} and cools down until ${coolsUntil}`;
    }
    const fault = vip === undefined ? undefined : sharingFault(user, othersThan(user, vip.users), address);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

const othersThan = ({ uid }: User, users: readonly User[]): User[] => users.filter((other) => other.uid !== uid);

function comesBefore(a: Address, b: Address, pool: Pool): boolean {
  const [placeA, placeB] = [pool.placeOf(a) ?? 0, pool.placeOf(b) ?? 0];
  return placeA === placeB ? a.value < b.value : placeA < placeB;
}

const inOrder = (addresses: readonly Address[]): Address[] => [...addresses].sort((a, b) => a.family - b.family);

const sameSet = (a: readonly Address[], b: readonly Address[]): boolean =>
  a.length === b.length && a.every((address) => b.some((other) => other.equals(address)));

const NOTHING: Omit<Decision, 'remarks' | 'lack' | 'isTakenAway'> = { addresses: [], pool: '', standstill: false };
