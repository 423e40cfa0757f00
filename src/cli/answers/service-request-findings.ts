import { Address } from '../../api/address.ts';
import type { Service } from '../../api/core/service.ts';
import { namedRanges } from '../../api/metallb.io/address-ranges.ts';
import type { IPAddressPool } from '../../api/metallb.io/ip-address-pool.ts';
import type { AddressBlock, AddressHolding } from '../../api/netloom.io/address-block.ts';
import type { Labels } from '../../api/selector.ts';
import { familiesOf } from '../../vips/family.ts';
import { Pool } from '../../vips/pool.ts';
import { mayShare, type Terms, termsOf } from '../../vips/terms.ts';
import { isService, UNDERLAY, vipOf } from '../../vips/vip.ts';
import { familiesIn, type Wishes } from '../../vips/wishes.ts';
import { called, type Finding, type Named, named, note, problem } from './finding.ts';
import { nameOf } from './holder.ts';
import { MOST_SHOWN } from './request-holders.ts';
import { closedPool } from './service-pool-findings.ts';

export interface ServiceFacts {
  readonly service: Service;
  readonly pools: readonly IPAddressPool[];
  /** Those that say who holds the addresses it asks for. */
  readonly blocks: readonly AddressBlock[];
  /** Undefined where whoever asks may not see its namespace, or no pool asks for them. */
  readonly namespaceLabels: Labels | undefined;
  /** The newest Warning about it. */
  readonly warning: string | undefined;
}

/** The addresses that it asks for, as they are written. */
export function requestedBy({ metadata, spec }: Service): string[] {
  const listed = annotation(metadata.annotations, 'loadBalancerIPs') ?? '';
  return (listed === '' ? (spec.loadBalancerIP ?? '') : listed)
    .split(',')
    .map((text) => text.trim())
    .filter((text) => text !== '');
}

/** Why a Service does not get the addresses that it asks for by number: the first reason in the order in which its controller looks. */
export function requestFindings(wishes: Wishes, facts: ServiceFacts): Finding[] {
  const { addresses } = wishes;
  if ('fault' in addresses) return unclear(addresses.fault, facts);
  const unfit = ofOtherFamilies(addresses, facts);
  if (unfit.length > 0) return unfit;
  const asked = addresses.map((address) => ({ address, pool: facts.pools.find((pool) => hasInRange(pool, address)) }));
  const known = asked.flatMap(({ address, pool }) => (pool === undefined ? [] : [{ address, pool }]));
  if (known.length < asked.length)
    return asked.flatMap(({ address, pool }) => (pool === undefined ? [inNoPool(address, facts)] : []));
  const avoided = known.filter(({ address, pool }) => !new Pool(pool).gives(address));
  if (avoided.length > 0) return avoided.map((each) => avoidedBy(each, facts));
  const closed = wishes.pool === '' ? known.slice(0, 1).flatMap(({ pool }) => closedPool(pool, facts)) : [];
  const others = [...apart(known, facts), ...elsewhere(wishes, known, facts), ...closed];
  return others.length > 0 ? others : known.flatMap((each) => inTheWay(each, wishes, facts));
}

interface Asked {
  readonly address: Address;
  /** In whose ranges it is. */
  readonly pool: IPAddressPool;
}

function unclear(fault: string, { service }: ServiceFacts): Finding[] {
  const about = named(service);
  const remedies = [`correct metallb.io/loadBalancerIPs (or spec.loadBalancerIP) of ${called(about)}`];
  const garbled = requestedBy(service).filter((text) => Address.parse(text) === undefined);
  if (garbled.length === 0) return [problem(about, fault, { remedies })];
  return garbled.map((text) => problem(about, `it asks for "${text}", which is not an address`, { remedies }));
}

/** The families of its addresses within the cluster are those that it may have outside. */
function ofOtherFamilies(asked: readonly Address[], { service }: ServiceFacts): Finding[] {
  const families = familiesOf(service);
  if (typeof families === 'string' || asked.length === 0) return [];
  const { wanted, oneWillDo } = families;
  const has = familiesIn(asked);
  if ([...has].every((family) => wanted.includes(family)) && (has.size === wanted.length || oneWillDo)) return [];
  const about = named(service);
  const inside = wanted.map((family) => `IPv${family}`).join(' and ');
  return [
    problem(about, `it asks for ${asked.join(' and ')}, and is a Service of ${inside}`, {
      remedies: [
        `ask for an address of ${inside}`,
        `change spec.ipFamilies and spec.ipFamilyPolicy of ${called(about)}`,
      ],
    }),
  ];
}

function inNoPool(address: Address, { service, pools }: ServiceFacts): Finding {
  const ranges = pools.map(({ metadata, spec }) => `${metadata.name} (${spec.addresses.join(', ')})`).join(', ');
  return problem(named(service), `it asks for ${address}, which is in no pool`, {
    remedies: [`ask for an address of the pools ${ranges}, or add ${address} to one`],
  });
}

function avoidedBy({ address, pool }: Asked, { service }: ServiceFacts): Finding {
  const about = named(pool);
  return problem(
    named(service),
    `it asks for ${address}, which pool ${about.name} never gives, as it has avoidBuggyIPs`,
    {
      remedies: [
        `ask for another address of pool ${about.name}`,
        `set spec.avoidBuggyIPs of ${called(about)} to false`,
      ],
    },
  );
}

/** All addresses of a Service are from one pool. */
function apart(asked: readonly Asked[], { service }: ServiceFacts): Finding[] {
  const names = new Set(asked.map(({ pool }) => pool.metadata.name));
  if (names.size < 2) return [];
  const texts = asked.map(({ address, pool }) => `${address} of pool ${pool.metadata.name}`).join(' and for ');
  return [
    problem(named(service), `it asks for ${texts}, and all addresses of a Service are from one pool`, {
      remedies: [`ask for addresses of one pool, or have one pool with both`],
    }),
  ];
}

/** It asks for a pool, and for an address of another one. */
function elsewhere({ pool: wanted }: Wishes, asked: readonly Asked[], { service, pools }: ServiceFacts): Finding[] {
  const about = named(service);
  const known = pools.find(({ metadata }) => metadata.name === wanted);
  if (known === undefined) return [];
  return asked
    .filter(({ pool }) => pool !== known)
    .map(({ address, pool: { metadata } }) =>
      problem(about, `it asks for pool ${wanted}, and for ${address}, which is of pool ${metadata.name}`, {
        remedies: [
          `ask for pool ${metadata.name}, or for none`,
          `ask for an address of pool ${wanted} (${known.spec.addresses.join(', ')}), or for any`,
        ],
      }),
    );
}

/** Who has the address, and would have to share it. */
function inTheWay(
  { address, pool }: Asked,
  { sharingKey }: Wishes,
  { service, blocks, warning }: ServiceFacts,
): Finding[] {
  const about = named(service);
  const mine = { ...service.metadata, namespace: about.namespace, terms: termsOf(service, sharingKey) };
  const records = blocks.flatMap(({ metadata, spec }) =>
    spec.holdings
      .filter((holding) => holding.address === `${address}`)
      .map((holding) => ({ holding, space: spec.space, namespace: metadata.namespace ?? '' })),
  );
  const coolsUntil = records.flatMap(({ holding }) => holding.coolsUntil ?? [])[0];
  if (coolsUntil !== undefined) {
    return [
      problem(about, `${address} was given back by a host and cools down until ${coolsUntil}`, {
        remedies: [`wait until ${coolsUntil}, or ask for another address of pool ${pool.metadata.name}`],
      }),
    ];
  }
  const users = records.flatMap(({ holding }) => vipOf(holding)?.users ?? []);
  // Of those who share an address, one is on record for all in the space of hosts.
  const isUser = ({ holder }: AddressHolding): boolean =>
    isService(holder) && users.some(({ uid }) => uid === holder.uid);
  const strangers = records
    .filter(({ holding, space }) => vipOf(holding) === undefined && !(space === UNDERLAY && isUser(holding)))
    .map(({ holding, namespace }) => ({ holder: nameOf(holding.holder, namespace), terms: undefined }));
  const rivals = users
    .filter((user) => !mayShare(mine, [user]))
    .map(({ terms, ...user }) => ({ holder: { kind: service.kind, ...user }, terms }));
  // An address is on record in several spaces.
  const distinct = new Map([...rivals, ...strangers].map((each) => [each.holder.uid, each]));
  distinct.delete(service.metadata.uid);
  const [first, ...others] = distinct.values();
  if (first === undefined) return [];
  const { holder } = first;
  const because = warning === undefined ? [] : [note(about, warning)];
  const another = `or ask for another address of pool ${pool.metadata.name}`;
  const together = [first, ...others];
  const share = together.every((each) => each.holder.kind === service.kind)
    ? [toShare(about, mine.terms, together)]
    : [];
  if (others.length === 0) {
    const remedies = [`delete ${called(holder)}, ${another}`, ...share];
    return [
      problem(holder, `${address} is held by ${called(holder)} of namespace ${holder.namespace}`, {
        because,
        remedies,
      }),
    ];
  }
  const names = together.map((each) => `${each.holder.namespace}/${each.holder.name}`).sort();
  const some = names.slice(0, MOST_SHOWN).join(', ');
  const more = names.length > MOST_SHOWN ? ', …' : '';
  const remedies = [`delete all of these, ${another}`, ...share];
  return [problem(holder, `${address} is held by these together: ${some}${more}`, { because, remedies })];
}

/** What would let the Services have the same address. */
function toShare(about: Named, mine: Terms, rivals: readonly { readonly terms: Terms | undefined }[]): string {
  const all = rivals.length === 1 ? 'both Services' : 'all these Services';
  const theirs = rivals.flatMap(({ terms }) => terms ?? []);
  if (
    mine.sharingKey === '' ||
    theirs.length < rivals.length ||
    theirs.some((one) => one.sharingKey !== mine.sharingKey)
  )
    return `give ${all} the same metallb.io/allow-shared-ip, if their ports differ`;
  if (theirs.some(({ backends }) => backends !== mine.backends))
    return `give ${all} externalTrafficPolicy Cluster, or Local and the same selector`;
  const ports = mine.ports.filter((port) => theirs.some((one) => one.ports.includes(port)));
  return `give ${called(about)} other ports than ${ports.join(', ')}`;
}

const hasInRange = ({ metadata, spec }: IPAddressPool, { family, value }: Address): boolean =>
  namedRanges(metadata.name, spec.addresses).some(
    ({ first, last }) => first.family === family && first.value <= value && value <= last.value,
  );

/** The older prefix counts where the newer one is not used. */
export const annotation = (annotations: Readonly<Record<string, string>> = {}, name: string): string | undefined =>
  [`metallb.io/${name}`, `metallb.universe.tf/${name}`]
    .filter((key) => Object.hasOwn(annotations, key))
    .map((key) => annotations[key])[0];
