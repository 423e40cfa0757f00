import assert from 'node:assert/strict';
import type { Faults } from '../../test/simulation/faults.ts';
import { type World, world } from '../../test/simulation/world.ts';
import { ControllerRevision, Deployment, ReplicaSet, StatefulSet } from '../api/apps/workloads.ts';
import { Namespace } from '../api/core/namespace.ts';
import { Node } from '../api/core/node.ts';
import { Pod, type PodSpec } from '../api/core/pod.ts';
import { Service } from '../api/core/service.ts';
import { EndpointSlice } from '../api/discovery.k8s.io/endpoint-slice.ts';
import { AddressBlock } from '../api/netloom.io/address-block.ts';
import { PodDisruptionBudget } from '../api/policy/pod-disruption-budget.ts';
import { Prefix } from '../api/prefix.ts';
import { Event, Lease } from '../runtime/builtin.ts';
import type { Controller } from '../runtime/controller.ts';
import { Manager } from '../runtime/manager.ts';
import { FakeHost } from './host.fixture.ts';
import { podsControllers } from './index.ts';
import { conditionOf, isActive } from './pod-state.ts';

export const NAMESPACE = 'default';

/** A simulated server with the controllers of pods and hosts that only pretend. */
export class Lab {
  readonly world: World;
  readonly hosts = new Map<string, FakeHost>();
  readonly managers: Manager[] = [];

  constructor({ seed = 1 }: { seed?: number } = {}) {
    const kinds = [
      Namespace,
      Node,
      Pod,
      Service,
      Lease,
      Event,
      AddressBlock,
      ReplicaSet,
      Deployment,
      StatefulSet,
      ControllerRevision,
      EndpointSlice,
      PodDisruptionBudget,
    ];
    this.world = world({ seed, kinds, level: 'error' });
  }

  /** Begins another set of controllers: with more than one of them, each believes that it leads. */
  start({
    faults = {},
    more = [],
    networks = ['10.244.0.0/16'],
  }: {
    faults?: Partial<Faults>;
    more?: readonly Controller[];
    networks?: readonly string[];
  } = {}): Manager {
    const { api, clock, log } = this.world;
    const podCidrs = networks.flatMap((text) => Prefix.parse(text) ?? []);
    const manager = new Manager({
      transport: api.transport(faults),
      controllers: [...podsControllers({ podCidrs }), ...more],
      system: clock,
      log,
      fieldManager: 'netloom',
      instance: `host-${this.managers.length}`,
      freeze: true,
    });
    this.managers.push(manager);
    manager.start();
    return manager;
  }

  host(
    name: string,
    options: { labels?: Record<string, string>; allocatable?: Record<string, string> } = {},
  ): FakeHost {
    const { api, clock: system, log } = this.world;
    const host = new FakeHost({ name, transport: api.transport(), system, log, ...options });
    this.hosts.set(name, host);
    host.start();
    return host;
  }

  /** It falls silent. */
  async cut(name: string): Promise<void> {
    await this.world.clock.run(this.hosts.get(name)?.stop() ?? Promise.resolve());
    this.hosts.delete(name);
  }

  settle(ms = 1_000): Promise<void> {
    return this.world.clock.advance(ms);
  }

  async pod(name: string, spec: Partial<PodSpec> = {}, labels: Record<string, string> = {}): Promise<void> {
    const containers = [{ name: 'main', resources: { requests: { cpu: '100m' } } }];
    await this.world.client.create(Pod, {
      metadata: { name, namespace: NAMESPACE, labels },
      spec: { containers, ...spec },
    });
  }

  find(name: string): Pod {
    const found = this.pods().find(({ metadata }) => metadata.name === name);
    assert.ok(found, `there is no pod ${name}`);
    return found;
  }

  node(name: string): Node {
    const found = this.world.api.objects(Node).find(({ metadata }) => metadata.name === name);
    assert.ok(found, `there is no node ${name}`);
    return found;
  }

  pods(): Pod[] {
    return this.world.api.objects(Pod);
  }

  active(): Pod[] {
    return this.pods().filter(isActive);
  }

  /** Where a pod is, or why it is nowhere. */
  place(name: string): string {
    const pod = this.find(name);
    return pod.spec.nodeName ?? conditionOf(pod, 'PodScheduled')?.message ?? 'nothing said';
  }

  events(name: string): string[] {
    return this.world.api
      .objects(Event)
      .filter(({ involvedObject }) => involvedObject.name === name)
      .map(({ type, reason, message }) => `${type} ${reason}: ${message}`);
  }

  requests(what: string): number {
    return this.world.api.requests.get(what) ?? 0;
  }

  async stop(): Promise<void> {
    const { clock } = this.world;
    for (const name of [...this.hosts.keys()]) await this.cut(name);
    await Promise.all(this.managers.map((manager) => clock.run(manager.stop({ within: 1_000 }))));
  }
}
