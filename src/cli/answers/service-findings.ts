import { Address } from '../../api/address.ts';
import type { Service } from '../../api/core/service.ts';
import { namedRanges } from '../../api/metallb.io/address-ranges.ts';
import type { IPAddressPool } from '../../api/metallb.io/ip-address-pool.ts';
import type { AddressBlock } from '../../api/netloom.io/address-block.ts';
import { suggestion } from '../nearest.ts';
import { called, conditionsOf, type Finding, named, note, problem, readyOf } from './finding.ts';
import { nameOf } from './holder.ts';

export interface ServiceFacts {
  readonly service: Service;
  readonly pools: readonly IPAddressPool[];
  /** Those that say who holds the addresses it asks for. */
  readonly blocks: readonly AddressBlock[];
  /** The newest Warning about it. */
  readonly warning: string | undefined;
}

/** Undefined for a Service that wants no address from outside. */
export function isServed({ spec, status }: Service): boolean | undefined {
  if (spec.type !== 'LoadBalancer') return undefined;
  return (status?.loadBalancer?.ingress ?? []).length > 0;
}

/** The addresses that it asks for, as they are written. */
export function requestedBy({ metadata, spec }: Service): string[] {
  const listed = annotation(metadata.annotations, 'loadBalancerIPs') ?? spec.loadBalancerIP ?? '';
  return listed
    .split(',')
    .map((text) => text.trim())
    .filter((text) => text !== '');
}

/** Why a Service of type LoadBalancer has no address. */
export function serviceFindings(facts: ServiceFacts): Finding[] {
  const { service, pools, warning } = facts;
  const about = named(service);
  if (service.metadata.deletionTimestamp !== undefined || service.spec.type !== 'LoadBalancer') return [];
  if (isServed(service) === true) return troubledPool(facts);
  const { loadBalancerClass = '' } = service.spec;
  if (loadBalancerClass !== '') {
    return [
      problem(about, `it is of class ${loadBalancerClass}, and nobody who serves that class has given it an address`, {
        remedies: [
          `run what serves that class (netloom with --lb-class ${loadBalancerClass}), or create the Service anew without spec.loadBalancerClass`,
        ],
      }),
    ];
  }
  if (pools.length === 0) {
    return [
      problem(about, 'there is no IPAddressPool, so there are no addresses for Services', {
        remedies: ['apply an IPAddressPool, and an L2Advertisement for it'],
      }),
    ];
  }
  const asked = requestedBy(service).flatMap((text) => requestFinding(text, facts));
  const findings = [...poolFinding(facts), ...asked];
  if (findings.length > 0) return findings;
  const full = pools.filter(isFull);
  if (full.length === pools.length) {
    const names = full.map(({ metadata }) => metadata.name).join(', ');
    return [
      problem(about, `every pool is full: ${names}`, { remedies: [`add addresses to one of the pools ${names}`] }),
    ];
  }
  return [problem(about, warning ?? 'no pool has given it an address yet, and nothing says why')];
}

/** An address that nobody announces is no use, and that its pool knows. */
function troubledPool({ service, pools }: ServiceFacts): Finding[] {
  const pool = pools.find(({ metadata }) => metadata.name === poolOf(service));
  const ready = pool === undefined ? undefined : readyOf(pool);
  if (pool === undefined || ready?.status !== 'False') return [];
  return [
    note(named(pool), `its address is from pool ${pool.metadata.name}, which is not Ready: ${ready.message ?? ''}`),
  ];
}

function poolFinding({ service, pools }: ServiceFacts): Finding[] {
  const wanted = annotation(service.metadata.annotations, 'address-pool');
  if (wanted === undefined) return [];
  const pool = pools.find(({ metadata }) => metadata.name === wanted);
  if (pool !== undefined) return isFull(pool) ? [fullPool(pool)] : [];
  const names = pools.map(({ metadata }) => metadata.name);
  return [
    problem(named(service), `it asks for pool "${wanted}", which does not exist.${suggestion(wanted, names)}`, {
      remedies: [`ask for one of the pools ${names.join(', ')}, or create ${wanted}`],
    }),
  ];
}

const isFull = ({ status }: IPAddressPool): boolean =>
  status !== undefined && (status.availableIPv4 ?? 0) === 0 && (status.availableIPv6 ?? 0) === 0;

function fullPool(pool: IPAddressPool): Finding {
  const about = named(pool);
  const said = conditionsOf(pool).find(({ type, status }) => type === 'Full' && status === 'True')?.message;
  return problem(about, `pool ${about.name}, which it asks for, is full${said === undefined ? '' : `: ${said}`}`, {
    remedies: [
      `add addresses to pool ${about.name}`,
      'ask for another pool',
      `delete a Service that has one (netloom explain ipaddresspool/${about.name} -n ${about.namespace})`,
    ],
  });
}

function requestFinding(text: string, { service, pools, blocks, warning }: ServiceFacts): Finding[] {
  const about = named(service);
  const address = Address.parse(text);
  if (address === undefined) {
    return [
      problem(about, `it asks for "${text}", which is not an address`, {
        remedies: [`correct metallb.io/loadBalancerIPs (or spec.loadBalancerIP) of ${called(about)}`],
      }),
    ];
  }
  const pool = pools.find(({ metadata, spec }) =>
    namedRanges(metadata.name, spec.addresses).some(
      ({ first, last }) =>
        first.family === address.family && first.value <= address.value && address.value <= last.value,
    ),
  );
  if (pool === undefined) {
    const ranges = pools.map(({ metadata, spec }) => `${metadata.name} (${spec.addresses.join(', ')})`).join(', ');
    return [
      problem(about, `it asks for ${address}, which is in no pool`, {
        remedies: [`ask for an address of the pools ${ranges}, or add ${address} to one`],
      }),
    ];
  }
  const holders = blocks.flatMap(({ metadata, spec }) =>
    spec.holdings
      .filter((holding) => holding.address === `${address}` && holding.holder.uid !== service.metadata.uid)
      .map(({ holder }) => nameOf(holder, metadata.namespace ?? '')),
  );
  // An address of a Service is on record in several spaces.
  const distinct = new Map(holders.map((holder) => [holder.uid, holder]));
  return [...distinct.values()].map((holder) =>
    problem(holder, `${address} is held by ${called(holder)} of namespace ${holder.namespace}`, {
      because: warning === undefined ? [] : [note(about, warning)],
      remedies: [
        `delete ${called(holder)}, or ask for another address of pool ${pool.metadata.name}`,
        ...(holder.kind === 'Service'
          ? ['give both Services the same metallb.io/allow-shared-ip, if their ports differ']
          : []),
      ],
    }),
  );
}

/** The pool that its addresses are from. */
export const poolOf = ({ metadata }: Service): string | undefined =>
  annotation(metadata.annotations, 'ip-allocated-from-pool');

/** The older prefix counts where the newer one is not used. */
const annotation = (annotations: Readonly<Record<string, string>> = {}, name: string): string | undefined =>
  [`metallb.io/${name}`, `metallb.universe.tf/${name}`]
    .filter((key) => Object.hasOwn(annotations, key))
    .map((key) => annotations[key])[0];
