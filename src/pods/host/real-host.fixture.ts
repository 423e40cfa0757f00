import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import type { TestContext } from 'node:test';
import { EngineInTest, eventually } from '../../../test/engine/engine-in-test.ts';
import { Namespace } from '../../api/core/namespace.ts';
import { Node } from '../../api/core/node.ts';
import { Pod } from '../../api/core/pod.ts';
import { diskUsage } from '../../linux/disk-usage.ts';
import { networkNamespaces } from '../../linux/network-namespace.ts';
import { unmountAll } from '../../linux/tmpfs.ts';
import { Client } from '../../runtime/client.ts';
import { EventRecorder } from '../../runtime/events.ts';
import { silentLog } from '../../runtime/log.ts';
import { system } from '../../runtime/system.ts';
import { ALLOCATABLE, ROOMY } from './pod.fixture.ts';
import { PodHost } from './pod-host.ts';
import { NAMESPACE, PodsByApi } from './pods-by-api.fixture.ts';
import { RoutedPodNetwork } from './routed-pod-network.ts';
import { TestHost } from './supervisor/runtime.fixture.ts';

const NODE = 'a';

/** One host with real containers, real networks and a real API, that is gone after the test with all it has. */
export class RealHost extends PodsByApi {
  readonly engine: EngineInTest;
  readonly machine: TestHost;
  readonly network = new RoutedPodNetwork();
  /** By so many milliseconds the clock of its agent is ahead. */
  ahead = 0;
  readonly podCidr = `198.18.${randomInt(256)}.0/24`;
  #host: PodHost | undefined;
  #events: EventRecorder | undefined;

  private constructor(engine: EngineInTest, machine: TestHost) {
    const client = new Client({ transport: engine.transport, fieldManager: 'test' });
    super(client, { node: NODE, stateDirectory: machine.stateDirectory });
    this.engine = engine;
    this.machine = machine;
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
    const { metadata } = await host.client.create(Node, { metadata: { name: NODE }, spec: {} });
    const status = { allocatable: ALLOCATABLE };
    await host.client.patch(Node, { namespace: '', ...metadata }, { merge: { status } }, 'status');
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
    const clock = { ...system, now: () => system.now() + this.ahead };
    this.#events = new EventRecorder({ client, system, log: silentLog, component: 'kubelet', instance: NODE });
    this.#host = new PodHost({
      ...{ client, system: clock, log: silentLog, events: this.#events, node: NODE, network: this.network },
      runtime: this.machine.runtime,
      stateDirectory: this.machine.stateDirectory,
      isNodeUpToDate: () => true,
      hostAddresses: () => ['192.0.2.7'],
      podCidrs: () => [this.podCidr],
      dns: () => ({ nameservers: ['10.96.0.10'], searches: ['svc.cluster.local', 'cluster.local'], options: [] }),
      services: () => [],
      diskUsage,
      diskSpace: async () => ROOMY,
    });
    await this.#host.start();
  }

  async quit(): Promise<void> {
    await this.#host?.stop();
    await this.#events?.stop();
    this.#host = undefined;
  }

  async removeNetworks(): Promise<void> {
    const pods = await this.client.list(Pod).catch(() => []);
    for (const { metadata } of pods) await this.network.detach(metadata.uid);
  }
}

/** Whether the network of a pod is there. */
export const hasNetwork = (uid: string): boolean => networkNamespaces('netloom-pod-').includes(`netloom-pod-${uid}`);
