import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { EngineInTest, eventually } from '../../../test/engine/engine-in-test.ts';
import { Namespace } from '../../api/core/namespace.ts';
import { Node } from '../../api/core/node.ts';
import { type Container, type ContainerStatus, Pod, type PodSpec } from '../../api/core/pod.ts';
import { networkNamespaces } from '../../linux/network-namespace.ts';
import { unmountAll } from '../../linux/tmpfs.ts';
import { Event } from '../../runtime/builtin.ts';
import { Client } from '../../runtime/client.ts';
import { EventRecorder } from '../../runtime/events.ts';
import { silentLog } from '../../runtime/log.ts';
import { system } from '../../runtime/system.ts';
import { conditionOf } from '../pod-state.ts';
import { PodHost } from './pod-host.ts';
import { RoutedPodNetwork } from './routed-pod-network.ts';
import { TestHost } from './supervisor/runtime.fixture.ts';

export const NAMESPACE = 'default';
const NODE = 'a';

/** One host with real containers, real networks and a real API, that is gone after the test with all it has. */
export class RealHost {
  readonly engine: EngineInTest;
  readonly client: Client;
  readonly machine: TestHost;
  readonly network = new RoutedPodNetwork();
  readonly podCidr = `198.18.${randomInt(256)}.0/24`;
  #host: PodHost | undefined;
  #events: EventRecorder | undefined;

  private constructor(engine: EngineInTest, machine: TestHost) {
    this.engine = engine;
    this.machine = machine;
    this.client = new Client({ transport: engine.transport, fieldManager: 'test' });
  }

  static async start(t: TestContext): Promise<RealHost> {
    // Hooks run in the order in which they were added: the agent goes first, the API last.
    let host: RealHost | undefined;
    t.after(async () => {
      await host?.quit();
      unmountAll(host?.machine.stateDirectory ?? '/nowhere');
    });
    const machine = await TestHost.start(t);
    t.after(() => host?.removeNetworks());
    const engine = await EngineInTest.start();
    t.after(() => engine.stop());
    host = new RealHost(engine, machine);
    await host.client.create(Node, { metadata: { name: NODE }, spec: {} });
    await eventually(
      () => (host as RealHost).client.get(Namespace, NAMESPACE),
      (found) => found !== undefined,
    );
    await host.begin();
    return host;
  }

  get host(): PodHost {
    assert.ok(this.#host, 'the agent is not there');
    return this.#host;
  }

  /** The agent begins, or begins anew. */
  async begin(): Promise<void> {
    const { client } = this;
    this.#events = new EventRecorder({ client, system, log: silentLog, component: 'kubelet', instance: NODE });
    this.#host = new PodHost({
      ...{ client, system, log: silentLog, events: this.#events, node: NODE, network: this.network },
      runtime: this.machine.runtime,
      stateDirectory: this.machine.stateDirectory,
      hostAddresses: () => ['192.0.2.7'],
      podCidr: () => this.podCidr,
      dns: () => ({ nameservers: ['10.96.0.10'], searches: ['svc.cluster.local', 'cluster.local'], options: [] }),
      services: () => [],
    });
    await this.#host.start();
  }

  async quit(): Promise<void> {
    await this.#host?.stop();
    await this.#events?.stop();
    this.#host = undefined;
  }

  async pod(name: string, containers: Container[], spec: Partial<PodSpec> = {}): Promise<Pod> {
    const metadata = { name, namespace: NAMESPACE };
    return this.client.create(Pod, {
      metadata,
      spec: { nodeName: NODE, terminationGracePeriodSeconds: 1, ...spec, containers },
    });
  }

  /** A pod with one container that runs a shell script. */
  script(name: string, script: string, container: Partial<Container> = {}, spec: Partial<PodSpec> = {}): Promise<Pod> {
    return this.pod(name, [shell(script, container)], spec);
  }

  get(name: string): Promise<Pod | undefined> {
    return this.client.get(Pod, name, NAMESPACE);
  }

  /** The pod, as soon as it is so. */
  until(name: string, isSo: (pod: Pod) => boolean): Promise<Pod> {
    const ask = async (): Promise<Pod> => {
      const found = await this.get(name);
      assert.ok(found, `there is no pod ${name}`);
      return found;
    };
    return eventually(ask, isSo);
  }

  running(name: string): Promise<Pod> {
    return this.until(name, ({ status }) => status?.phase === 'Running');
  }

  ready(name: string): Promise<Pod> {
    return this.until(name, (pod) => conditionOf(pod, 'Ready')?.status === 'True');
  }

  /** How it ended, and what it wrote, by a pod that is not restarted. */
  async result(
    name: string,
    script: string,
    container: Partial<Container> = {},
    spec: Partial<PodSpec> = {},
  ): Promise<{ exitCode: number; output: string; pod: Pod }> {
    await this.script(name, script, container, { restartPolicy: 'Never', ...spec });
    const pod = await this.until(name, ({ status }) => status?.phase === 'Succeeded' || status?.phase === 'Failed');
    const exitCode = statusIn(pod).state?.terminated?.exitCode ?? -1;
    return { exitCode, output: this.log(pod), pod };
  }

  log(pod: Pod, container = 'main', attempt = 0): string {
    const { namespace = '', name, uid } = pod.metadata;
    const file = path.join(
      this.machine.stateDirectory,
      'logs',
      `${namespace}_${name}_${uid}`,
      container,
      `${attempt}.log`,
    );
    return readFileSync(file, 'utf8')
      .split('\n')
      .map((line) => line.split(' ').slice(3).join(' '))
      .join('\n');
  }

  async delete(name: string): Promise<void> {
    await this.client.delete(Pod, { namespace: NAMESPACE, name });
  }

  /** What has thousands of processes takes a while to end. */
  async gone(name: string): Promise<void> {
    const look = (): Promise<unknown> =>
      eventually(
        () => this.get(name),
        (found) => found === undefined,
      );
    await look().catch(look).catch(look);
  }

  async events(name: string): Promise<string[]> {
    const all = await this.client.list(Event, NAMESPACE);
    return all
      .filter(({ involvedObject }) => involvedObject.name === name)
      .map(({ type, reason, message }) => `${type} ${reason}: ${message}`);
  }

  async removeNetworks(): Promise<void> {
    const pods = await this.client.list(Pod).catch(() => []);
    for (const { metadata } of pods) await this.network.detach(metadata.uid);
  }
}

export const shell = (script: string, container: Partial<Container> = {}): Container => ({
  name: 'main',
  image: 'host',
  command: ['sh', '-c', script],
  ...container,
});

/** Of a container of which nothing is said yet, this says nothing. */
export function statusIn(pod: Pod, container = 'main'): ContainerStatus {
  const { initContainerStatuses = [], containerStatuses = [] } = pod.status ?? {};
  const found = [...initContainerStatuses, ...containerStatuses].find(({ name }) => name === container);
  return found ?? { name: container, image: '', imageID: '', ready: false, restartCount: 0 };
}

/** Whether the network of a pod is there. */
export const hasNetwork = (uid: string): boolean => networkNamespaces('netloom-pod-').includes(`netloom-pod-${uid}`);
