import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { customResourceDefinition } from '../../src/api/crd.ts';
import { builtinKind, defineKind, type Kind } from '../../src/api/kind.ts';
import type { ApiObject } from '../../src/api/object.ts';
import { integer, object, optional, string } from '../../src/api/shape.ts';
import { startEngine } from '../../src/engine/engine.ts';
import { CustomResourceDefinition, Event, Lease } from '../../src/runtime/builtin.ts';
import { index } from '../../src/runtime/cache.ts';
import { Client } from '../../src/runtime/client.ts';
import { controller } from '../../src/runtime/controller.ts';
import { HttpTransport } from '../../src/runtime/http-transport.ts';
import { Informer } from '../../src/runtime/informer.ts';
import { readKubeconfig } from '../../src/runtime/kubeconfig.ts';
import { Leadership } from '../../src/runtime/leader.ts';
import { silentLog } from '../../src/runtime/log.ts';
import { Manager } from '../../src/runtime/manager.ts';
import { done, wait } from '../../src/runtime/outcome.ts';
import { refOf } from '../../src/runtime/ref.ts';
import { nextStatus } from '../../src/runtime/status.ts';
import { system } from '../../src/runtime/system.ts';
import type { Transport } from '../../src/runtime/transport.ts';
import { EngineInTest, eventually } from './engine-in-test.ts';

const declare = <Spec, Status>(kind: string, spec: Parameters<typeof defineKind<Spec, Status>>[0]['spec']) => {
  const state = object({ state: optional(string()), observedGeneration: optional(integer()) });
  const description = `A ${kind} to try controllers on.`;
  const plural = `${kind.toLowerCase()}s`;
  return {
    group: 'run.netloom.test',
    version: 'v1',
    kind,
    plural,
    scope: 'Namespaced',
    description,
    spec,
    status: state,
  } as const;
};
const Basket = defineKind(declare('Basket', object({ size: integer() })));
const Apple = defineKind(declare('Apple', object({ basket: string() })));
const byBasket = index(Apple, ({ spec }) => [spec.basket]);

/** Keeps as many apples as a basket is large, and lets a basket go when it is empty. */
const baskets = controller({
  for: Basket,
  owns: [Apple],
  finalizer: {
    name: 'netloom.test/basket',
    async release({ metadata: { name, namespace } }, { caches, client }) {
      const apples = caches
        .of(Apple)
        .by(byBasket, name)
        .filter(({ metadata }) => metadata.namespace === namespace);
      for (const { metadata } of apples) await client.delete(Apple, refOf({ metadata }), { uid: metadata.uid });
      return apples.length === 0 ? done() : wait();
    },
  },
  async reconcile(basket, { children, client, caches, events }) {
    const { name, namespace = '' } = basket.metadata;
    for (const { metadata } of caches.of(Apple).by(byBasket, name).slice(basket.spec.size)) {
      await client.delete(Apple, refOf({ metadata }), { uid: metadata.uid });
    }
    for (let i = 0; i < basket.spec.size; i += 1) {
      await children.apply(Apple, { metadata: { name: `${name}-${i}`, namespace }, spec: { basket: name } }, basket);
    }
    events.normal(basket, 'Filled', `holds ${basket.spec.size} apples`);
    return done({ status: nextStatus(basket, { state: `holds ${basket.spec.size}` }) });
  },
});

const ConfigMap = builtinKind<ApiObject>('', 'v1', 'ConfigMap', 'configmaps');

const namespace = 'default';
const basket = (name: string, size: number) => ({ metadata: { name, namespace }, spec: { size } });

for (const way of ['within the process', 'over HTTPS'] as const) {
  describe(`controllers on the engine, ${way}`, () => {
    let engine: EngineInTest;
    let transport: Transport;
    let client: Client;
    before(async () => {
      engine = await EngineInTest.start();
      const connection = await readKubeconfig(`${engine.directory}/kubeconfig`);
      transport = way === 'over HTTPS' ? new HttpTransport({ connection, system }) : engine.transport;
      client = new Client({ transport, fieldManager: 'person' });
    });
    after(async () => {
      if (transport instanceof HttpTransport) transport.close();
      await engine.stop();
    });

    const managed = (): Manager =>
      new Manager({
        transport,
        controllers: [baskets],
        system,
        log: silentLog,
        fieldManager: 'm',
        instance: 'i',
        freeze: true,
      });
    const names = async (kind: Kind): Promise<string[]> =>
      (await client.list(kind, namespace)).map(({ metadata }) => metadata.name).sort();

    it('wait for their kinds, make what is wanted, undo it, and stop', async () => {
      const manager = managed();
      manager.start();
      await eventually(async () => manager.ready, Boolean);
      for (const kind of [Basket, Apple]) await client.create(CustomResourceDefinition, customResourceDefinition(kind));
      await eventually(() => client.serves(Apple), Boolean);

      await client.create(Basket, basket('b', 3));
      const filled = await eventually(
        () => client.get(Basket, 'b', namespace),
        (found) => found?.status?.state === 'holds 3',
      );
      assert.deepEqual(filled?.metadata.finalizers, ['netloom.test/basket']);
      assert.deepEqual(await names(Apple), ['b-0', 'b-1', 'b-2']);
      await client.delete(Apple, { namespace, name: 'b-1' });
      await eventually(
        () => names(Apple),
        (found) => found.length === 3,
      );
      await client.patch(Basket, { namespace, name: 'b' }, { merge: { spec: { size: 1 } } });
      await eventually(
        () => names(Apple),
        (found) => found.length === 1,
      );
      await eventually(
        () => client.list(Event, namespace),
        (found) => found.some(({ message }) => message === 'holds 1 apples'),
      );

      await client.delete(Basket, { namespace, name: 'b' });
      await eventually(
        () => names(Basket),
        (found) => found.length === 0,
      );
      assert.deepEqual(await names(Apple), []);
      const { failures } = manager.report().controllers[0] ?? assert.fail('no controller');
      assert.equal(failures, 0);
      await manager.stop({ within: 5_000 });
    });

    it('go on where another one ended, and see each object once', async () => {
      const [first, second] = [managed(), managed()];
      first.start();
      await client.create(Basket, basket('c', 2));
      await eventually(
        () => names(Apple),
        (found) => found.length === 2,
      );
      await eventually(
        () => client.get(Basket, 'c', namespace),
        (found) => found?.status?.state === 'holds 2',
      );
      await first.stop({ within: 5_000 });
      await client.patch(Basket, { namespace, name: 'c' }, { merge: { spec: { size: 4 } } });
      second.start();
      await eventually(
        () => names(Apple),
        (found) => found.length === 4,
      );
      const informers = second.report().informers.map(({ kind, objects, lists }) => [kind, objects, lists]);
      assert.deepEqual(informers[0], ['baskets', 1, 1]);
      await second.stop({ within: 5_000 });
    });

    it('have one leader, and the next one when it stops', async () => {
      const times = { lease: 1_500, renewWithin: 1_000, retry: 100 };
      const lease = { namespace, name: 'leader' };
      const candidates = ['a', 'b'].map((identity) => {
        const leadership = new Leadership({ client, lease, identity, system, log: silentLog, times });
        const stop = new AbortController();
        const lead = (signal: AbortSignal) =>
          new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
        return { leadership, stop, running: leadership.run(lead, stop.signal) };
      });
      const leading = async () => candidates.filter(({ leadership }) => leadership.leading);
      const [leader] = await eventually(leading, ({ length }) => length === 1);
      leader?.stop.abort();
      await leader?.running;
      const [next] = await eventually(leading, ({ length }) => length === 1);
      assert.notEqual(next, leader);
      assert.equal((await client.get(Lease, 'leader', namespace))?.spec?.leaseTransitions, 1);
      next?.stop.abort();
      await next?.running;
    });
  });
}

it('an informer keeps its cache true over restarts of the engine', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'netloom-engine-'));
  const kubeconfig = join(directory, 'kubeconfig');
  const start = (port: number) => startEngine({ directory, host: '127.0.0.1', port, kubeconfig, log: silentLog });
  let engine = await start(0);
  const port = Number(new URL(engine.url).port);
  const transport = new HttpTransport({ connection: await readKubeconfig(kubeconfig), system });
  const client = new Client({ transport, fieldManager: 'test' });
  const informer = new Informer({ client, kind: ConfigMap, scope: { namespace }, system, log: silentLog });
  informer.start();
  await informer.whenSynced();
  const cached = async () => informer.cache.list().map(({ metadata }) => metadata.name);
  for (let i = 0; i < 3; i += 1) {
    const name = `round-${i}`;
    await eventually(() => client.create(ConfigMap, { metadata: { name, namespace } }).catch(() => undefined), Boolean);
    await eventually(cached, (found) => found.includes(name));
    await engine.close();
    engine = await start(port);
  }
  await client.delete(ConfigMap, { namespace, name: 'round-1' });
  await eventually(cached, (found) => !found.includes('round-1'));
  const listed = (await client.list(ConfigMap, namespace)).map(({ metadata }) => metadata.name);
  assert.deepEqual((await cached()).sort(), listed.sort());
  assert.ok(informer.counters.watches >= 4);
  await informer.stop();
  transport.close();
  await engine.close();
  await rm(directory, { recursive: true });
});
