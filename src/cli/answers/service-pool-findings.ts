import type { Family } from '../../api/address.ts';
import type { Service } from '../../api/core/service.ts';
import type { IPAddressPool } from '../../api/metallb.io/ip-address-pool.ts';
import { familiesOf } from '../../vips/family.ts';
import { type Client, Pool } from '../../vips/pool.ts';
import { Pools } from '../../vips/pools.ts';
import { suggestion } from '../nearest.ts';
import { called, conditionsOf, type Finding, named, problem } from './finding.ts';
import type { ServiceFacts } from './service-request-findings.ts';

/** Why a Service gets no address from the pool that it asks for. `asksForAny`: others are as good to it as the one that it names. */
export function namedPoolFindings(wanted: string, asksForAny: boolean, facts: ServiceFacts): Finding[] {
  const { service, pools } = facts;
  const pool = pools.find(({ metadata }) => metadata.name === wanted);
  if (pool === undefined) {
    const names = pools.map(({ metadata }) => metadata.name);
    return [
      problem(named(service), `it asks for pool "${wanted}", which does not exist.${suggestion(wanted, names)}`, {
        remedies: [`ask for one of the pools ${names.join(', ')}, or create ${wanted}`],
      }),
    ];
  }
  const closed = closedPool(pool, facts);
  if (closed.length > 0) return closed;
  return asksForAny && isFullFor(service, pool) ? [fullPool(pool, service)] : [];
}

/** A pool that is for other Services. */
export function closedPool(pool: IPAddressPool, facts: ServiceFacts): Finding[] {
  const { service, namespaceLabels } = facts;
  const client = clientOf(facts);
  if ((namespaceLabels === undefined && selectsNamespaces(pool)) || new Pool(pool).serves(client)) return [];
  const about = named(pool);
  return [
    problem(
      about,
      `pool ${about.name} is for other Services: its spec.serviceAllocation selects other namespaces or other labels`,
      {
        remedies: [
          `let spec.serviceAllocation of ${called(about)} select namespace ${client.namespace} and the labels of ${called(named(service))}`,
          'ask for another pool',
        ],
      },
    ),
  ];
}

/** Why a Service gets no address that asks for none in particular. */
export function anyPoolFindings(facts: ServiceFacts): Finding[] {
  const { service, pools, namespaceLabels } = facts;
  if (namespaceLabels === undefined && pools.some(selectsNamespaces)) return [];
  const about = named(service);
  const all = pools.map(({ metadata }) => metadata.name).join(', ');
  const open = new Pools(pools).automaticFor(clientOf(facts)).flat();
  if (open.length === 0) {
    return [
      problem(
        about,
        'no pool gives it an address unasked: they have autoAssign: false, are for other Services, or go',
        {
          remedies: [
            `ask for one of the pools ${all}: annotation metallb.io/address-pool`,
            'set spec.autoAssign of one of them to true',
          ],
        },
      ),
    ];
  }
  if (!open.every(({ object }) => isFullFor(service, object))) return [];
  const names = open.map(({ name }) => name).join(', ');
  const which = open.length === pools.length ? 'every pool' : 'every pool that gives it an address unasked';
  return [
    problem(about, `${which} is full: ${names}`, {
      remedies: [
        `add addresses to one of the pools ${names}`,
        ...(open.length === pools.length ? [] : ['ask for another pool: annotation metallb.io/address-pool']),
      ],
    }),
  ];
}

/** Whether a pool has not what a Service needs: an address of its family, or of each, or of one of them. */
function isFullFor(service: Service, { status }: IPAddressPool): boolean {
  const families = familiesOf(service);
  if (status === undefined || typeof families === 'string') return false;
  const left: Record<Family, number> = { 4: status.availableIPv4 ?? 0, 6: status.availableIPv6 ?? 0 };
  const isOut = (family: Family): boolean => left[family] === 0;
  return families.oneWillDo ? families.wanted.every(isOut) : families.wanted.some(isOut);
}

function fullPool(pool: IPAddressPool, service: Service): Finding {
  const about = named(pool);
  const said = conditionsOf(pool).find(({ type, status }) => type === 'Full' && status === 'True')?.message;
  const families = familiesOf(service);
  const isEmpty = (pool.status?.availableIPv4 ?? 0) + (pool.status?.availableIPv6 ?? 0) === 0;
  const lacks =
    isEmpty || typeof families === 'string' ? 'is full' : `has not enough of IPv${families.wanted.join(' and IPv')}`;
  return problem(about, `pool ${about.name}, which it asks for, ${lacks}${said === undefined ? '' : `: ${said}`}`, {
    remedies: [
      `add addresses to pool ${about.name}`,
      'ask for another pool',
      `delete a Service that has one (netloom explain ipaddresspool/${about.name} -n ${about.namespace})`,
    ],
  });
}

const clientOf = ({ service: { metadata }, namespaceLabels = {} }: ServiceFacts): Client => ({
  namespace: metadata.namespace ?? '',
  labels: metadata.labels ?? {},
  namespaceLabels,
});

/** Whether the labels of namespaces decide which Services the pool serves. */
export const selectsNamespaces = ({ spec }: IPAddressPool): boolean =>
  (spec.serviceAllocation?.namespaceSelectors ?? []).length > 0;
