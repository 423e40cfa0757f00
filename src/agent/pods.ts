import { Node, podRangesOf } from '../api/core/node.ts';
import { diskUsage } from '../linux/disk-usage.ts';
import { KubeletApi } from '../pods/host/kubelet-api/kubelet-api.ts';
import { PodHost } from '../pods/host/pod-host.ts';
import type { PodNetwork } from '../pods/host/pod-network.ts';
import { SupervisedRuntime } from '../pods/host/supervisor/supervised-runtime.ts';
import type { Client } from '../runtime/client.ts';
import type { Events } from '../runtime/events.ts';
import type { Informers } from '../runtime/informers.ts';
import type { ServiceHost } from '../services/host/service-host.ts';
import { readSupplies } from './host-facts.ts';
import { keepTrying, type Trying } from './keep-trying.ts';
import type { KeyPair } from './signing.ts';
import { watchSupervisor } from './supervision.ts';

export interface PodsOptions extends Trying {
  readonly name: string;
  readonly client: Client;
  readonly informers: Informers;
  readonly events: Events;
  readonly network: PodNetwork;
  /** Whether the Node says what the host is and has now. */
  readonly isNodeUpToDate: (node: Node) => boolean;
  readonly services: Pick<ServiceHost, 'dns' | 'services'>;
  readonly stateDirectory: string;
  readonly runDirectory: string;
  /** The group below which all groups of its pods are. */
  readonly cgroup: string;
  /** Folders that no container may see, besides those of the host itself. */
  readonly hidden: readonly string[];
  readonly addresses: readonly string[];
  /** Where logs and exec are served; 0 takes a free port. */
  readonly port: number;
  /** PEM of the authority by which the API server is known. */
  readonly authority: string;
  /** What is shown to the API server; undefined as long as there is none. */
  readonly serving: () => KeyPair | undefined;
  /** Aborted when nothing that is under way is waited for any more. */
  readonly giveUp: AbortSignal;
}

/** Runs the pods of this host, and serves their logs and consoles to the API server. */
export class HostedPods {
  readonly #options: PodsOptions;
  readonly #closers: (() => unknown)[] = [];
  readonly #tasks: Promise<unknown>[] = [];
  #kubeletApi: KubeletApi | undefined;

  /** Resolves when pods are run. */
  readonly started: Promise<void>;

  constructor(options: PodsOptions) {
    this.#options = options;
    const part = { name: 'pods', reason: 'PodsNotRunning', isFatal: true };
    // True until it is not: a supervisor that hangs neither takes us in nor turns us away.
    options.troubles.set(part.name, { ...part, message: 'the supervisor of this host has not answered yet' });
    this.started = keepTrying(part, () => this.#start(), options);
  }

  /** Where logs and exec are served, once they are. */
  get port(): number | undefined {
    return this.#kubeletApi?.port;
  }

  /** To be called when there is another certificate to be shown. */
  useCertificate(): void {
    this.#kubeletApi?.useCertificates();
  }

  /** Pods go on. The signal has been aborted before. */
  async stop(): Promise<void> {
    await this.started;
    for (const close of this.#closers.splice(0).reverse()) await close();
    await Promise.all(this.#tasks);
  }

  async #start(): Promise<void> {
    const { name, runDirectory, stateDirectory, cgroup, hidden, system, log, client, events, network } = this.#options;
    const { informers, addresses, services, isNodeUpToDate, troubles, signal } = this.#options;
    const runtime = await SupervisedRuntime.connect({ runDirectory, stateDirectory, cgroup, hidden, system, log });
    if (signal.aborted) return runtime.close();
    this.#options.giveUp.addEventListener('abort', () => void runtime.close());
    const nodes = informers.of(Node);
    const rangesOf = (node: Node | undefined): readonly string[] => (node === undefined ? [] : podRangesOf(node));
    const podHost = new PodHost({
      ...{ client, system, log, events, node: name, runtime, network, stateDirectory, isNodeUpToDate },
      hostAddresses: () => addresses,
      podCidrs: () => rangesOf(nodes.cache.get({ namespace: '', name })),
      dns: () => services.dns(),
      services: () => services.services(),
      diskUsage,
      diskSpace: () => readSupplies(stateDirectory),
    });
    this.#closers.push(() => runtime.close());
    await podHost.start();
    this.#closers.push(() => podHost.stop());
    const forget = nodes.onChange(({ before, now }) => {
      const { metadata } = now ?? before;
      if (metadata.name === name && `${rangesOf(before)}` !== `${rangesOf(now)}`) podHost.look();
    });
    this.#closers.push(forget);
    this.#tasks.push(watchSupervisor(runtime, { system, troubles, signal }));
    const part = { name: 'kubelet-api', reason: 'LogsAndExecNotServed', isFatal: false };
    this.#tasks.push(keepTrying(part, () => this.#serve(podHost, runtime), this.#options));
  }

  async #serve(directory: PodHost, runtime: SupervisedRuntime): Promise<void> {
    const { addresses, port, authority, serving, log, system, signal } = this.#options;
    const pair = serving();
    if (pair === undefined) throw new Error('there is no serving certificate yet');
    const api = await KubeletApi.start({
      ...{ directory, runtime, port, log, system },
      address: addresses[0] ?? '127.0.0.1',
      certificates: () => ({ ...(serving() ?? pair), authority }),
    });
    if (signal.aborted) return api.stop();
    this.#kubeletApi = api;
    this.#closers.push(() => api.stop());
  }
}
