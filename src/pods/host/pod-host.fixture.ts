import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import type { Faults } from '../../../test/simulation/faults.ts';
import { type World, world } from '../../../test/simulation/world.ts';
import { ConfigMap, Secret } from '../../api/core/config.ts';
import { Node } from '../../api/core/node.ts';
import { type Container, type ContainerStatus, Pod, type PodSpec } from '../../api/core/pod.ts';
import { Event } from '../../runtime/builtin.ts';
import { Client } from '../../runtime/client.ts';
import { EventRecorder } from '../../runtime/events.ts';
import { conditionOf } from '../pod-state.ts';
import { ALLOCATABLE, ROOMY } from './pod.fixture.ts';
import { PodHost } from './pod-host.ts';
import type { ContainerSpec } from './runtime.ts';
import { type Behaviour, SimulatedNetwork, SimulatedRuntime } from './simulated-runtime.fixture.ts';
import type { DiskSpace } from './storage/disk-space.ts';

export const NAMESPACE = 'default';
export const NODE = 'a';

/** One host in simulated time: its containers are not real, and its files are in a folder of their own. */
export class SimulatedHost {
  readonly world: World;
  readonly runtime: SimulatedRuntime;
  readonly network = new SimulatedNetwork();
  readonly directory: string;
  /** Between the agent and the API. */
  readonly #faults: Partial<Faults>;
  /** By the first word of the command. What is not here runs until it gets TERM. */
  readonly behaviours = new Map<string, Behaviour>();
  /** What folders are said to take up. */
  readonly diskUsage = new Map<string, number>();
  diskSpace: DiskSpace = ROOMY;
  isNodeUpToDate: (node: Node) => boolean = () => true;
  podCidrs: readonly string[] = ['10.244.7.0/24'];
  #host: PodHost | undefined;
  #events: EventRecorder | undefined;

  private constructor(directory: string, seed: number, faults: Partial<Faults>) {
    this.directory = directory;
    this.#faults = faults;
    this.world = world({ seed, kinds: [Node, Pod, Event, ConfigMap, Secret], level: 'error' });
    this.runtime = new SimulatedRuntime(this.world.clock, (spec) => this.#behaviourOf(spec));
  }

  static async create(
    t: TestContext | undefined,
    { seed = 1, faults = {} }: { seed?: number; faults?: Partial<Faults> } = {},
  ): Promise<SimulatedHost> {
    const directory = await mkdtemp(path.join(tmpdir(), 'netloom-podhost-'));
    const host = new SimulatedHost(directory, seed, faults);
    t?.after(() => host.end());
    await host.has(ALLOCATABLE);
    await host.begin();
    return host;
  }

  get host(): PodHost {
    assert.ok(this.#host, 'the agent is not there');
    return this.#host;
  }

  /** What its Node says that it has. */
  async has(allocatable: Record<string, string>, labels: Record<string, string> = {}): Promise<void> {
    const { api, client } = this.world;
    const [there] = api.objects(Node);
    const ref = { namespace: '', name: NODE };
    if (there === undefined) await client.create(Node, { metadata: { name: NODE, labels }, spec: {} });
    else await client.patch(Node, ref, { merge: { metadata: { labels } } });
    await client.patch(Node, ref, { merge: { status: { allocatable } } }, 'status');
  }

  /** The agent begins, or begins anew. */
  async begin(): Promise<void> {
    const { clock: system, api, log } = this.world;
    const client = new Client({ transport: api.transport(this.#faults), fieldManager: 'agent' });
    const events = new EventRecorder({ client, system, log, component: 'kubelet', instance: NODE });
    this.#events = events;
    this.#host = new PodHost({
      ...{ client, system, log, events, node: NODE, runtime: this.runtime, network: this.network },
      stateDirectory: this.directory,
      isNodeUpToDate: (found) => this.isNodeUpToDate(found),
      hostAddresses: () => ['192.0.2.7'],
      podCidrs: () => this.podCidrs,
      dns: () => ({
        nameservers: ['10.96.0.10'],
        searches: ['svc.cluster.local', 'cluster.local'],
        options: ['ndots:5'],
      }),
      services: () => [],
      diskUsage: async (_, of) => (of === 'bytes' ? this.diskUsage : new Map()),
      diskSpace: async () => this.diskSpace,
    });
    await this.over(this.#host.start());
  }

  /** The agent is gone; everything else goes on. */
  async quit(): Promise<void> {
    await this.over(this.#host?.stop() ?? Promise.resolve());
    await this.over(this.#events?.stop() ?? Promise.resolve());
    this.#host = undefined;
  }

  async end(): Promise<void> {
    if (this.#host !== undefined) await this.quit();
    await rm(this.directory, { recursive: true, force: true });
  }

  async pod(name: string, containers: Container[], spec: Partial<PodSpec> = {}): Promise<Pod> {
    const metadata = { name, namespace: NAMESPACE };
    return this.world.client.create(Pod, { metadata, spec: { nodeName: NODE, ...spec, containers } });
  }

  find(name: string): Pod | undefined {
    return this.world.api.objects(Pod).find(({ metadata }) => metadata.name === name);
  }

  the(name: string): Pod {
    const found = this.find(name);
    assert.ok(found, `there is no pod ${name}`);
    return found;
  }

  status(pod: string, container = 'main'): ContainerStatus {
    const { initContainerStatuses = [], containerStatuses = [] } = this.the(pod).status ?? {};
    const found = [...initContainerStatuses, ...containerStatuses].find(({ name }) => name === container);
    assert.ok(found, `the status of pod ${pod} says nothing of container ${container}`);
    return found;
  }

  /** How a container is, in a few words. */
  state(pod: string, container = 'main'): string {
    const { waiting, running, terminated } = this.status(pod, container).state ?? {};
    if (running !== undefined) return 'Running';
    return terminated === undefined ? (waiting?.reason ?? 'unknown') : `${terminated.reason} ${terminated.exitCode}`;
  }

  condition(pod: string, type: string): string {
    const found = conditionOf(this.the(pod), type);
    return found === undefined ? 'missing' : [found.status, found.reason].filter(Boolean).join(' ');
  }

  events(pod: string): string[] {
    return this.world.api
      .objects(Event)
      .filter(({ involvedObject }) => involvedObject.name === pod)
      .map(({ type, reason, message }) => `${type} ${reason}: ${message}`)
      .sort();
  }

  settle(ms = 1_000): Promise<void> {
    return this.world.clock.advance(ms);
  }

  async over<T>(promise: Promise<T>): Promise<T> {
    let isOver = false;
    const note = (): void => {
      isOver = true;
    };
    promise.then(note, note);
    await this.until(() => isOver);
    return promise;
  }

  /** Files are real, so real time passes too. */
  async until(condition: () => boolean, within = 60_000, step = 100): Promise<void> {
    const { clock } = this.world;
    const end = clock.now() + within;
    while (!condition()) {
      if (clock.now() >= end) throw new Error(`still not so after ${within} ms of simulated time: ${condition}`);
      await clock.advance(step);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }

  async delete(name: string, gracePeriodSeconds?: number): Promise<void> {
    const options = gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds };
    await this.world.client.delete(Pod, { namespace: NAMESPACE, name }, options);
  }

  #behaviourOf({ command }: ContainerSpec): Behaviour {
    return this.behaviours.get(command[0] ?? '') ?? { stopsWithin: 100 };
  }
}

export const main = (command: string, extra: Partial<Container> = {}): Container => ({
  name: 'main',
  command: [command],
  ...extra,
});
