import { Address, type Family } from '../../api/address.ts';
import { namedRanges } from '../../api/metallb.io/address-ranges.ts';
import type { IPAddressPool } from '../../api/metallb.io/ip-address-pool.ts';
import { familiesOf } from '../../vips/family.ts';
import { familiesIn, wishesOf } from '../../vips/wishes.ts';
import { called, type Finding, named, note } from './finding.ts';
import type { ServiceFacts } from './service-request-findings.ts';

/** Of a Service that prefers two families and has an address of one: which it lacks, and why. `from`: the pool that its address is of. */
export function lackingFamily({ service, pools }: ServiceFacts, from: string): Finding[] {
  if (service.spec.ipFamilyPolicy !== 'PreferDualStack') return [];
  const ingress = service.status?.loadBalancer?.ingress ?? [];
  const [family, another] = familiesIn(ingress.flatMap(({ ip = '' }) => Address.parse(ip) ?? []));
  const families = familiesOf(service);
  if (family === undefined || another !== undefined || typeof families === 'string') return [];
  const missing: Family = family === 4 ? 6 : 4;
  const about = named(service);
  const says = `it has no address of IPv${missing}, though it prefers two families`;
  if (!families.wanted.includes(missing))
    return [note(about, `${says}: its addresses within the cluster are of IPv${family} alone, and those decide`)];
  // Who asks for one address by number has all that it asks for.
  const { addresses } = wishesOf(service);
  if (!('length' in addresses)) return [note(about, `${says}: ${addresses.fault}`)];
  if (addresses.length > 0) return [note(about, `${says}: it asks for ${addresses.join(' and ')} alone by number`)];
  const pool = pools.find(({ metadata }) => metadata.name === from);
  return [
    note(about, `${says}, and both would be from one pool: ${whyNot(pool, from, missing)}`, remedy(pool, missing)),
  ];
}

function whyNot(pool: IPAddressPool | undefined, name: string, missing: Family): string {
  if (pool === undefined) return `pool ${name}, which its address is from, does not exist any more`;
  if (pool.metadata.deletionTimestamp !== undefined) return `pool ${name} is being deleted`;
  if (!hasRangeOf(pool, missing)) return `pool ${name} has no addresses of IPv${missing}`;
  const left = missing === 4 ? pool.status?.availableIPv4 : pool.status?.availableIPv6;
  return left === 0
    ? `no address of IPv${missing} is left in pool ${name}`
    : `pool ${name} has not given it one of IPv${missing} yet`;
}

const remedy = (pool: IPAddressPool | undefined, missing: Family): { remedies: string[] } =>
  pool === undefined || pool.metadata.deletionTimestamp !== undefined
    ? { remedies: ['let it go over to a pool that has both: annotation metallb.io/address-pool'] }
    : { remedies: [`add addresses of IPv${missing} to ${called(named(pool))}`] };

const hasRangeOf = ({ metadata, spec }: IPAddressPool, family: Family): boolean =>
  namedRanges(metadata.name, spec.addresses).some(({ first }) => first.family === family);
