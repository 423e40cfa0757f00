import { Service } from '../../api/core/service.ts';
import { EndpointSlice, SERVICE_NAME } from '../../api/discovery.k8s.io/endpoint-slice.ts';
import { sizeOfTable } from '../../linux/firewall-table.ts';
import { checkNftScript, runNftScript } from '../../linux/nft-script.ts';
import { index } from '../../runtime/cache.ts';
import { type Cancel, type System, sleep } from '../../runtime/clock.ts';
import type { Informers } from '../../runtime/informers.ts';
import { asError, type Log } from '../../runtime/log.ts';
import { keyOfObject, refOfKey } from '../../runtime/ref.ts';
import { findCulprits } from './culprits.ts';
import { HealthChecks } from './health-checks.ts';
import { HostWatch } from './host-watch.ts';
import { ProxyTable } from './proxy-table.ts';
import { type ProxyHost, TABLE } from './proxy-words.ts';
import { NO_RULES, rulesOf, type ServiceRules } from './service-rules.ts';
import { StaleConnections } from './stale-connections.ts';

export interface ServiceProxyOptions {
  readonly informers: Informers;
  readonly system: System;
  readonly log: Log;
  /** The Node that this host is. */
  readonly node: string;
  readonly host: ProxyHost;
  /** Services that are answered on this very host, whatever their endpoints are: where, by namespace/name. */
  readonly here?: ReadonlyMap<string, readonly { readonly address: string; readonly port: number }[]>;
  /** Where other hosts are reached, to see whether they are silent; they are not looked after without it. */
  readonly addressesOf?: (node: string) => readonly string[];
  /** Told what is wrong, and that nothing is any more. */
  readonly trouble?: (message: string | undefined) => void;
  /** What nft is left to do; itself unless a test says otherwise. */
  readonly nft?: Nft;
}

export interface Nft {
  run(script: string): Promise<void>;
  /** Throws what `run` would, and changes nothing. */
  check(script: string): Promise<void>;
  /** How much is in the table; undefined when there is none. */
  size(): number | undefined;
}

const NFT: Nft = { run: runNftScript, check: checkNftScript, size: () => sizeOfTable(TABLE) };

/** Whoever loads a firewall of his own often sweeps away all that there is: every so many milliseconds it is looked after. */
const LOOK = 1_000;

/** After a failure the kernel is told everything anew, at the latest after so many milliseconds. */
const RETRY = { first: 200, max: 10_000 };

/** Keeps the kernel's table true to the Services and their endpoints. What fails is tried again, from an empty table. */
export class ServiceProxy {
  readonly #options: ServiceProxyOptions;
  readonly #services;
  readonly #slices;
  readonly #waiting = new Set<string>();
  readonly #hosts: HostWatch;
  readonly #checks: HealthChecks;
  readonly #stale: StaleConnections;
  /** Other hosts with endpoints → in how many slices. */
  readonly #slicesOn = new Map<string, number>();
  /** Services that the kernel does not take, as they are: the others do without them. */
  readonly #leftOut = new Set<string>();
  readonly #nft: Nft;
  readonly #end = new AbortController();
  #table: ProxyTable | undefined;
  /** How much the kernel had of it when it was last told something. */
  #size: number | undefined;
  #looking: Cancel | undefined;
  #working: Promise<void> | undefined;
  #failures = 0;
  #said: string | undefined;

  constructor(options: ServiceProxyOptions) {
    this.#options = options;
    this.#nft = options.nft ?? NFT;
    this.#services = options.informers.of(Service);
    this.#slices = options.informers.of(EndpointSlice);
    const { system, log, addressesOf = () => [] } = options;
    this.#checks = new HealthChecks({ system, log });
    this.#stale = new StaleConnections(log);
    this.#hosts = new HostWatch({ system, log, addressesOf, changed: (host) => this.#wakeHost(host) });
  }

  /** Resolves when the kernel knows all Services that there are now. */
  async start(): Promise<void> {
    await Promise.all([this.#services.whenSynced(), this.#slices.whenSynced()]);
    this.#services.onChange(({ before, now }) => this.#wake(now ?? before));
    this.#slices.onChange(({ before, now }) => {
      this.#watchHosts(before, now);
      for (const slice of [before, now]) for (const key of serviceOf(slice)) this.#wakeKey(key);
    });
    this.#look();
    await this.#working;
  }

  /** What the kernel has been told stays: pods go on while the agent is replaced. */
  async stop(): Promise<void> {
    this.#end.abort();
    this.#looking?.();
    this.#hosts.close();
    await this.#working;
    await this.#stale.settled();
    this.#checks.close();
  }

  /** Writes the table anew when somebody else has taken it away, or something out of it. */
  #look(): void {
    if (this.#end.signal.aborted) return;
    this.#looking = this.#options.system.timer(LOOK, () => this.#look());
    if (this.#table === undefined || this.#working !== undefined) return;
    try {
      if (this.#nft.size() === this.#size) return;
    } catch (error) {
      this.#options.log.warn('the table of Services cannot be looked after', { error: asError(error) });
      return;
    }
    this.#options.log.warn('somebody else has changed the table of Services; it is written anew', { table: TABLE });
    this.#table = undefined;
    for (const service of this.#services.cache.list()) this.#wake(service);
  }

  #watchHosts(before: EndpointSlice | undefined, now: EndpointSlice | undefined): void {
    if (this.#end.signal.aborted) return;
    const [old, fresh] = [hostsOf(before), hostsOf(now)];
    for (const host of fresh) {
      if (old.has(host) || host === this.#options.node) continue;
      this.#slicesOn.set(host, (this.#slicesOn.get(host) ?? 0) + 1);
      this.#hosts.watch(host);
    }
    for (const host of old) {
      if (fresh.has(host) || host === this.#options.node) continue;
      const count = (this.#slicesOn.get(host) ?? 1) - 1;
      if (count > 0) this.#slicesOn.set(host, count);
      else {
        this.#slicesOn.delete(host);
        this.#hosts.forget(host);
      }
    }
  }

  #wakeHost(host: string): void {
    for (const slice of this.#slices.cache.by(byHost, host)) {
      for (const key of serviceOf(slice)) this.#wakeKey(key);
    }
  }

  #wake(service: Service | undefined): void {
    if (service !== undefined) this.#wakeKey(keyOfObject(service));
  }

  #wakeKey(key: string): void {
    this.#leftOut.delete(key);
    this.#waiting.add(key);
    this.#working ??= this.#work().finally(() => {
      this.#working = undefined;
    });
  }

  async #work(): Promise<void> {
    // What is heard at once is told at once.
    await Promise.resolve();
    while (this.#waiting.size > 0 && !this.#end.signal.aborted) {
      try {
        await this.#tell();
        this.#say(this.#lacking());
        this.#failures = 0;
      } catch (error) {
        this.#options.log.error('the kernel did not take a change of Services', { error: asError(error) });
        this.#say(asError(error).message);
        this.#table = undefined;
        for (const key of await this.#culprits()) this.#leftOut.add(key);
        const pause = Math.min(RETRY.first * 2 ** this.#failures, RETRY.max);
        this.#failures += 1;
        await sleep(this.#options.system, pause, this.#end.signal);
      }
    }
  }

  /** One that cannot be led to is no reason to lead to none. */
  #culprits(): Promise<string[]> {
    const all = this.#services.cache.list().map(keyOfObject);
    return findCulprits(
      all.filter((key) => !this.#leftOut.has(key)),
      (some) => {
        const table = new ProxyTable(this.#options.host);
        const changes = some.map((key) => table.change(key, this.#rulesOf(key)).script);
        return this.#nft.check(table.begin() + changes.join('')).then(
          () => true,
          () => false,
        );
      },
    );
  }

  #say(trouble: string | undefined): void {
    if (trouble !== this.#said) this.#options.trouble?.(trouble);
    this.#said = trouble;
  }

  #lacking(): string | undefined {
    return this.#leftOut.size === 0
      ? undefined
      : `the kernel does not take what these Services need, so nobody is led to them: ${[...this.#leftOut].join(', ')}`;
  }

  async #tell(): Promise<void> {
    const isNew = this.#table === undefined;
    const table = this.#table ?? new ProxyTable(this.#options.host);
    if (isNew) for (const service of this.#services.cache.list()) this.#waiting.add(keyOfObject(service));
    const keys = [...this.#waiting];
    this.#waiting.clear();
    const rules = keys.map((key) => this.#rulesOf(key));
    const changes = keys.map((key, i) => table.change(key, rules[i] ?? NO_RULES));
    const script = (isNew ? table.begin() : '') + changes.map((change) => change.script).join('');
    try {
      if (script !== '') await this.#nft.run(script);
      this.#size = this.#nft.size();
      // What was never seen there could not be missed later.
      if (this.#size === undefined) throw new Error(`somebody else has removed the table ${TABLE} as it was written`);
    } catch (error) {
      for (const key of keys) this.#waiting.add(key);
      throw error;
    }
    this.#table = table;
    for (const [i, key] of keys.entries()) this.#checks.set(key, rules[i]?.health);
    for (const key of changes.flatMap(({ freed }) => freed)) this.#waiting.add(key);
    this.#stale.forget(changes);
  }

  #rulesOf(key: string): ServiceRules {
    const service = this.#services.cache.get(refOfKey(key));
    if (service === undefined || this.#leftOut.has(key)) return NO_RULES;
    const here = this.#options.here?.get(key);
    const slices =
      here === undefined ? this.#slices.cache.by(byService, key) : here.map((at) => sliceHere(service, at));
    return rulesOf(service, slices, {
      host: this.#options.node,
      isSilent: (host) => this.#hosts.isSilent(host),
    });
  }
}

const hostsOf = (slice: EndpointSlice | undefined): ReadonlySet<string> =>
  new Set((slice?.endpoints ?? []).flatMap(({ nodeName = '' }) => (nodeName === '' ? [] : [nodeName])));

const byHost = index(EndpointSlice, (slice) => [...hostsOf(slice)]);

const byService = index(EndpointSlice, (slice) => serviceOf(slice));

function serviceOf(slice: EndpointSlice | undefined): string[] {
  const name = slice?.metadata.labels?.[SERVICE_NAME];
  return slice === undefined || name === undefined ? [] : [`${slice.metadata.namespace ?? ''}/${name}`];
}

/** As if every port of the Service had this endpoint. */
const sliceHere = (service: Service, { address, port }: { address: string; port: number }): EndpointSlice => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { ...service.metadata },
  addressType: address.includes(':') ? 'IPv6' : 'IPv4',
  endpoints: [{ addresses: [address] }],
  ports: (service.spec.ports ?? []).map(({ name = '', protocol = 'TCP' }) => ({ name, protocol, port })),
});
