import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { storm } from '../../test/simulation/faults.ts';
import { Net, net, Port, port, type World, world } from '../../test/simulation/world.ts';
import { index } from './cache.ts';
import { sleep } from './clock.ts';
import { type Controller, controller } from './controller.ts';
import { Manager } from './manager.ts';
import { done, failed, wait } from './outcome.ts';
import { keyOf, refOf } from './ref.ts';

const inDefault = (name: string) => ({ namespace: 'default', name });

/** Runs controllers against the simulated server of `all`. */
function managed(all: World, ...controllers: Controller[]) {
  const { api, clock: system, log } = all;
  const transport = api.transport();
  const manager = new Manager({ transport, controllers, system, log, fieldManager: 'm', instance: 'i', freeze: true });
  manager.start();
  const state = () => manager.report().controllers[0] ?? assert.fail('no controller');
  return { manager, transport, state, stop: () => manager.stop({ within: 1_000 }) };
}

describe('a controller', () => {
  it('makes a pass over every object there is, and over each one that changes', async () => {
    const all = world();
    const passes: string[] = [];
    const { stop } = managed(
      all,
      controller({
        for: Net,
        reconcile: async ({ metadata, spec }) => {
          passes.push(`${metadata.name} ${spec.size}`);
          return done();
        },
      }),
    );
    await all.client.create(Net, net('a'));
    const b = await all.client.create(Net, net('b'));
    await all.clock.advance(10);
    await all.client.update(Net, { ...b, spec: { size: 2 } });
    await all.clock.advance(10);
    assert.deepEqual(passes, ['a 1', 'b 1', 'b 2']);
    await stop();
  });

  it('makes another pass over an object that changed during its pass', async () => {
    const all = world();
    const passes: number[] = [];
    const { stop } = managed(
      all,
      controller({
        for: Net,
        reconcile: async ({ spec }, { system }) => {
          passes.push(spec.size);
          await sleep(system, 100);
          return done();
        },
      }),
    );
    const a = await all.client.create(Net, net('a'));
    await all.clock.advance(50);
    await all.client.update(Net, { ...a, spec: { size: 2 } });
    await all.clock.advance(1_000);
    assert.deepEqual(passes, [1, 2]);
    await stop();
  });

  it('begins when it has heard of everything that it reads, not before', async () => {
    const all = world();
    await all.client.create(Net, net('a'));
    await all.client.create(Port, port('p', 'a'));
    const seen: number[] = [];
    const counting = controller({
      for: Net,
      watches: [{ kind: Port, wakes: () => [] }],
      reconcile: async (_, { caches }) => {
        seen.push(caches.of(Port).size);
        return done();
      },
    });
    const transport = all.api.transport();
    const request = transport.request.bind(transport);
    let held = true;
    transport.request = async (asked) => {
      if (held && asked.path.includes('/ports')) throw new Error('not yet');
      return request(asked);
    };
    const { clock: system, log } = all;
    const manager = new Manager({ transport, controllers: [counting], system, log, fieldManager: 'm', instance: 'i' });
    manager.start();
    await all.clock.advance(60_000);
    assert.deepEqual([seen, manager.ready], [[], false]);
    held = false;
    await all.clock.advance(60_000);
    assert.deepEqual([seen, manager.ready], [[1], true]);
    await manager.stop({ within: 0 });
  });

  it('writes the status that a pass brings, and only when it differs', async () => {
    const all = world();
    const { stop } = managed(
      all,
      controller({ for: Net, reconcile: async ({ spec }) => done({ status: { state: `of ${spec.size}` } }) }),
    );
    const a = await all.client.create(Net, net('a'));
    await all.clock.advance(1_000);
    assert.equal(all.api.objects(Net)[0]?.status?.state, 'of 1');
    assert.equal(all.api.requests.get('patch nets'), 1);
    await all.client.patch(Net, refOf(a), { merge: { spec: { size: 2 } } });
    await all.clock.advance(1_000);
    assert.equal(all.api.objects(Net)[0]?.status?.state, 'of 2');
    await stop();
  });

  it('tries again after a failure, and logs which object it was', async () => {
    const all = world();
    let fails = 3;
    const flaky = controller({
      for: Net,
      reconcile: async () => {
        fails -= 1;
        if (fails >= 0) throw new TypeError('oops');
        return done({ status: { state: 'up' } });
      },
    });
    const { stop, state } = managed(all, flaky);
    await all.client.create(Net, net('a'));
    await all.clock.advance(5);
    const { failures, failing, lastFailure } = state();
    assert.deepEqual([failures, failing, lastFailure?.object], [1, 1, 'nets.sim.netloom.test default/a']);
    await all.clock.advance(1_000);
    assert.equal(all.api.objects(Net)[0]?.status?.state, 'up');
    assert.equal(state().failing, 0);
    const line = all.lines.find((text) => text.includes('oops')) ?? '';
    assert.match(line, /error a pass failed; will try again controller=nets object="nets.sim.netloom.test default\/a"/);
    await stop();
  });

  it('can write a status and try again all the same', async () => {
    const all = world();
    let passes = 0;
    const trying = controller({
      for: Net,
      reconcile: async () => {
        passes += 1;
        return failed(new Error('nobody answers'), { status: { state: 'nobody answers' } });
      },
    });
    const { stop } = managed(all, trying);
    await all.client.create(Net, net('a'));
    await all.clock.advance(10_000);
    assert.equal(all.api.objects(Net)[0]?.status?.state, 'nobody answers');
    assert.ok(passes > 3 && passes < 40, `${passes} passes`);
    await stop();
  });

  it('looks again after the time that a pass asks for, and does not poll otherwise', async () => {
    const all = world();
    const passes: string[] = [];
    const waiting = controller({
      for: Net,
      reconcile: async ({ metadata: { name } }) => {
        passes.push(`${name} ${all.clock.uptime()}`);
        return name === 'timed' ? wait({ after: 60_000 }) : wait();
      },
    });
    const { stop } = managed(all, waiting);
    await all.client.create(Net, net('timed'));
    await all.client.create(Net, net('untimed'));
    await all.clock.advance(130_000);
    assert.deepEqual(passes, ['timed 0', 'untimed 0', 'timed 60000', 'timed 120000']);
    await stop();
  });

  it('is woken by what it owns and by what it watches, as it was and as it is', async () => {
    const all = world();
    const woken: string[] = [];
    const byNet = index(Port, ({ spec }) => [spec.net]);
    const waking = controller({
      for: Net,
      watches: [
        { kind: Port, wakes: ({ metadata, spec }) => [{ namespace: metadata.namespace ?? '', name: spec.net }] },
      ],
      reconcile: async ({ metadata: { name } }, { caches }) => {
        woken.push(`${name} has ${caches.of(Port).by(byNet, name).length}`);
        return done();
      },
    });
    const { stop } = managed(all, waking);
    for (const name of ['a', 'b']) await all.client.create(Net, net(name));
    await all.clock.advance(10);
    woken.length = 0;
    const moving = await all.client.create(Port, port('p', 'a'));
    await all.clock.advance(10);
    await all.client.update(Port, { ...moving, spec: { net: 'b' } });
    await all.clock.advance(10);
    assert.deepEqual(woken, ['a has 1', 'a has 0', 'b has 1']);
    await stop();
  });

  it('makes children that come back when somebody deletes them', async () => {
    const all = world();
    const { stop } = managed(all, portsOfNets());
    await all.client.create(Net, net('a', { size: 2 }));
    await all.clock.advance(10);
    assert.equal(all.api.objects(Port).length, 2);
    await all.client.delete(Port, inDefault('a-1'));
    await all.clock.advance(10);
    assert.deepEqual(
      all.api.objects(Port).map(({ metadata }) => metadata.name),
      ['a-0', 'a-1'],
    );
    await stop();
  });

  it('holds an object that is being deleted until everything is undone, under its former name too', async () => {
    const all = world();
    const steps: string[] = [];
    let inUse = true;
    const holding = controller({
      for: Net,
      finalizer: {
        name: 'netloom.test/net',
        former: ['Net'],
        release: async ({ metadata: { name } }) => {
          steps.push(`release ${name}`);
          return inUse ? wait({ after: 1_000, status: { state: 'in use' } }) : done();
        },
      },
      reconcile: async ({ metadata: { name, finalizers } }) => {
        steps.push(`reconcile ${name} with ${finalizers?.join(' ')}`);
        return done();
      },
    });
    const { spec } = net('a');
    await all.client.create(Net, { metadata: { ...inDefault('old'), finalizers: ['Net'] }, spec });
    await all.client.delete(Net, inDefault('old'));
    const { stop } = managed(all, holding);
    await all.clock.advance(10);
    assert.equal(all.api.objects(Net)[0]?.status?.state, 'in use');
    inUse = false;
    await all.clock.advance(1_000);
    assert.deepEqual(all.api.objects(Net), []);
    assert.deepEqual(new Set(steps), new Set(['release old']));
    steps.length = 0;
    await all.client.create(Net, net('a'));
    await all.clock.advance(10);
    assert.equal(steps[0], 'reconcile a with netloom.test/net');
    await all.client.delete(Net, inDefault('a'));
    await all.clock.advance(10);
    assert.deepEqual(all.api.objects(Net), []);
    await stop();
  });

  it('leaves an object alone that is being deleted and waits for others', async () => {
    const all = world();
    const { spec } = net('a');
    await all.client.create(Net, { metadata: { ...inDefault('a'), finalizers: ['theirs'] }, spec });
    await all.client.delete(Net, inDefault('a'));
    const unexpected = async () => assert.fail('a pass');
    const { stop, state } = managed(
      all,
      controller({ for: Net, finalizer: { name: 'ours', release: unexpected }, reconcile: unexpected }),
    );
    await all.clock.advance(1_000);
    assert.deepEqual(all.api.objects(Net)[0]?.metadata.finalizers, ['theirs']);
    assert.deepEqual([state().passes, state().failures], [1, 0]);
    await stop();
  });

  it('is told of objects that are gone without having waited', async () => {
    const all = world();
    const gone: string[] = [];
    const { stop } = managed(
      all,
      controller({ for: Net, gone: (ref) => void gone.push(keyOf(ref)), reconcile: async () => done() }),
    );
    await all.client.create(Net, net('a'));
    await all.clock.advance(10);
    await all.client.delete(Net, inDefault('a'));
    await all.clock.advance(10);
    assert.deepEqual(gone, ['default/a']);
    await stop();
  });

  it('looks again at one that is gone as long as it asks for that', async () => {
    const all = world();
    const gone: number[] = [];
    const { stop } = managed(
      all,
      controller({
        for: Net,
        gone: async () => (gone.push(all.clock.now()) < 3 ? { after: 1_000 } : undefined),
        reconcile: async () => done(),
      }),
    );
    await all.client.create(Net, net('a'));
    await all.clock.advance(10);
    await all.client.delete(Net, inDefault('a'));
    await all.clock.advance(10_000);
    assert.deepEqual(
      gone.map((time) => time - (gone[0] ?? 0)),
      [0, 1_000, 2_000],
    );
    await stop();
  });

  it('takes many objects at once when that is cheaper, and each has an outcome of its own', async () => {
    const all = world();
    const batches: string[] = [];
    const batched = controller({
      for: Net,
      batch: { max: 10 },
      finalizer: { name: 'ours', releaseMany: async (nets) => nets.map(() => done()) },
      reconcileMany: async (nets) => {
        batches.push(nets.map(({ metadata }) => metadata.name).join(' '));
        if (nets.length > 1 && nets.some(({ spec }) => spec.pool === 'poison')) throw new Error('spoiled');
        return nets.map(({ spec }) =>
          spec.pool === 'full' ? failed(new Error('full')) : done({ status: { state: `of ${spec.size}` } }),
        );
      },
    });
    for (let i = 0; i < 10; i += 1)
      await all.client.create(Net, net(`n${i}`, { size: i, ...(i === 3 ? { pool: 'full' } : {}) }));
    const { stop, state } = managed(all, batched);
    await all.clock.advance(1);
    assert.deepEqual(batches, ['n0 n1 n2 n3 n4 n5 n6 n7 n8 n9']);
    const states = () => all.api.objects(Net).map(({ status }) => status?.state ?? '-');
    assert.equal(states().filter((text) => text !== '-').length, 9);
    assert.equal(state().failures, 1);
    batches.length = 0;
    await all.client.create(Net, net('p', { size: 7, pool: 'poison' }));
    await all.client.create(Net, net('q', { size: 8 }));
    await all.clock.advance(1_000);
    assert.equal(states().at(-1), 'of 8');
    assert.equal(states().at(-2), 'of 7');
    for (const { metadata } of all.api.objects(Net)) await all.client.delete(Net, refOf({ metadata }));
    await all.clock.advance(1_000);
    assert.deepEqual(all.api.objects(Net), []);
    await stop();
  });

  it('counts a conflict as what it is: somebody was faster, and the next pass knows more', async () => {
    const all = world();
    let raced = false;
    const racing = controller({
      for: Net,
      reconcile: async ({ metadata, spec }) => {
        if (!raced) await all.client.patch(Net, refOf({ metadata }), { merge: { spec: { size: 5 } } });
        raced = true;
        return done({ status: { state: `of ${spec.size}` } });
      },
    });
    const { stop, state } = managed(all, racing);
    await all.client.create(Net, net('a'));
    await all.clock.advance(1_000);
    assert.equal(all.api.objects(Net)[0]?.status?.state, 'of 5');
    assert.deepEqual([state().conflicts, state().failures], [1, 0]);
    await stop();
  });

  it('cannot read a kind that it did not declare', async () => {
    const all = world();
    const { stop, state } = managed(
      all,
      controller({
        for: Net,
        reconcile: async (_, { caches }) => done({ status: { state: `${caches.of(Port).size}` } }),
      }),
    );
    await all.client.create(Net, net('a'));
    await all.clock.advance(10);
    assert.match(
      state().lastFailure?.message ?? '',
      /controller nets reads ports.sim.netloom.test: it must declare it/,
    );
    await stop();
  });

  it('comes to the wanted end whatever goes wrong on the way, even when two run at once', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer(), fc.boolean(), async (seed, twice) => {
        const all = world({ seed });
        const { api, clock, client, log } = all;
        const weather = Array.from({ length: twice ? 2 : 1 }, () => api.transport(storm));
        const managers = weather.map(
          (transport, i) =>
            new Manager({
              transport,
              controllers: [portsOfNets()],
              system: clock,
              log,
              fieldManager: `m${i}`,
              instance: 'i',
              freeze: true,
            }),
        );
        for (const manager of managers) manager.start();
        const pick = (n: number): number => Math.floor(clock.random() * n);
        for (let step = 0; step < 30; step += 1) {
          const name = `n${pick(4)}`;
          if (!api.up) api.start({ forget: pick(2) === 0 });
          if (pick(3) === 0) await client.delete(Net, inDefault(name));
          else await client.apply(Net, net(name, { size: pick(4) }), { force: true });
          if (pick(6) === 0) await client.delete(Port, inDefault(`n${pick(4)}-${pick(4)}`));
          if (pick(15) === 0) api.stop();
          await clock.advance(pick(3) === 0 ? pick(60_000) : pick(500));
        }
        api.start();
        for (const transport of weather)
          transport.faults = { ...storm, lostRequest: 0, lostAnswer: 0, refused: 0, silentWatch: 0, brokenWatch: 0 };
        for (let round = 0; round < 3; round += 1) {
          api.collectGarbage();
          await clock.advance(700_000);
        }
        const wanted = api
          .objects(Net)
          .flatMap(({ metadata, spec }) => Array.from({ length: spec.size }, (_, i) => `${metadata.name}-${i}`));
        assert.deepEqual(
          api
            .objects(Port)
            .map(({ metadata }) => metadata.name)
            .sort(),
          wanted.sort(),
        );
        for (const { metadata, spec, status } of api.objects(Net)) {
          assert.deepEqual(status, { state: `${spec.size} ports`, observedGeneration: metadata.generation });
        }
        for (const manager of managers) await clock.run(manager.stop({ within: 1_000 }));
        await clock.advance(0);
        assert.deepEqual([api.watches, clock.pending], [0, 0]);
      }),
      { numRuns: 6 },
    );
  });
});

/** Keeps as many ports as a net is large, called by its name and a number. */
function portsOfNets(): Controller {
  const byNet = index(Port, ({ spec }) => [spec.net]);
  return controller({
    for: Net,
    owns: [Port],
    parallel: 2,
    async reconcile(net, { caches, children, client }) {
      const { name, namespace = '' } = net.metadata;
      if (net.metadata.deletionTimestamp !== undefined) return done();
      for (const { metadata, spec } of caches.of(Port).by(byNet, name)) {
        const { uid } = metadata;
        if ((spec.index ?? 0) >= net.spec.size) await client.delete(Port, refOf({ metadata }), { uid });
      }
      for (let i = 0; i < net.spec.size; i += 1) {
        const wanted = { metadata: { name: `${name}-${i}`, namespace }, spec: { net: name, index: i } };
        await children.apply(Port, wanted, net);
      }
      const { generation = 0 } = net.metadata;
      return done({ status: { state: `${net.spec.size} ports`, observedGeneration: generation } });
    },
  });
}
