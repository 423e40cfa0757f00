import type { Service } from '../../api/core/service.ts';
import { type Wishes, wishesOf } from '../../vips/wishes.ts';
import { type Finding, named, note, problem, readyOf } from './finding.ts';
import { lackingFamily } from './service-family-findings.ts';
import { anyPoolFindings, namedPoolFindings } from './service-pool-findings.ts';
import { annotation, requestFindings, type ServiceFacts } from './service-request-findings.ts';

/** Undefined for a Service that wants no address from outside. */
export function isServed({ spec, status }: Service): boolean | undefined {
  if (spec.type !== 'LoadBalancer') return undefined;
  return (status?.loadBalancer?.ingress ?? []).length > 0;
}

/** Why a Service of type LoadBalancer has no address, or has not all that it prefers. */
export function serviceFindings(facts: ServiceFacts): Finding[] {
  const { service, pools, warning } = facts;
  const about = named(service);
  if (service.metadata.deletionTimestamp !== undefined || service.spec.type !== 'LoadBalancer') return [];
  if (isServed(service) === true) {
    const from = poolOf(service);
    return from === undefined ? [] : [...troubledPool(facts), ...lackingFamily(facts, from)];
  }
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
  const findings = wishFindings(wishesOf(service), facts);
  if (findings.length > 0) return findings;
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

function wishFindings(wishes: Wishes, facts: ServiceFacts): Finding[] {
  const { pool, addresses } = wishes;
  const asksForAny = 'length' in addresses && addresses.length === 0;
  if (pool === '' && asksForAny) return anyPoolFindings(facts);
  const ofPool = pool === '' ? [] : namedPoolFindings(pool, asksForAny, facts);
  return [...ofPool, ...requestFindings(wishes, facts)];
}

/** The pool that its addresses are from. */
export const poolOf = ({ metadata }: Service): string | undefined =>
  annotation(metadata.annotations, 'ip-allocated-from-pool');
