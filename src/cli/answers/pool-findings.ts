import type { Service } from '../../api/core/service.ts';
import type { IPAddressPool } from '../../api/metallb.io/ip-address-pool.ts';
import type { L2Advertisement } from '../../api/metallb.io/l2-advertisement.ts';
import { advertising } from '../../vips/advertisements.ts';
import { suggestion } from '../nearest.ts';
import { called, type Finding, named, note, problem } from './finding.ts';
import { MOST_SHOWN } from './request-holders.ts';
import { poolOf } from './service-findings.ts';

export interface PoolFacts {
  readonly pool: IPAddressPool;
  readonly services: readonly Service[];
  /** Of the namespace of the pool. */
  readonly advertisements: readonly L2Advertisement[];
}

/** What keeps a pool from going, or from being of use. */
export function poolFindings({ pool, services, advertisements }: PoolFacts): Finding[] {
  const about = named(pool);
  const users = services.filter((service) => poolOf(service) === about.name).map(named);
  if (pool.metadata.deletionTimestamp !== undefined) {
    if (users.length === 0) return [];
    const names = users.slice(0, MOST_SHOWN).map(({ namespace, name }) => `${namespace}/${name}`);
    const more = users.length > names.length ? ', …' : '';
    return [
      problem(
        about,
        `${users.length === 1 ? 'a Service has' : `${users.length} Services have`} addresses of it: ${names.join(', ')}${more}`,
        {
          remedies: [`delete these Services, or let them go over to another pool: annotation metallb.io/address-pool`],
        },
      ),
    ];
  }
  const used = note(
    about,
    users.length === 0
      ? 'no Service has an address of it'
      : `${users.length === 1 ? 'one Service has' : `${users.length} Services have`} addresses of it`,
  );
  if (advertising(pool, advertisements).length > 0) return [used];
  return [
    problem(about, 'no L2Advertisement announces its addresses, so nobody outside finds the Services that have them', {
      remedies: [
        `apply an L2Advertisement to namespace ${about.namespace} that names pool ${about.name} in spec.ipAddressPools`,
      ],
    }),
    used,
  ];
}

export interface AdvertisementFacts {
  readonly advertisement: L2Advertisement;
  /** Of its namespace. */
  readonly pools: readonly IPAddressPool[];
}

/** Which pools an advertisement is for, and which it names in vain. */
export function advertisementFindings({ advertisement, pools }: AdvertisementFacts): Finding[] {
  const about = named(advertisement);
  if (advertisement.metadata.deletionTimestamp !== undefined) return [];
  const names = pools.map(({ metadata }) => metadata.name);
  const unknown = (advertisement.spec.ipAddressPools ?? []).filter((name) => !names.includes(name));
  const announced = pools
    .filter((pool) => advertising(pool, [advertisement]).length > 0)
    .map(({ metadata }) => metadata.name);
  return [
    ...unknown.map((name) =>
      problem(
        about,
        `it names pool "${name}", which does not exist in namespace ${about.namespace}.${suggestion(name, names)}`,
        {
          remedies: [`create IPAddressPool ${name}, or take the name out of spec.ipAddressPools of ${called(about)}`],
        },
      ),
    ),
    ...(announced.length > 0
      ? [
          note(
            about,
            `it announces the addresses of ${announced.length === 1 ? 'pool' : 'the pools'} ${announced.join(', ')}`,
          ),
        ]
      : unknown.length > 0
        ? []
        : [
            problem(about, 'there is no pool that it is for', {
              remedies: [`apply an IPAddressPool to namespace ${about.namespace} that it names or selects`],
            }),
          ]),
  ];
}
