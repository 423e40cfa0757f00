import { IPAddressPool, type IPAddressPoolStatus } from '../api/metallb.io/ip-address-pool.ts';
import { L2Advertisement } from '../api/metallb.io/l2-advertisement.ts';
import { AddressBlock } from '../api/netloom.io/address-block.ts';
import { NetConfig } from '../api/network.openstack.org/netconfig.ts';
import { Prefix } from '../api/prefix.ts';
import type { Caches } from '../runtime/cache.ts';
import { Contest } from '../runtime/contest.ts';
import { type Context, type Controller, controller } from '../runtime/controller.ts';
import { removeFinalizers } from '../runtime/finalizers.ts';
import type { Metrics } from '../runtime/metrics.ts';
import { done, type Outcome, wait } from '../runtime/outcome.ts';
import { type Ref, refOf } from '../runtime/ref.ts';
import { nextStatus } from '../runtime/status.ts';
import { advertising } from './advertisements.ts';
import { Office } from './office.ts';
import type { Pool } from './pool.ts';
import { poolMetric, poolStatus } from './pool-report.ts';
import { concerns, VIPS } from './vip.ts';

/** On a pool: it stays until no Service has an address from it. */
export const FINALIZER = 'netloom.io/addresses-in-use';

export interface PoolOptions {
  /** The only one in which pools count. */
  readonly namespace: string;
  /** Which part of a pool, from 0 to 1, is in use when it is called nearly full. */
  readonly nearlyFull: number;
  readonly metrics: Metrics;
}

/** Says on each pool how full it is and what is wrong with it, and keeps one that is in use from being deleted. */
export const addressPools = ({ namespace, nearlyFull, metrics }: PoolOptions): Controller => ({
  name: IPAddressPool.plural,
  start(host) {
    const office = Office.of(host, namespace);
    const reports = new Reports(office, nearlyFull);
    metrics.collect(() => [poolMetric(reports.latest(), namespace)]);
    const all = (caches: Caches): Ref[] => caches.of(IPAddressPool).list(namespace).map(refOf);
    return controller({
      for: IPAddressPool,
      watches: [
        { kind: AddressBlock, wakes: (block, caches) => (concerns(block) ? concernedBy(block, office, caches) : []) },
        { kind: L2Advertisement, wakes: (_, caches) => all(caches) },
        { kind: NetConfig, wakes: (_, caches) => all(caches) },
        // Of two that overlap the second one counts when the first is gone.
        { kind: IPAddressPool, wakes: (_, caches) => (office.poolsHaveChanged ? all(caches) : []) },
      ],
      reconcile: (pool, context) => reports.report(pool, context),
      gone: (ref) => reports.forget(ref),
      finalizer: { name: FINALIZER, release: (pool, context) => reports.release(pool, context) },
    }).start(host);
  },
});

/** Where MetalLB gives the addresses nobody would take our finalizer off: pools from before must not wait for us. */
export const foreignPools = (): Controller =>
  controller({
    name: 'foreign-pools',
    for: IPAddressPool,
    async reconcile(pool, { client }) {
      await removeFinalizers(client, IPAddressPool, pool, [FINALIZER]);
      return done();
    },
  });

/** The pools that a block says something about: those that gave what it holds, and those that could give it. */
function concernedBy({ spec }: AddressBlock, office: Office, caches: Caches): Ref[] {
  const prefix = Prefix.parse(spec.prefix);
  const names = new Set(prefix === undefined ? [] : [...office.pools(caches).meeting(prefix)].map(({ name }) => name));
  if (spec.space === VIPS) for (const { network } of spec.holdings) names.add(network);
  return [...names].map((name) => ({ namespace: office.namespace, name }));
}

type PoolOutcome = Outcome<IPAddressPoolStatus>;

class Reports {
  readonly #office: Office;
  readonly #nearlyFull: number;
  /** Name of a pool → when something was last said about it, as uptime. */
  readonly #said = new Map<string, number>();
  /** Name of a pool → what addresses were given from when something was last said. */
  readonly #pools = new Map<string, Pool>();
  readonly #contest = new Contest();

  constructor(office: Office, nearlyFull: number) {
    this.#office = office;
    this.#nearlyFull = nearlyFull;
  }

  forget({ name }: Ref): void {
    this.#said.delete(name);
    this.#pools.delete(name);
  }

  latest(): Iterable<Pool> {
    return this.#pools.values();
  }

  async report(object: IPAddressPool, context: Context): Promise<PoolOutcome> {
    const { namespace } = object.metadata;
    if (namespace !== this.#office.namespace) {
      const message = `nothing is given from the pool: resource must be created in ${this.#office.namespace} namespace`;
      const before = object.status?.conditions?.[0];
      if (before?.message === message) return done();
      const now = this.#statusOf(object, message, context);
      return done({ status: now });
    }
    return this.#say(object, context);
  }

  /** Ends when nobody has an address from the pool, and the server itself agrees. */
  async release(object: IPAddressPool, context: Context): Promise<PoolOutcome> {
    const { name, namespace = '' } = object.metadata;
    if (namespace !== this.#office.namespace) return done();
    if (this.#office.register.from(name).length > 0) return this.#say(object, context);
    const blocks = await context.client.list(AddressBlock, namespace);
    const isUsed = blocks.some(
      ({ spec }) => spec.space === VIPS && spec.holdings.some(({ network }) => network === name),
    );
    return isUsed ? wait({ after: INTERVAL }) : done();
  }

  /** Says how the pool is, but not too often: many Services that come at once change the numbers at once. */
  #say(object: IPAddressPool, context: Context): PoolOutcome {
    const { name } = object.metadata;
    const now = context.system.uptime();
    const rest = (this.#said.get(name) ?? Number.NEGATIVE_INFINITY) + INTERVAL - now;
    if (rest > 0) return wait({ after: rest });
    this.#said.set(name, now);
    const status = this.#statusOf(object, undefined, context);
    const after = this.#contest.delay(object, status, now);
    if (after > 0) return wait({ after });
    // What is being written may turn out otherwise, and nobody tells us when it does.
    return wait(this.#office.register.isBeingWritten ? { status, after: INTERVAL } : { status });
  }

  #statusOf(object: IPAddressPool, fault: string | undefined, { caches, system }: Context): IPAddressPoolStatus {
    const pools = this.#office.pools(caches);
    const pool = fault === undefined ? pools.find(object.metadata.name) : undefined;
    if (pool === undefined) this.#pools.delete(object.metadata.name);
    else this.#pools.set(pool.name, pool);
    const advertisements = caches.of(L2Advertisement).list(this.#office.namespace);
    return nextStatus(
      object,
      poolStatus({
        object,
        pool,
        fault: fault ?? pools.faultOf(object),
        register: this.#office.register,
        underlay: this.#office.underlay,
        advertisements: advertising(object, advertisements)
          .map(({ metadata }) => metadata.name)
          .sort(),
        overlaps: pool === undefined ? [] : this.#office.networks(caches).overlaps(pool.ranges),
        nearlyFull: this.#nearlyFull,
        now: system.now(),
      }),
    );
  }
}

/** The least time, in milliseconds, between two statuses of a pool. */
const INTERVAL = 1_000;
