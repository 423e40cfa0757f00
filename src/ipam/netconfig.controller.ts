import { IPAddressPool } from '../api/metallb.io/ip-address-pool.ts';
import { AddressBlock } from '../api/netloom.io/address-block.ts';
import { NetConfig, type NetConfigStatus } from '../api/network.openstack.org/netconfig.ts';
import { Ledger } from '../ledger/ledger.ts';
import type { Caches } from '../runtime/cache.ts';
import { Contest } from '../runtime/contest.ts';
import { type Context, type Controller, controller } from '../runtime/controller.ts';
import type { Metrics } from '../runtime/metrics.ts';
import { done, type Outcome, wait } from '../runtime/outcome.ts';
import { keyOf, keyOfObject, type Ref, refOf } from '../runtime/ref.ts';
import { nextStatus } from '../runtime/status.ts';
import { byAge, UNDERLAY } from './environment.ts';
import { Census, type Fullness } from './fullness.ts';
import { type KeptOut, keptOut } from './kept-out.ts';
import { fullnessMetric, netConfigStatus, unusedStatus } from './netconfig-report.ts';
import { Networks } from './networks.ts';
import { overlaps } from './overlaps.ts';

export interface NetConfigOptions {
  /** Which part of a subnet, from 0 to 1, is held when it is called nearly full. */
  readonly nearlyFull: number;
  readonly metrics: Metrics;
}

/** Says on each NetConfig how full its subnets are, and which pools give the same addresses. */
export const netConfigs = ({ nearlyFull, metrics }: NetConfigOptions): Controller => ({
  name: NetConfig.plural,
  start(host) {
    const reports = new Reports(Ledger.of(host), nearlyFull);
    metrics.collect(() => [fullnessMetric(reports.latest())]);
    const ofNamespace = (namespace: string | undefined, caches: Caches): Ref[] =>
      caches.of(NetConfig).list(namespace).map(refOf);
    return controller({
      for: NetConfig,
      watches: [
        {
          kind: AddressBlock,
          wakes: ({ metadata, spec }, caches) =>
            spec.space === UNDERLAY ? ofNamespace(metadata.namespace, caches) : [],
        },
        { kind: IPAddressPool, wakes: (_, caches) => caches.of(NetConfig).list().map(refOf) },
        // Of two the second one counts when the first is gone.
        { kind: NetConfig, wakes: ({ metadata }, caches) => ofNamespace(metadata.namespace, caches) },
      ],
      reconcile: (netConfig, context) => reports.report(netConfig, context),
      gone: (ref) => reports.forget(keyOf(ref)),
    }).start(host);
  },
});

/** What is kept of a NetConfig between two statuses. */
interface Book {
  readonly networks: Networks;
  readonly census: Census;
  /** Of what others give from. */
  readonly keptOut: string;
  /** When something was last said, as uptime. */
  said: number;
  subnets: readonly Fullness[];
}

class Reports {
  readonly #ledger: Ledger;
  readonly #nearlyFull: number;
  /** By namespace and name of the NetConfig. */
  readonly #books = new Map<string, Book>();
  readonly #contest = new Contest();

  constructor(ledger: Ledger, nearlyFull: number) {
    this.#ledger = ledger;
    this.#nearlyFull = nearlyFull;
  }

  async report(object: NetConfig, { caches, system }: Context): Promise<Outcome<NetConfigStatus>> {
    const { namespace = '', uid } = object.metadata;
    const [inUse] = caches.of(NetConfig).list(namespace).sort(byAge);
    if (inUse !== undefined && inUse.metadata.uid !== uid) {
      this.forget(keyOfObject(object));
      return done({ status: nextStatus(object, unusedStatus(object, inUse.metadata.name, system.now())) });
    }
    const book = this.#bookOf(object, keptOut(caches));
    // Many IPSets that come at once change the numbers at once.
    const rest = book.said + INTERVAL - system.uptime();
    if (rest > 0) return wait({ after: rest });
    book.said = system.uptime();
    const blocks = caches.of(AddressBlock).list(namespace);
    book.subnets = book.census.take(
      blocks.filter(({ spec }) => spec.space === UNDERLAY).map(({ metadata }) => metadata.name),
    );
    const report = netConfigStatus({
      object,
      subnets: book.subnets,
      faults: book.networks.faults,
      overlaps: overlaps(book.networks, caches.of(IPAddressPool).list()),
      nearlyFull: this.#nearlyFull,
      now: system.now(),
    });
    const status = nextStatus(object, report);
    const after = this.#contest.delay(object, status, system.uptime());
    return after > 0 ? wait({ after }) : done({ status });
  }

  forget(key: string): void {
    this.#books.get(key)?.census.end();
    this.#books.delete(key);
  }

  *latest(): Generator<{ namespace: string; name: string; subnets: readonly Fullness[] }> {
    for (const { networks, subnets } of this.#books.values()) {
      yield { ...refOf(networks.netConfig), subnets };
    }
  }

  #bookOf(object: NetConfig, { ranges, version }: KeptOut): Book {
    const key = keyOfObject(object);
    const before = this.#books.get(key);
    const known = before?.networks.netConfig.metadata;
    const { uid, generation, namespace = '' } = object.metadata;
    const same = known?.uid === uid && known?.generation === generation && before?.keptOut === version;
    if (before !== undefined && same) return before;
    this.forget(key);
    const networks = new Networks(object, ranges);
    const census = new Census({ space: this.#ledger.space(namespace, UNDERLAY), networks });
    const book = {
      networks,
      census,
      keptOut: version,
      said: before?.said ?? Number.NEGATIVE_INFINITY,
      subnets: before?.subnets ?? [],
    };
    this.#books.set(key, book);
    return book;
  }
}

/** The least time, in milliseconds, between two statuses of a NetConfig. */
const INTERVAL = 1_000;
