import { Address, type Family } from '../api/address.ts';
import type { Service } from '../api/core/service.ts';

/** Of which families the addresses of a Service are to be. */
export interface Families {
  /** The primary one first. */
  readonly wanted: readonly Family[];
  /** Whether one of two is better than none. */
  readonly oneWillDo: boolean;
}

/** Why a Service gets no address whatever the pools have. */
export type FamilyFault = 'headless' | 'not enough clusterips';

/**
 * The families of its addresses inside of the cluster are those that a Service has outside. Where nobody gives addresses inside, its
 * `ipFamilies` count, completed as a cluster of both families would complete them; else it is IPv4.
 */
export function familiesOf({ spec }: Service): Families | FamilyFault {
  const inside = (spec.clusterIPs ?? []).length > 0 ? (spec.clusterIPs ?? []) : [spec.clusterIP ?? ''];
  if (inside[0] === 'None') return 'headless';
  const policy = spec.ipFamilyPolicy ?? 'SingleStack';
  const found = inside.flatMap((text) => Address.parse(text)?.family ?? []);
  const wanted = [...new Set(found.length > 0 ? found : asked(spec.ipFamilies, policy !== 'SingleStack'))];
  if (policy === 'RequireDualStack' && wanted.length < 2) return 'not enough clusterips';
  const primary: Family | undefined = wanted.length < 2 ? undefined : spec.ipFamilies?.[0] === 'IPv6' ? 6 : 4;
  return {
    wanted: primary === undefined ? wanted : primary === 6 ? [6, 4] : [4, 6],
    oneWillDo: policy === 'PreferDualStack',
  };
}

function asked(families: readonly string[] = [], both: boolean): Family[] {
  const listed = families.flatMap((family): Family[] => (family === 'IPv4' ? [4] : family === 'IPv6' ? [6] : []));
  const some: Family[] = listed.length > 0 ? listed : [4];
  return both ? [...some, 4, 6] : some;
}
