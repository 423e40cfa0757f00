import { type Address, compareAddresses, type Family } from '../api/address.ts';
import type { Condition } from '../api/condition.ts';
import type { IPAddressPool, IPAddressPoolStatus, PoolFamilyStatus } from '../api/metallb.io/ip-address-pool.ts';
import type { Metric } from '../runtime/metrics.ts';
import { timestamp } from '../runtime/timestamp.ts';
import type { Pool } from './pool.ts';
import type { Register } from './register.ts';
import { nameOf } from './terms.ts';
import type { Underlay } from './underlay.ts';
import type { Vip } from './vip.ts';

/** What there is to be known about a pool when its status is made. */
export interface PoolFacts {
  readonly object: IPAddressPool;
  /** Undefined where nothing can be given from it; then `fault` says why. */
  readonly pool: Pool | undefined;
  readonly fault: string | undefined;
  readonly register: Register;
  readonly underlay: Underlay;
  /** Names of the advertisements for it. */
  readonly advertisements: readonly string[];
  /** Ranges of networks that give the same addresses to hosts. */
  readonly overlaps: readonly string[];
  /** From which part on a pool is nearly full. */
  readonly nearlyFull: number;
  /** Milliseconds since 1970. */
  readonly now: number;
}

type Statement = Pick<Condition, 'type' | 'status' | 'reason' | 'message'> & { severity?: 'Error' | 'Warning' };

export function poolStatus(facts: PoolFacts): IPAddressPoolStatus {
  const vips = inOrder(facts.register.from(facts.object.metadata.name));
  const counts = { 4: countsOf(4, vips, facts.pool), 6: countsOf(6, vips, facts.pool) };
  return {
    assignedIPv4: counts[4].assigned,
    assignedIPv6: counts[6].assigned,
    availableIPv4: counts[4].available,
    availableIPv6: counts[6].available,
    usage: usageOf(counts, facts.pool !== undefined),
    families: [counts[4], counts[6]].filter(({ capacity }) => capacity > 0n).map(familyStatus),
    conditions: dated(statements(facts, vips, counts), facts),
  };
}

/** How full pools are, per family where a pool has addresses of it. */
export function poolMetric(pools: Iterable<Pool>, namespace: string): Metric {
  const samples = [...pools].flatMap((pool) =>
    ([4, 6] as const).flatMap((family) => {
      const { capacity, taken, available, excluded } = countsOf(family, [], pool);
      const labels = { namespace, pool: pool.name, family: `IPv${family}` };
      const total = Number(capacity);
      const states = capacity === 0n ? {} : { free: available, held: taken, excluded: Number(excluded), total };
      return Object.entries(states).map(([state, value]) => ({ labels: { ...labels, state }, value }));
    }),
  );
  return {
    name: 'netloom_pool_addresses',
    type: 'gauge',
    help: 'Addresses of an IPAddressPool; held are those that Services or hosts have, total is what is free or held.',
    samples,
  };
}

interface Counts {
  readonly family: Family;
  readonly assigned: number;
  /** Of those, how many the pool does not have any more. */
  readonly outside: number;
  readonly available: number;
  readonly capacity: bigint;
  readonly taken: number;
  readonly excluded: bigint;
  readonly next: Address | undefined;
}

function countsOf(family: Family, vips: readonly Vip[], pool: Pool | undefined): Counts {
  const capacity = pool?.capacity(family) ?? 0n;
  const taken = pool?.taken(family) ?? 0;
  const left = capacity > BigInt(taken) ? capacity - BigInt(taken) : 0n;
  const assigned = vips.filter(({ address }) => address.family === family);
  return {
    family,
    assigned: assigned.length,
    outside: assigned.filter(({ address }) => pool?.gives(address) === false).length,
    available: exact(left),
    capacity,
    taken,
    excluded: pool?.excluded(family) ?? 0n,
    next: pool?.firstFree(family),
  };
}

const familyStatus = ({ family, capacity, taken, available, excluded, next }: Counts): PoolFamilyStatus => ({
  family: family === 4 ? 'IPv4' : 'IPv6',
  total: exact(capacity),
  held: taken,
  free: available,
  excluded: exact(excluded),
  ...(next === undefined ? {} : { next: next.toString() }),
});

/** Numbers beyond this are not exact in JSON. */
const MOST = BigInt(Number.MAX_SAFE_INTEGER);
const exact = (count: bigint): number => Number(count > MOST ? MOST : count);

function usageOf(counts: Readonly<Record<Family, Counts>>, isSound: boolean): string {
  const texts = [counts[4], counts[6]]
    .filter(({ capacity, assigned }) => capacity > 0n || assigned > 0)
    .map(({ family, assigned, outside, capacity }) => {
      if (capacity === 0n && isSound) return `${outside} IPv${family} outside`;
      const whole = capacity > MOST || !isSound ? '' : ` of ${capacity}`;
      const rest = outside === 0 ? '' : ` and ${outside} outside`;
      return `${assigned - outside}${whole} IPv${family}${rest}`;
    });
  return texts.join(', ');
}

function statements(facts: PoolFacts, vips: readonly Vip[], counts: Readonly<Record<Family, Counts>>): Statement[] {
  const found = [announced(facts), ...fullness(facts, counts), ...overlapping(facts, vips), ...outside(facts, vips)];
  return [ready(facts, vips), ...found.sort((a, b) => (a.type < b.type ? -1 : 1))];
}

function ready({ object, fault, advertisements }: PoolFacts, vips: readonly Vip[]): Statement {
  const { name, deletionTimestamp } = object.metadata;
  const no = { type: 'Ready', status: 'False' } as const;
  if (deletionTimestamp !== undefined) {
    const message = `the pool is being deleted, and goes when these have given back its addresses: ${usersOf(vips)}`;
    return { ...no, severity: 'Warning', reason: 'InUse', message };
  }
  if (fault !== undefined)
    return { ...no, severity: 'Error', reason: 'Invalid', message: `nothing is given from the pool: ${fault}` };
  if (advertisements.length === 0)
    return { ...no, severity: 'Warning', reason: 'NotAdvertised', message: notAdvertised(name) };
  return { type: 'Ready', status: 'True', reason: 'Ready', message: 'Setup complete' };
}

function announced({ object, advertisements }: PoolFacts): Statement {
  const type = 'Advertised';
  if (advertisements.length === 0) {
    return {
      type,
      status: 'False',
      severity: 'Warning',
      reason: 'NotAdvertised',
      message: notAdvertised(object.metadata.name),
    };
  }
  return { type, status: 'True', reason: 'Ready', message: `announced by ${advertisements.join(', ')}` };
}

const notAdvertised = (name: string): string =>
  `nobody announces the addresses: no L2Advertisement names pool ${name}, selects its labels, or is for all pools`;

function fullness({ nearlyFull }: PoolFacts, counts: Readonly<Record<Family, Counts>>): Statement[] {
  const own = [counts[4], counts[6]].filter(({ capacity }) => capacity > 0n);
  const full = own.filter(({ available }) => available === 0);
  const near = own.filter(({ capacity, taken }) => taken >= Math.ceil(Number(capacity) * nearlyFull));
  const say = (type: string, which: readonly Counts[], otherwise: string): Statement => {
    const texts = which.map(({ family, taken, assigned, outside, capacity }) => {
      const strangers = taken - (assigned - outside);
      const others = strangers > 0 ? ` (${strangers} by hosts or as routers)` : '';
      return `${taken} of ${capacity} IPv${family} addresses are in use${others}`;
    });
    if (texts.length === 0) return { type, status: 'False', reason: 'Room', message: otherwise };
    return {
      type,
      status: 'True',
      reason: type,
      message: `${texts.join(', ')}; add addresses to the pool, or delete Services`,
    };
  };
  return [
    say('NearlyFull', near, `less than ${Math.round(nearlyFull * 100)} % of the addresses are in use`),
    say('Full', full, 'there are free addresses'),
  ];
}

function overlapping({ underlay, overlaps, object }: PoolFacts, vips: readonly Vip[]): Statement[] {
  const conflicts = vips.flatMap(({ address, users }) => {
    const stranger = underlay.stranger(address);
    if (stranger === undefined) return [];
    const { kind, name } = stranger.holder;
    return [
      `${address} of ${users.map(nameOf).join(', ')} is held by ${kind} ${name} in namespace ${stranger.namespace} as well`,
    ];
  });
  if (overlaps.length + conflicts.length === 0) return [];
  const mine = object.spec.addresses.join(', ');
  const met =
    overlaps.length === 0
      ? []
      : [`${mine} of pool ${object.metadata.name} overlaps ${some(overlaps)}: an address of both is given only once`];
  return [
    {
      type: 'Overlaps',
      status: 'True',
      reason: conflicts.length > 0 ? 'Conflict' : 'Overlap',
      message: [...conflicts.slice(0, SHOWN), ...met].join('; '),
    },
  ];
}

/** Addresses that were taken out of the pool while Services had them. */
function outside({ pool, object }: PoolFacts, vips: readonly Vip[]): Statement[] {
  const left = pool === undefined ? [] : vips.filter(({ address }) => !pool.gives(address));
  if (left.length === 0) return [];
  const message = `pool ${object.metadata.name} does not have these addresses any more, they stay until they are given back: ${usersOf(left)}`;
  return [{ type: 'Shrunk', status: 'True', reason: 'InUse', message }];
}

/** The same words, whatever came first: two that say them in different orders would correct each other for ever. */
const inOrder = (vips: readonly Vip[]): Vip[] => [...vips].sort((a, b) => compareAddresses(a.address, b.address));

/** `ns/name (address)` for each, the lowest address first. */
export function usersOf(vips: readonly Vip[]): string {
  return some(inOrder(vips).flatMap(({ address, users }) => users.map((user) => `${nameOf(user)} (${address})`)));
}

const some = (texts: readonly string[]): string =>
  texts.length <= SHOWN ? texts.join(', ') : `${texts.slice(0, SHOWN).join(', ')} and ${texts.length - SHOWN} more`;
const SHOWN = 10;

/** What stays as it is keeps its time. */
function dated(statements: readonly Statement[], { object, now }: PoolFacts): Condition[] {
  return statements.map((statement) => {
    const before = object.status?.conditions?.find(({ type }) => type === statement.type);
    const same =
      before?.status === statement.status && before.reason === statement.reason && before.message === statement.message;
    return { ...statement, lastTransitionTime: same ? before.lastTransitionTime : timestamp(now) };
  });
}
