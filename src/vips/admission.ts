import { isDeepStrictEqual } from 'node:util';
import type { Admission, AdmissionRequest, LiveReader } from '../api/admission.ts';
import type { Kind } from '../api/kind.ts';
import { type NamedRange, namedRanges, overlappingRanges } from '../api/metallb.io/address-ranges.ts';
import { overlapDetail } from '../api/metallb.io/ip-address-pool.faults.ts';
import { IPAddressPool } from '../api/metallb.io/ip-address-pool.ts';
import { L2Advertisement } from '../api/metallb.io/l2-advertisement.ts';
import { AddressBlock } from '../api/netloom.io/address-block.ts';
import { NetConfig } from '../api/network.openstack.org/netconfig.ts';
import type { ApiObject } from '../api/object.ts';
import { type FieldError, forbidden, invalid } from '../api/status.ts';
import { Networks } from './networks.ts';
import { FINALIZER } from './pool.controller.ts';
import { Pool } from './pool.ts';
import { usersOf } from './pool-report.ts';
import { Register } from './register.ts';
import { blockKey, VIPS, type Vip } from './vip.ts';

/** What is refused, or warned of, that needs other objects to know. */
export const vipsAdmissionIn = (namespace: string): Admission[] => [
  poolAdmission(namespace),
  advertisementAdmission(namespace),
];

const poolAdmission = (home: string): Admission => ({
  kind: IPAddressPool,
  operations: ['CREATE', 'UPDATE', 'DELETE'],

  /** The controller needs its finalizer; here it comes without another write. */
  mutate({ operation, object, namespace }) {
    if (operation !== 'CREATE' || object === undefined || namespace !== home) return;
    const { metadata } = object;
    const others = Array.isArray(metadata.finalizers) ? metadata.finalizers.filter((name) => name !== FINALIZER) : [];
    metadata.finalizers = [...others, FINALIZER];
  },

  async validate(request, live) {
    const pool = asKind(IPAddressPool, request.object);
    const old = asKind(IPAddressPool, request.oldObject);
    requireHome(IPAddressPool, request, home);
    if (request.namespace !== home || pool?.metadata.deletionTimestamp !== undefined) return;
    if (pool === undefined) return whoKeepsIt(request.name, await vipsOf(request.name, live, home));
    if (old !== undefined && isDeepStrictEqual(pool.spec, old.spec)) return;
    const others = (await live.list(IPAddressPool, home)).filter(({ metadata }) => metadata.name !== request.name);
    const faults = overlapFaults(pool, others);
    if (faults.length > 0) throw invalid(IPAddressPool, request.name, faults);
    return [
      ...(old === undefined ? [] : whoStaysOutside(pool, await vipsOf(request.name, live, home))),
      ...(await hostRanges(pool, live)),
    ];
  },
});

const advertisementAdmission = (home: string): Admission => ({
  kind: L2Advertisement,
  operations: ['CREATE', 'UPDATE'],

  async validate(request, live) {
    requireHome(L2Advertisement, request, home);
    const advertisement = asKind(L2Advertisement, request.object);
    if (advertisement === undefined || request.namespace !== home) return;
    const pools = new Set((await live.list(IPAddressPool, home)).map(({ metadata }) => metadata.name));
    return (advertisement.spec.ipAddressPools ?? []).flatMap((name, i) =>
      pools.has(name) ? [] : [`spec.ipAddressPools[${i}]: there is no IPAddressPool ${name} in namespace ${home} yet`],
    );
  },
});

/** Where nobody looks for them, pools and advertisements would do nothing, and nobody would know why. */
function requireHome(kind: Kind & { group: string; plural: string }, request: AdmissionRequest, home: string): void {
  if (request.operation !== 'CREATE' || request.namespace === home) return;
  throw forbidden(kind, request.name, `resource must be created in ${home} namespace`);
}

function overlapFaults(pool: IPAddressPool, others: readonly IPAddressPool[]): FieldError[] {
  const { name } = pool.metadata;
  const mine = namedRanges(name, pool.spec.addresses);
  const theirs = others.flatMap(({ metadata, spec }) => namedRanges(metadata.name, spec.addresses));
  return overlappingRanges([...theirs, ...mine]).flatMap(({ range, before }) => {
    const [own, other] = range.pool === name ? [range, before] : [before, range];
    return own.pool !== name || other.pool === name ? [] : [overlapFault(pool, own, other)];
  });
}

const overlapFault = ({ spec }: IPAddressPool, own: NamedRange, other: NamedRange): FieldError => ({
  type: 'Invalid',
  field: `spec.addresses[${spec.addresses.indexOf(own.text)}]`,
  value: own.text,
  detail: overlapDetail(own, other),
});

/** Who has addresses from a pool, as the server knows it. */
async function vipsOf(pool: string, live: LiveReader, home: string): Promise<Vip[]> {
  const register = new Register({ namespace: home, changed: () => {} });
  for (const block of await live.list(AddressBlock, home)) {
    if (block.spec.space === VIPS) register.observe(blockKey(home, block.metadata.name), block);
  }
  return register.from(pool);
}

const whoKeepsIt = (name: string, vips: readonly Vip[]): string[] =>
  vips.length === 0
    ? []
    : [
        `pool ${name} goes when these Services have given back its addresses: ${usersOf(vips)}; until then nothing more is given from it`,
      ];

function whoStaysOutside(object: IPAddressPool, vips: readonly Vip[]): string[] {
  const pool = new Pool(object);
  const left = vips.filter(({ address }) => !pool.gives(address));
  if (left.length === 0) return [];
  return [
    `spec.addresses: Services have addresses that the pool does not have any more, and keep them until they give them back: ${usersOf(left)}`,
  ];
}

async function hostRanges({ metadata: { name }, spec }: IPAddressPool, live: LiveReader): Promise<string[]> {
  const overlaps = new Networks(await live.list(NetConfig)).overlaps(namedRanges(name, spec.addresses));
  if (overlaps.length === 0) return [];
  return [`spec.addresses: overlaps ${overlaps.join(', ')}: an address of both is given only once`];
}

function asKind<T extends ApiObject>(kind: Kind<T>, object: ApiObject | undefined): T | undefined {
  const is = (one: ApiObject): one is T => one.kind === kind.kind;
  return object !== undefined && is(object) ? object : undefined;
}
