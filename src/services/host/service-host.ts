import { once } from 'node:events';
import { Address } from '../../api/address.ts';
import { addressesSeenBy, Node } from '../../api/core/node.ts';
import { Service } from '../../api/core/service.ts';
import { EndpointSlice } from '../../api/discovery.k8s.io/endpoint-slice.ts';
import { Prefix } from '../../api/prefix.ts';
import { listAddresses } from '../../linux/addresses.ts';
import { listLinks } from '../../linux/links.ts';
import { Netlink } from '../../linux/netlink/connection.ts';
import { runNftScript } from '../../linux/nft-script.ts';
import { backoff } from '../../runtime/backoff.ts';
import { type System, sleep } from '../../runtime/clock.ts';
import type { Informers } from '../../runtime/informers.ts';
import { asError, type Log } from '../../runtime/log.ts';
import { addressesHere } from './addresses-here.ts';
import { ApiRelay } from './api-relay.ts';
import { PATIENCE } from './host-names.ts';
import { hostNameServers } from './name-servers.ts';
import { DEVICE, makePlace, PLACES, placeIsThere, removePlace } from './own-place.ts';
import { type OtherWay, TABLE } from './proxy-words.ts';
import { Resolver } from './resolver.ts';
import { ServiceProxy } from './service-proxy.ts';
import { ServiceZone } from './service-zone.ts';

export interface ServiceHostOptions {
  readonly informers: Informers;
  readonly system: System;
  readonly log: Log;
  /** The name of the Node. */
  readonly node: string;
  /** Of this host, the one first that other hosts route to. */
  readonly hostAddresses: () => readonly string[];
  /** What Services have their addresses from, and pods on all hosts theirs. */
  readonly serviceCidrs: readonly string[];
  readonly podCidrs: readonly string[];
  /** The group of the links that lead to the pods of this host. */
  readonly podLinks: number;
  /** Where this process reaches the API. */
  readonly api: { readonly host: string; readonly port: number };
  /** `cluster.local` unless it says otherwise. */
  readonly domain?: string;
  /** Who is asked for names elsewhere; the host's own name servers when left out. */
  readonly upstream?: () => readonly string[];
  /** Whether it begins before anybody asks for it: in a network that is there for nothing else. */
  readonly atOnce?: boolean;
  /** Told what a part cannot do, and when it can again. */
  readonly trouble?: (part: Part, message: string | undefined) => void;
}

type Part = 'place' | 'names' | 'proxy' | 'relay';

/** The side of Services on a host. */
export interface ServiceHost {
  /** What pods with dnsPolicy ClusterFirst are to ask. Whoever asks this is about to run a pod: from then on there is an answer. */
  dns(): ClusterDns;
  /** Those that are known. */
  services(): readonly Service[];
  /** Resolves when all that could make it begin is known, and what it has begun is done: names are answered, and Services led to. */
  settled(): Promise<void>;
  /** What the kernel has been told stays: connections go on while the agent is replaced. */
  stop(): Promise<void>;
  /** Stops, and takes away everything that it has put into the kernel. */
  remove(): Promise<void>;
}

export interface ClusterDns {
  readonly nameservers: readonly string[];
  /** For all pods; one that begins with `svc.` is to be preceded by that of the pod's own namespace. */
  readonly searches: readonly string[];
  readonly options: readonly string[];
}

const RETRY = { first: 500, max: 15_000 };
/** Programs that manage the links of a machine have removed others than their own before: every so many milliseconds ours is looked after. */
const LOOK = 1_000;
const API = 'default/kubernetes';

/**
 * Leads to Services, answers their names and passes on what pods say to the API: from the first pod or the first Service
 * on, unless it is to begin at once. As long as there is neither, nothing of this host is touched.
 */
export function startServiceHost(options: ServiceHostOptions): ServiceHost {
  return new RunningServiceHost(options);
}

/** Takes away everything that this side has put into the kernel, whoever did; nothing happens when there is nothing. */
export async function removeServices(): Promise<void> {
  await runNftScript(`table inet ${TABLE}\ndelete table inet ${TABLE}\n`);
  removePlace();
}

class RunningServiceHost implements ServiceHost {
  readonly #options: ServiceHostOptions;
  readonly #domain: string;
  readonly #end = new AbortController();
  readonly #ended: Promise<unknown>;
  readonly #closers: (() => unknown)[] = [];
  readonly #unwatch: () => void;
  #begun: Promise<unknown> | undefined;

  constructor(options: ServiceHostOptions) {
    this.#options = options;
    this.#domain = options.domain ?? 'cluster.local';
    this.#ended = once(this.#end.signal, 'abort');
    this.#unwatch = options.informers.of(Service).onChange(({ now }) => {
      if (now !== undefined && `${now.metadata.namespace}/${now.metadata.name}` !== API) this.#begin();
    });
    // What an earlier run began goes on: pods that it left still ask.
    if (options.atOnce === true || placeIsThere()) this.#begin();
  }

  dns(): ClusterDns {
    this.#begin();
    return {
      nameservers: this.#families().map((family) => PLACES[family]),
      searches: [`svc.${this.#domain}`, this.#domain],
      options: ['ndots:5', ...PATIENCE],
    };
  }

  services(): readonly Service[] {
    return this.#options.informers.of(Service).cache.list();
  }

  async settled(): Promise<void> {
    await Promise.race([this.#options.informers.of(Service).whenSynced(), this.#ended]);
    await this.#begun;
  }

  async stop(): Promise<void> {
    this.#unwatch();
    this.#end.abort();
    await this.#begun;
    for (const close of this.#closers.splice(0).reverse()) await close();
  }

  async remove(): Promise<void> {
    await this.stop();
    await removeServices();
  }

  #begin(): void {
    if (!this.#end.signal.aborted) this.#begun ??= this.#run();
  }

  /** The parts do not wait for each other, but for what they need. */
  async #run(): Promise<void> {
    // Whoever asked goes on first.
    await Promise.resolve();
    await this.#part('place', () => this.#makePlace());
    this.#keepPlace();
    await Promise.all([this.#answerNames(), this.#leadToServices()]);
  }

  /** Who listens there goes on when it is back. */
  #keepPlace(): void {
    const { system, log } = this.#options;
    const look = async (): Promise<void> => {
      for (;;) {
        await sleep(system, LOOK, this.#end.signal);
        if (this.#end.signal.aborted) return;
        await this.#part('place', () => {
          if (placeIsThere()) return;
          log.warn('somebody else has removed the link of Services; it is made anew', { link: DEVICE });
          this.#makePlace();
        });
      }
    };
    const looking = look();
    this.#closers.push(() => looking);
  }

  /** Tries until it works or the end has come. */
  async #part(part: Part, work: () => unknown): Promise<void> {
    const { system, log, trouble } = this.#options;
    for (let failures = 0; !this.#end.signal.aborted; ) {
      try {
        await work();
        if (failures > 0) trouble?.(part, undefined);
        return;
      } catch (error) {
        failures += 1;
        log.warn('a part of the host side of Services does not start; will try again', { part, error: asError(error) });
        trouble?.(part, asError(error).message);
        await sleep(system, backoff(failures, RETRY, system), this.#end.signal);
      }
    }
  }

  #makePlace(): void {
    const { serviceCidrs } = this.#options;
    makePlace({
      serviceCidrs: serviceCidrs.flatMap((text) => Prefix.parse(text) ?? []),
      hostAddresses: this.#addressesHere(),
    });
  }

  async #answerNames(): Promise<void> {
    const { informers, log, system, upstream = hostNameServers(system) } = this.#options;
    const [services, slices] = [informers.of(Service), informers.of(EndpointSlice)];
    // Before everything is heard, "there is no such name" could be a lie.
    await Promise.race([Promise.all([services.whenSynced(), slices.whenSynced()]), this.#ended]);
    const zone = new ServiceZone({ services: services.cache, slices: slices.cache, domain: this.#domain });
    const own: readonly string[] = Object.values(PLACES);
    for (const family of this.#families()) {
      await this.#part('names', async () => {
        const resolver = await Resolver.start({
          address: PLACES[family],
          port: 53,
          answer: (question) => zone.answer(question),
          upstream: () => upstream().filter((server) => !own.includes(server)),
          log,
        });
        this.#closers.push(() => resolver.stop());
      });
    }
  }

  async #leadToServices(): Promise<void> {
    const here: { address: string; port: number }[] = [];
    for (const family of this.#families()) {
      await this.#part('relay', async () => {
        const relay = await ApiRelay.start({ address: PLACES[family], port: 0, target: this.#options.api });
        this.#closers.push(() => relay.stop());
        here.push({ address: PLACES[family], port: relay.port });
      });
    }
    if (this.#end.signal.aborted) return;
    const { informers, system, log, node, serviceCidrs, podCidrs, podLinks, trouble } = this.#options;
    const proxy = new ServiceProxy({
      ...{ informers, system, log, node },
      host: {
        ...{ addresses: this.#addresses(), otherWays: this.#otherWays(), serviceCidrs, podCidrs, podLinks },
        resolvers: this.#families().map((family) => PLACES[family]),
      },
      here: new Map([[API, here]]),
      addressesOf: (name) => {
        const nodes = informers.of(Node).cache;
        const found = nodes.get({ namespace: '', name });
        return found === undefined ? [] : addressesSeenBy(nodes.get({ namespace: '', name: node }), found);
      },
      trouble: (message) => trouble?.('proxy', message),
    });
    this.#closers.push(() => proxy.stop());
    await Promise.race([proxy.start(), this.#ended]);
  }

  /** Those that Services can have here. */
  #families(): ('IPv4' | 'IPv6')[] {
    const texts = this.#options.serviceCidrs;
    return (['IPv4', 'IPv6'] as const).filter((family) =>
      texts.some((text) => text.includes(':') === (family === 'IPv6')),
    );
  }

  #addressesHere(): Address[] {
    return addressesHere(this.#options.hostAddresses().flatMap((text) => Address.parse(text) ?? []));
  }

  /** What connections are sent on as that come from outside. Alone, a host can do with its own place. */
  #addresses(): { IPv4: string; IPv6: string } {
    const known = this.#addressesHere();
    const of = (family: 4 | 6) =>
      known.find((address) => address.family === family && !isLoopback(address))?.toString();
    return { IPv4: of(4) ?? PLACES.IPv4, IPv6: of(6) ?? PLACES.IPv6 };
  }

  /** The links on which this host is known by another one of its addresses. */
  #otherWays(): OtherWay[] {
    const first = this.#addresses();
    const others = this.#options.hostAddresses().filter((address) => address !== first.IPv4 && address !== first.IPv6);
    if (others.length === 0) return [];
    using netlink = new Netlink();
    const names = new Map(listLinks(netlink).map(({ index, name }) => [index, name]));
    return listAddresses(netlink).flatMap(({ link, address }) => {
      const name = names.get(link);
      if (name === undefined || !others.includes(address.toString())) return [];
      return [{ link: name, address: address.toString(), family: address.family === 4 ? 'IPv4' : 'IPv6' }];
    });
  }
}

const isLoopback = (address: Address): boolean => /^(127\.|::1$)/.test(address.toString());
