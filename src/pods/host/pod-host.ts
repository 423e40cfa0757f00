import { existsSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Pod } from '../../api/core/pod.ts';
import { type Change, Informer } from '../../runtime/informer.ts';
import { isTerminating } from '../pod-state.ts';
import { Admittance } from './admittance.ts';
import { Gate } from './gate.ts';
import type { HostParts, PodHostOptions } from './host-parts.ts';
import { hostUsers } from './host-users.ts';
import { guardNetwork } from './network-guard.ts';
import { Orphans } from './orphans.ts';
import { Places } from './places.ts';
import { PodAddresses } from './pod-addresses.ts';
import type { HostedPod, PodDirectory } from './pod-directory.ts';
import { podsWithFiles } from './pod-remains.ts';
import { PodWorker } from './pod-worker.ts';
import { References } from './references.ts';
import type { ContainerState, SandboxState } from './runtime.ts';
import { watchStorage } from './storage/storage-watch.ts';
import { refusalOf } from './unsupported.ts';

export type { ClusterDns, PodHostOptions } from './host-parts.ts';

/** How many pods may be busy with starting processes at once: more of them only wait for each other. */
const BUSY = 16;
const PROGRAMS = path.resolve(import.meta.dirname, '../../../bin');

/** Runs the pods that are bound to one host, as a kubelet does; what runs already when it begins goes on. */
export class PodHost implements PodDirectory {
  readonly #parts: HostParts;
  readonly #informer: Informer<Pod>;
  /** UID → what makes the pod true. */
  readonly #workers = new Map<string, PodWorker>();
  /** Namespace and name → the pod that has them now. */
  readonly #named = new Map<string, PodWorker>();
  /** UID → what was found and not claimed yet. */
  readonly #found = new Map<string, { sandbox: SandboxState | undefined; states: Map<string, ContainerState> }>();
  readonly #orphans: Orphans;
  readonly #admittance: Admittance;
  readonly #stop = new AbortController();
  #storageWatch: Promise<void> = Promise.resolve();
  #networkGuard: Promise<void> = Promise.resolve();
  #unwatch: () => void = () => {};

  constructor(options: PodHostOptions) {
    const { client, system, log, node, stateDirectory } = options;
    this.#parts = {
      ...options,
      log: log.with({ component: 'pods' }),
      places: new Places(stateDirectory),
      addresses: new PodAddresses(),
      users: hostUsers(),
      references: new References({ client, system, log }),
      gate: new Gate(BUSY),
      programs: PROGRAMS,
      capacity: { cpuMillis: os.availableParallelism() * 1000, memoryBytes: os.totalmem() },
    };
    this.#orphans = new Orphans(this.#parts);
    this.#admittance = new Admittance(this.#parts);
    const scope = { fieldSelector: `spec.nodeName=${node}` };
    this.#informer = new Informer({ client, kind: Pod, scope, system, log });
  }

  /** Takes over what runs, and begins to follow the API; whether that can be reached just now does not matter. */
  async start(): Promise<void> {
    const { runtime, network, addresses } = this.#parts;
    this.#unwatch = runtime.watch((state) => this.#containerChanged(state));
    const [{ sandboxes, containers }, attached] = await Promise.all([runtime.list(), network.list()]);
    // Another agent in the same network may have pods as well: their addresses are taken, and they are none of ours.
    for (const { uid, addresses: has } of attached) for (const address of has) addresses.keep(uid, address);
    for (const sandbox of sandboxes) this.#foundOf(sandbox.id).sandbox = sandbox;
    for (const state of containers) this.#foundOf(state.sandbox).states.set(state.id, state);
    this.#informer.onChange((change) => this.#podChanged(change));
    this.#informer.start();
    void this.#informer.whenSynced().then(() => this.#sweep());
    void this.#informer.whenSynced().then(() => this.#admittance.open());
    this.#networkGuard = guardNetwork(this.#parts, this.#stop.signal);
    this.#storageWatch = watchStorage({ ...this.#parts, pods: () => this.#workers.values() }, this.#stop.signal);
  }

  /** Every pod goes on without us. */
  async stop(): Promise<void> {
    this.#unwatch();
    this.#stop.abort();
    await this.#informer.stop();
    await this.#orphans.stop();
    await this.#admittance.stop();
    await Promise.all([...this.#workers.values()].map((worker) => worker.stop()));
    await this.#parts.references.stop();
    await this.#storageWatch;
    await this.#networkGuard;
  }

  /** Something of the host is different: its addresses, its range, or the Services. */
  look(): void {
    for (const worker of this.#workers.values()) worker.look();
  }

  find(namespace: string, name: string): HostedPod | undefined {
    return this.#named.get(`${namespace}/${name}`);
  }

  #podChanged({ before, now }: Change<Pod>): void {
    const { uid } = (now ?? before).metadata;
    const worker = this.#workers.get(uid);
    if (now === undefined) {
      this.#admittance.leave(uid);
      worker?.vanish();
    } else if (worker === undefined) {
      this.#begin(now);
    } else {
      this.#admittance.become(now);
      worker.become(now);
    }
  }

  #begin(pod: Pod): void {
    const { uid, namespace, name } = pod.metadata;
    const found = this.#found.get(uid);
    this.#found.delete(uid);
    const hasBegun = found !== undefined || this.#hasBegun(pod);
    const key = `${namespace}/${name}`;
    const worker = new PodWorker({
      parts: this.#parts,
      pod,
      sandbox: found?.sandbox,
      states: [...(found?.states.values() ?? [])],
      admission: hasBegun ? 'granted' : 'awaited',
      finished: () => {
        this.#workers.delete(uid);
        if (this.#named.get(key) === worker) this.#named.delete(key);
      },
    });
    this.#workers.set(uid, worker);
    this.#named.set(key, worker);
    if (hasBegun) this.#admittance.enter(pod);
    else if (!isTerminating(pod) && refusalOf(pod) === undefined) {
      this.#admittance.ask(pod, (refusal) => worker.admit(refusal));
    }
  }

  /** Nothing may run of it any more, as when the machine was started anew, but what has begun is to go on. */
  #hasBegun(pod: Pod): boolean {
    const { places } = this.#parts;
    const folders = [places.pod(pod.metadata.uid), places.podLogs(pod)];
    return pod.status?.startTime !== undefined || folders.some((folder) => existsSync(folder));
  }

  #containerChanged(state: ContainerState): void {
    const worker = this.#workers.get(state.sandbox);
    if (worker !== undefined) worker.containerChanged(state);
    else if (!this.#informer.synced) this.#foundOf(state.sandbox).states.set(state.id, state);
  }

  /** What is left of pods that were taken out of the API while nobody was looking. */
  #sweep(): void {
    if (this.#stop.signal.aborted) return;
    for (const [uid, { states }] of this.#found) this.#orphans.remove(uid, [...states.values()]);
    this.#found.clear();
    for (const uid of podsWithFiles(this.#parts.places)) if (!this.#workers.has(uid)) this.#orphans.remove(uid, []);
  }

  #foundOf(uid: string) {
    const found = this.#found.get(uid) ?? { sandbox: undefined, states: new Map<string, ContainerState>() };
    this.#found.set(uid, found);
    return found;
  }
}
