import { Node } from '../api/core/node.ts';
import { type ContainerStatus, Pod, type PodStatus } from '../api/core/pod.ts';
import { Lease } from '../runtime/builtin.ts';
import { Client } from '../runtime/client.ts';
import { type System, sleep } from '../runtime/clock.ts';
import { type Controller, controller } from '../runtime/controller.ts';
import type { Log } from '../runtime/log.ts';
import { Manager } from '../runtime/manager.ts';
import { done, wait } from '../runtime/outcome.ts';
import { refOf } from '../runtime/ref.ts';
import { microTimestamp, timestamp } from '../runtime/timestamp.ts';
import type { Transport } from '../runtime/transport.ts';
import { isReady } from './pod-state.ts';

interface HostOptions {
  name: string;
  transport: Transport;
  system: System;
  log: Log;
  labels?: Record<string, string>;
  allocatable?: Record<string, string>;
  /** From the binding of a pod to its being ready, in milliseconds. */
  starting?: number;
  /** From the wish that a pod ends to its end. */
  ending?: number;
}

const LEASES = 'kube-node-lease';

/** A host whose agent only says what an agent would say: pods are ready when they are bound, and end when asked to. */
export class FakeHost {
  readonly #options: HostOptions;
  readonly #client: Client;
  readonly #end = new AbortController();
  readonly #manager: Manager;
  #beating: Promise<void> | undefined;
  #addresses = 0;

  constructor(options: HostOptions) {
    const { transport, system, log, name } = options;
    this.#options = options;
    this.#client = new Client({ transport, fieldManager: `agent-${name}` });
    this.#manager = new Manager({
      ...{ transport, system, log, instance: name, fieldManager: `agent-${name}` },
      controllers: [this.#pods(), this.#node()],
    });
  }

  start(): void {
    this.#manager.start();
    this.#beating = this.#beat();
  }

  async stop(): Promise<void> {
    this.#end.abort();
    await this.#manager.stop({ within: 0 });
    await this.#beating;
  }

  async #beat(): Promise<void> {
    const { name, system } = this.#options;
    const metadata = { name, namespace: LEASES };
    while (!this.#end.signal.aborted) {
      const spec = { holderIdentity: name, leaseDurationSeconds: 10, renewTime: microTimestamp(system.now()) };
      try {
        if ((await this.#client.get(Node, name)) === undefined) await this.#register();
        const found = await this.#client.get(Lease, name, LEASES);
        if (found === undefined) await this.#client.create(Lease, { metadata, spec });
        else await this.#client.update(Lease, { ...found, spec });
      } catch {
        // Tried again with the next beat.
      }
      await sleep(system, 2_000, this.#end.signal);
    }
  }

  async #register(): Promise<void> {
    const { name, labels } = this.#options;
    const metadata = { name, labels: { 'kubernetes.io/hostname': name, ...labels } };
    await this.#client.create(Node, { metadata, spec: {} });
  }

  /** Says that it is ready whenever somebody says something else. */
  #node(): Controller {
    const {
      name,
      system,
      allocatable = { cpu: '8', memory: '16Gi', pods: '110', 'ephemeral-storage': '100Gi' },
    } = this.#options;
    return controller({
      name: 'own-node',
      for: Node,
      where: { fieldSelector: `metadata.name=${name}` },
      reconcile: async (node) => {
        const ready = node.status?.conditions?.find(({ type }) => type === 'Ready');
        if (ready?.status === 'True') return done();
        const lastTransitionTime = timestamp(system.now());
        const conditions = [{ type: 'Ready', status: 'True' as const, reason: 'AgentReady', lastTransitionTime }];
        return done({ status: { ...node.status, capacity: allocatable, allocatable, conditions } });
      },
    });
  }

  #pods(): Controller {
    const { name, system, starting = 50, ending = 50 } = this.#options;
    return controller({
      name: 'own-pods',
      for: Pod,
      where: { fieldSelector: `spec.nodeName=${name}` },
      parallel: 64,
      reconcile: async (pod, { client }) => {
        if (pod.metadata.deletionTimestamp !== undefined) {
          await sleep(system, ending, this.#end.signal);
          await client.delete(Pod, refOf(pod), { uid: pod.metadata.uid, gracePeriodSeconds: 0 });
          return done();
        }
        const { phase } = pod.status ?? {};
        if (phase === 'Succeeded' || phase === 'Failed' || isReady(pod)) return done();
        // A pod that is to stay unready says so: for tests of what waits for it.
        if (pod.metadata.annotations?.['test/unready'] === 'true') return done({ status: this.#running(pod, 'False') });
        if (phase !== 'Running') {
          const age =
            system.now() -
            Date.parse(pod.status?.conditions?.find(({ type }) => type === 'PodScheduled')?.lastTransitionTime ?? '');
          if (!(age >= starting)) await sleep(system, starting, this.#end.signal);
        }
        return this.#end.signal.aborted ? wait() : done({ status: this.#running(pod, 'True') });
      },
    });
  }

  #running(pod: Pod, status: 'True' | 'False'): PodStatus {
    const { system } = this.#options;
    const now = timestamp(system.now());
    this.#addresses += 1;
    const podIP = pod.status?.podIP ?? `10.244.${hash(this.#options.name)}.${this.#addresses % 250}`;
    const others = (pod.status?.conditions ?? []).filter(({ type }) => !OURS.includes(type));
    const containerStatuses = pod.spec.containers.map(({ name, image = '' }): ContainerStatus => {
      const state = { running: { startedAt: now } };
      return { name, image, imageID: '', ready: status === 'True', started: true, restartCount: 0, state };
    });
    return {
      ...pod.status,
      phase: 'Running',
      conditions: [...others, ...OURS.map((type) => ({ type, status, lastTransitionTime: now }))],
      podIP,
      podIPs: [{ ip: podIP }],
      startTime: pod.status?.startTime ?? now,
      containerStatuses,
    };
  }
}

const OURS = ['Initialized', 'Ready', 'ContainersReady'];

const hash = (name: string): number => [...name].reduce((sum, char) => (sum * 31 + char.charCodeAt(0)) % 250, 7);
