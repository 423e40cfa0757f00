import type { Family } from '../api/address.ts';
import type { Condition } from '../api/condition.ts';
import type { NetConfig, NetConfigStatus, SubnetStatus } from '../api/network.openstack.org/netconfig.ts';
import type { Metric } from '../runtime/metrics.ts';
import { timestamp } from '../runtime/timestamp.ts';
import type { Fullness } from './fullness.ts';

/** What there is to be known about a NetConfig when its status is made. */
export interface NetConfigFacts {
  readonly object: NetConfig;
  readonly subnets: readonly Fullness[];
  /** Why some subnets cannot be used, a sentence each. */
  readonly faults: readonly string[];
  /** Where pools of Services give the same addresses. */
  readonly overlaps: readonly string[];
  /** From which part on a subnet is nearly full. */
  readonly nearlyFull: number;
  /** Milliseconds since 1970. */
  readonly now: number;
}

type Statement = Pick<Condition, 'type' | 'status' | 'reason' | 'message'> & { severity?: 'Error' | 'Warning' };

export function netConfigStatus(facts: NetConfigFacts): NetConfigStatus {
  return {
    usage: usageOf(facts.subnets),
    subnets: facts.subnets.map(subnetStatus),
    conditions: dated([ready(facts), ...fullness(facts), ...overlapping(facts)], facts),
  };
}

/** Of a NetConfig that nobody goes by, because another one of its namespace is older. */
export const unusedStatus = (object: NetConfig, inUse: string, now: number): NetConfigStatus => ({
  usage: '',
  subnets: [],
  conditions: dated(
    [
      {
        type: 'Ready',
        status: 'False',
        severity: 'Error',
        reason: 'NotInUse',
        message: `NetConfig ${inUse} is older, and the only one that counts in its namespace: delete one of the two`,
      },
    ],
    { object, now },
  ),
});

export function fullnessMetric(
  netConfigs: Iterable<{ namespace: string; name: string; subnets: readonly Fullness[] }>,
): Metric {
  const samples = [...netConfigs].flatMap(({ namespace, name: netconfig, subnets }) =>
    subnets.flatMap(({ subnet, total, held, cooling, free, excluded }) => {
      const labels = { namespace, netconfig, network: subnet.network.name, subnet: subnet.definition.name };
      return Object.entries({ free, held, cooling, excluded, total }).map(([state, value]) => ({
        labels: { ...labels, state },
        value: Number(value),
      }));
    }),
  );
  return {
    name: 'netloom_subnet_addresses',
    type: 'gauge',
    help: 'Addresses in the allocation ranges of a subnet; total is what is free, held or cooling down.',
    samples,
  };
}

const subnetStatus = ({ subnet, total, held, cooling, free, heldOutside, excluded, next }: Fullness): SubnetStatus => ({
  network: subnet.network.name,
  subnet: subnet.definition.name,
  total: exact(total),
  held,
  ...(cooling === 0 ? {} : { cooling }),
  free: exact(free),
  heldOutside,
  excluded: exact(excluded),
  ...(next === undefined ? {} : { next: next.toString() }),
});

/** Numbers beyond this are not exact in JSON. */
const MOST = BigInt(Number.MAX_SAFE_INTEGER);
const exact = (count: bigint): number => Number(count > MOST ? MOST : count);

function usageOf(subnets: readonly Fullness[]): string {
  const texts = ([4, 6] as const).flatMap((family: Family) => {
    const own = subnets.filter(({ subnet }) => subnet.prefix.family === family);
    const held = own.reduce((sum, each) => sum + each.held, 0);
    const total = own.reduce((sum, each) => sum + each.total, 0n);
    if (total === 0n) return [];
    return [`${held}${total > MOST ? '' : ` of ${total}`} IPv${family}`];
  });
  return texts.join(', ');
}

function ready({ faults }: NetConfigFacts): Statement {
  if (faults.length === 0) return { type: 'Ready', status: 'True', reason: 'Ready', message: 'Setup complete' };
  const message = `nothing is given from some subnets: ${some(faults, '; ')}`;
  return { type: 'Ready', status: 'False', severity: 'Error', reason: 'Invalid', message };
}

function fullness({ subnets, nearlyFull }: NetConfigFacts): Statement[] {
  const own = subnets.filter(({ subnet }) => subnet.definition.allocationRanges.length > 0);
  const full = own.filter(({ free }) => free === 0n);
  const near = own.filter(({ held, cooling, total }) => held + cooling >= Math.ceil(Number(total) * nearlyFull));
  const say = (type: string, which: readonly Fullness[], otherwise: string): Statement => {
    const texts = which.map(({ subnet: { network, definition }, held, cooling, total }) => {
      const where = `network ${network.name}/${definition.name}`;
      if (total === 0n) return `no address of ${where} is given unasked`;
      return `${held} of ${total} addresses of ${where} are held${cooling === 0 ? '' : ` and ${cooling} cool down`}`;
    });
    if (texts.length === 0) return { type, status: 'False', reason: 'Room', message: otherwise };
    return {
      type,
      status: 'True',
      reason: type,
      message: `${some(texts)}; extend the allocation ranges, or delete IPSets`,
    };
  };
  return [
    say('Full', full, 'there are free addresses in every subnet'),
    say('NearlyFull', near, `less than ${Math.round(nearlyFull * 100)} % of the addresses of any subnet are held`),
  ];
}

function overlapping({ overlaps }: NetConfigFacts): Statement[] {
  if (overlaps.length === 0) return [];
  const message = `${some(overlaps)}: an address of both is given only once`;
  return [{ type: 'Overlaps', status: 'True', reason: 'Overlap', message }];
}

const some = (texts: readonly string[], separator = ', '): string =>
  texts.length <= SHOWN
    ? texts.join(separator)
    : `${texts.slice(0, SHOWN).join(separator)} and ${texts.length - SHOWN} more`;
const SHOWN = 10;

/** What stays as it is keeps its time. */
function dated(statements: readonly Statement[], { object, now }: Pick<NetConfigFacts, 'object' | 'now'>): Condition[] {
  return statements.map((statement) => {
    const before = object.status?.conditions?.find(({ type }) => type === statement.type);
    const same =
      before?.status === statement.status && before.reason === statement.reason && before.message === statement.message;
    return { ...statement, lastTransitionTime: same ? before.lastTransitionTime : timestamp(now) };
  });
}
