import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Faults, storm } from '../../../test/simulation/faults.ts';
import { world } from '../../../test/simulation/world.ts';
import { Endpoints } from '../../api/core/endpoints.ts';
import { Node } from '../../api/core/node.ts';
import { Pod, type PodSpec } from '../../api/core/pod.ts';
import { Service, type ServiceSpec } from '../../api/core/service.ts';
import { EndpointSlice } from '../../api/discovery.k8s.io/endpoint-slice.ts';
import { Event } from '../../runtime/builtin.ts';
import { Manager } from '../../runtime/manager.ts';
import { servicesControllers } from '../index.ts';

const namespace = 'default';

/** Whoever hears nothing for minutes tells the past for minutes: that is not for here. */
const bearable = { silentWatch: 0, brokenWatch: 0.01, endedWatch: 0.01, eventDelay: [0, 300] } as const;

/** A simulated server, and somebody who says how pods are. */
class Cluster {
  readonly world;
  readonly managers: Manager[] = [];

  constructor(seed = 1) {
    this.world = world({ seed, kinds: [Service, Pod, Node, Endpoints, EndpointSlice, Event], level: 'error' });
  }

  start(faults: Partial<Faults> = {}): void {
    const { api, clock, log } = this.world;
    const manager = new Manager({
      transport: api.transport(faults),
      controllers: servicesControllers(),
      system: clock,
      log,
      fieldManager: 'netloom',
      instance: 'test',
      freeze: true,
    });
    this.managers.push(manager);
    manager.start();
  }

  async service(name: string, spec: Partial<ServiceSpec> = {}): Promise<void> {
    await this.world.client.create(Service, {
      metadata: { name, namespace },
      spec: { selector: { app: name }, clusterIP: '10.96.0.1', ports: [{ port: 80, targetPort: 8080 }], ...spec },
    });
  }

  async pod(name: string, app: string, spec: Partial<PodSpec> = {}): Promise<void> {
    const labels = { app };
    const containers = [{ name: 'main' }];
    await this.world.client.create(Pod, {
      metadata: { name, namespace, labels },
      spec: { containers, nodeName: 'a', ...spec },
    });
  }

  async ready(name: string, podIP: string, status: 'True' | 'False' = 'True'): Promise<void> {
    const conditions = [{ type: 'Ready', status, lastTransitionTime: '2026-01-01T00:00:00Z' }];
    const merge = { status: { phase: 'Running', podIP, podIPs: [{ ip: podIP }], conditions } };
    await this.world.client.patch(Pod, { namespace, name }, { merge }, 'status');
  }

  async end(name: string): Promise<void> {
    await this.world.client.delete(Pod, { namespace, name }, { gracePeriodSeconds: 30 });
  }

  settle(ms = 1_000): Promise<void> {
    return this.world.clock.advance(ms);
  }

  slices(): EndpointSlice[] {
    return this.world.api.objects(EndpointSlice);
  }

  /** Address, port and state of each endpoint. */
  told(): string[] {
    return this.slices()
      .flatMap(({ endpoints, ports }) =>
        endpoints.map(({ addresses, conditions = {} }) => {
          const state = Object.entries(conditions).flatMap(([name, is]) => (is ? [name] : []));
          return `${addresses[0]}:${ports?.map(({ port }) => port)} ${state.join('+')}`;
        }),
      )
      .sort();
  }

  endpoints(name: string): Endpoints | undefined {
    return this.world.api.objects(Endpoints).find(({ metadata }) => metadata.name === name);
  }

  async stop(): Promise<void> {
    const { clock } = this.world;
    await Promise.all(this.managers.map((manager) => clock.run(manager.stop({ within: 1_000 }))));
  }
}

describe('endpoints of a Service', () => {
  it('are its pods, with whether they are ready, still serve, and are about to end', async () => {
    const cluster = new Cluster();
    cluster.start();
    await cluster.service('web');
    await cluster.settle();
    assert.deepEqual(cluster.told(), []);
    assert.equal(cluster.slices().length, 1, 'that there are none is said, too');
    for (const name of ['one', 'two', 'three', 'new']) await cluster.pod(name, 'web');
    await cluster.pod('other', 'db');
    await cluster.ready('one', '10.244.0.1');
    await cluster.ready('two', '10.244.0.2', 'False');
    await cluster.ready('three', '10.244.0.3');
    await cluster.ready('other', '10.244.0.4');
    await cluster.end('three');
    await cluster.settle();
    assert.deepEqual(cluster.told(), [
      '10.244.0.1:8080 ready+serving',
      '10.244.0.2:8080 ',
      '10.244.0.3:8080 serving+terminating',
    ]);
    const [slice] = cluster.slices();
    assert.equal(slice?.metadata.labels?.['endpointslice.kubernetes.io/managed-by'], 'endpointslice-controller.k8s.io');
    assert.equal(slice?.endpoints[0]?.nodeName, 'a');
    assert.equal(slice?.endpoints[0]?.targetRef?.name, 'one');
    const { subsets, metadata } = cluster.endpoints('web') ?? assert.fail();
    assert.deepEqual(
      subsets?.[0]?.addresses?.map(({ ip }) => ip),
      ['10.244.0.1'],
    );
    assert.deepEqual(
      subsets?.[0]?.notReadyAddresses?.map(({ ip }) => ip),
      ['10.244.0.2'],
    );
    assert.equal(metadata.annotations?.['endpoints.kubernetes.io/over-capacity'], undefined);
    await cluster.stop();
  });

  it('are in the zone of their node, as soon as it has one', async () => {
    const cluster = new Cluster();
    cluster.start();
    const { client } = cluster.world;
    await client.create(Node, { metadata: { name: 'a' }, spec: {} });
    await cluster.service('web');
    await cluster.pod('one', 'web');
    await cluster.ready('one', '10.244.0.1');
    await cluster.settle();
    const zones = (): unknown[] => cluster.slices().flatMap(({ endpoints }) => endpoints.map(({ zone }) => zone));
    assert.deepEqual(zones(), [undefined]);
    for (const zone of ['north', 'south']) {
      const merge = { metadata: { labels: { 'topology.kubernetes.io/zone': zone } } };
      await client.patch(Node, { namespace: '', name: 'a' }, { merge });
      await cluster.settle();
      assert.deepEqual(zones(), [zone]);
    }
    await cluster.stop();
  });

  it('count as ready whatever they say where that is wished', async () => {
    const cluster = new Cluster();
    cluster.start();
    await cluster.service('web', { publishNotReadyAddresses: true });
    await cluster.pod('one', 'web');
    await cluster.ready('one', '10.244.0.1', 'False');
    await cluster.settle();
    assert.deepEqual(cluster.told(), ['10.244.0.1:8080 ready']);
    await cluster.stop();
  });

  it('have the port that its name means in each pod, and the name that the pod wants below a headless Service', async () => {
    const cluster = new Cluster();
    cluster.start();
    await cluster.service('db', { clusterIP: 'None', ports: [{ port: 5432, targetPort: 'sql' }] });
    const container = (containerPort: number) => [{ name: 'main', ports: [{ name: 'sql', containerPort }] }];
    await cluster.pod('db-0', 'db', { containers: container(5432), hostname: 'db-0', subdomain: 'db' });
    await cluster.pod('db-1', 'db', { containers: container(6432), hostname: 'db-1', subdomain: 'elsewhere' });
    await cluster.ready('db-0', '10.244.0.1');
    await cluster.ready('db-1', '10.244.0.2');
    await cluster.settle();
    assert.deepEqual(cluster.told(), ['10.244.0.1:5432 ready+serving', '10.244.0.2:6432 ready+serving']);
    const names = cluster.slices().flatMap(({ endpoints }) => endpoints.map(({ hostname }) => hostname));
    assert.deepEqual(new Set(names), new Set(['db-0', undefined]));
    assert.ok(cluster.slices().every(({ metadata }) => metadata.labels?.['service.kubernetes.io/headless'] === ''));
    await cluster.stop();
  });

  it('are told in both families', async () => {
    const cluster = new Cluster();
    cluster.start();
    await cluster.service('web', { ipFamilies: ['IPv4', 'IPv6'] });
    await cluster.pod('one', 'web');
    const podIPs = [{ ip: '10.244.0.1' }, { ip: 'fd00:244::1' }];
    const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }];
    const merge = { status: { phase: 'Running', podIP: '10.244.0.1', podIPs, conditions } };
    await cluster.world.client.patch(Pod, { namespace, name: 'one' }, { merge }, 'status');
    await cluster.settle();
    assert.deepEqual(cluster.told(), ['10.244.0.1:8080 ready+serving', 'fd00:244::1:8080 ready+serving']);
    assert.deepEqual(
      cluster
        .slices()
        .map(({ addressType }) => addressType)
        .sort(),
      ['IPv4', 'IPv6'],
    );
    await cluster.stop();
  });

  it('change with the labels of pods and with what the Service selects', async () => {
    const cluster = new Cluster();
    cluster.start();
    await cluster.service('web');
    await cluster.pod('one', 'web');
    await cluster.pod('two', 'web2');
    await cluster.ready('one', '10.244.0.1');
    await cluster.ready('two', '10.244.0.2');
    const relabel = (name: string, app: string) =>
      cluster.world.client.patch(Pod, { namespace, name }, { merge: { metadata: { labels: { app } } } });
    await relabel('one', 'gone');
    await relabel('two', 'web');
    await cluster.settle();
    assert.deepEqual(cluster.told(), ['10.244.0.2:8080 ready+serving']);
    const spec = { selector: { app: 'gone' } };
    await cluster.world.client.patch(Service, { namespace, name: 'web' }, { merge: { spec } });
    await cluster.settle();
    assert.deepEqual(cluster.told(), ['10.244.0.1:8080 ready+serving']);
    await cluster.stop();
  });

  it('cost one write of slices for one change, and of the older form few however many change', async () => {
    const cluster = new Cluster();
    cluster.start();
    await cluster.service('web');
    for (let i = 0; i < 300; i += 1) {
      await cluster.pod(`p-${i}`, 'web');
      await cluster.ready(`p-${i}`, `10.244.${i >> 8}.${i & 255}`);
    }
    await cluster.settle(3_000);
    assert.equal(cluster.told().length, 300);
    const writes = (kind: string) =>
      ['post', 'put', 'patch', 'delete'].reduce(
        (sum, verb) => sum + (cluster.world.api.requests.get(`${verb} ${kind}`) ?? 0),
        0,
      );
    const before = [writes('endpointslices'), writes('endpoints')];
    await cluster.ready('p-7', '10.244.0.7', 'False');
    await cluster.settle(3_000);
    assert.deepEqual([writes('endpointslices'), writes('endpoints')], [(before[0] ?? 0) + 1, (before[1] ?? 0) + 1]);
    for (let i = 0; i < 40; i += 1) {
      await cluster.ready(`p-${i}`, `10.244.0.${i}`, 'False');
      await cluster.settle(50);
    }
    await cluster.settle(3_000);
    assert.ok(writes('endpoints') - (before[1] ?? 0) <= 6);
    await cluster.stop();
  });

  it('that people write by hand are told in slices', async () => {
    const cluster = new Cluster();
    cluster.start();
    await cluster.service('outside', { selector: {} });
    const metadata = { name: 'outside', namespace };
    const subsets = [
      { addresses: [{ ip: '192.0.2.7' }], notReadyAddresses: [{ ip: '192.0.2.8' }], ports: [{ port: 80 }] },
    ];
    await cluster.world.client.create(Endpoints, { metadata, subsets });
    await cluster.settle();
    assert.deepEqual(cluster.told(), ['192.0.2.7:80 ready', '192.0.2.8:80 ']);
    assert.equal(
      cluster.slices()[0]?.metadata.labels?.['endpointslice.kubernetes.io/managed-by'],
      'endpointslicemirroring-controller.k8s.io',
    );
    const labels = { 'endpointslice.kubernetes.io/skip-mirror': 'true' };
    await cluster.world.client.patch(Endpoints, metadata, { merge: { metadata: { labels } } });
    await cluster.settle();
    assert.deepEqual(cluster.slices(), []);
    await cluster.world.client.delete(Service, metadata);
    await cluster.settle();
    assert.equal(cluster.endpoints('outside'), undefined);
    await cluster.stop();
  });

  for (const seed of [1, 2, 3, 4]) {
    it(`are told right in the end, each once, whatever the network does (seed ${seed})`, async () => {
      const cluster = new Cluster(seed);
      const { clock } = cluster.world;
      const faults: Partial<Faults> = { ...storm, ...bearable };
      cluster.start(faults);
      if (seed % 2 === 0) cluster.start(faults);
      await cluster.service('web');
      const ready = new Map<string, boolean>();
      for (let i = 0; i < 150; i += 1) {
        const number = Math.floor(clock.random() * 130);
        const name = `p-${number}`;
        if (!ready.has(name)) await cluster.pod(name, 'web');
        const is = clock.random() < 0.7;
        ready.set(name, is);
        await cluster.ready(name, `10.244.0.${number}`, is ? 'True' : 'False');
        await cluster.settle(Math.floor(clock.random() * 300));
      }
      await cluster.settle(120_000);
      const wanted = [...ready]
        .map(([name, is]) => `10.244.0.${name.slice(2)}:8080 ${is ? 'ready+serving' : ''}`)
        .sort();
      assert.deepEqual(cluster.told(), wanted);
      await cluster.stop();
    });
  }
});
