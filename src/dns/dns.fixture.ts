import assert from 'node:assert/strict';
import { noFaults } from '../../test/simulation/faults.ts';
import { type World, world } from '../../test/simulation/world.ts';
import { Deployment } from '../api/apps/workloads.ts';
import { ConfigMap, ServiceAccount } from '../api/core/config.ts';
import { Pod } from '../api/core/pod.ts';
import { Service } from '../api/core/service.ts';
import type { Kind } from '../api/kind.ts';
import { DNSData, type DNSHost } from '../api/network.openstack.org/dnsdata.ts';
import { DNSMasq } from '../api/network.openstack.org/dnsmasq.ts';
import { IPSet } from '../api/network.openstack.org/ipset.ts';
import type { ApiObject } from '../api/object.ts';
import { Role, RoleBinding } from '../api/rbac.authorization.k8s.io/role.ts';
import { Topology } from '../api/topology.openstack.org/topology.ts';
import { Event } from '../runtime/builtin.ts';
import { Manager } from '../runtime/manager.ts';
import { dnsControllers } from './index.ts';

export const NAMESPACE = 'openstack';

/** A simulated server with the DNS capability running on it. */
export class Lab {
  readonly world: World = world({
    kinds: [
      ...[DNSMasq, DNSData, IPSet, Service, ConfigMap, ServiceAccount, Role, RoleBinding, Deployment, Pod, Topology],
      Event,
    ],
    level: 'error',
  });
  readonly #managers: Manager[] = [];

  /** Once more, and there are two who do not know of each other. */
  async start(): Promise<void> {
    const manager = new Manager({
      transport: this.world.api.transport(noFaults),
      controllers: dnsControllers(),
      system: this.world.clock,
      log: this.world.log,
      fieldManager: 'netloom',
      instance: `lab-${this.#managers.length}`,
      freeze: true,
    });
    this.#managers.push(manager);
    manager.start();
    await this.settle();
  }

  settle(): Promise<void> {
    return this.world.clock.advance(2_000);
  }

  async stop(): Promise<void> {
    for (const manager of this.#managers) await this.world.clock.run(manager.stop({ within: 1_000 }));
  }

  async dnsMasq(name: string, spec: Partial<DNSMasq['spec']> = {}): Promise<DNSMasq> {
    const metadata = { name, namespace: NAMESPACE };
    await this.world.client.create(DNSMasq, {
      metadata,
      spec: { replicas: 1, dnsDataLabelSelectorValue: 'dnsdata', ...spec },
    });
    await this.settle();
    return this.find(DNSMasq, name);
  }

  async dnsData(name: string, hosts: DNSHost[]): Promise<DNSData> {
    const metadata = { name, namespace: NAMESPACE };
    await this.world.client.create(DNSData, { metadata, spec: { dnsDataLabelSelectorValue: 'dnsdata', hosts } });
    await this.settle();
    return this.find(DNSData, name);
  }

  find<T extends ApiObject>(kind: Kind<T>, name: string): T {
    const found = this.all(kind).find(({ metadata }) => metadata.name === name);
    assert.ok(found, `there is no ${kind.kind} ${name}`);
    return found;
  }

  all<T extends ApiObject>(kind: Kind<T>): T[] {
    return this.world.api.objects(kind);
  }

  names(kind: Kind): string[] {
    return this.all(kind)
      .map(({ metadata }) => metadata.name)
      .sort();
  }
}
