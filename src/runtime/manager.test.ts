import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Faults } from '../../test/simulation/faults.ts';
import { Net, net, Port, type World, world } from '../../test/simulation/world.ts';
import { Event } from './builtin.ts';
import { sleep } from './clock.ts';
import { type Controller, controller } from './controller.ts';
import { Manager } from './manager.ts';
import { done } from './outcome.ts';

const ports: Controller = controller({ for: Port, reconcile: async () => done() });

function managed(all: World, controllers: readonly Controller[], faults: Partial<Faults> = {}): Manager {
  const { api, clock: system, log } = all;
  return new Manager({
    transport: api.transport(faults),
    controllers,
    system,
    log,
    fieldManager: 'm',
    instance: 'host-1',
  });
}

describe('a manager', () => {
  it('is ready when every controller has begun, and says what they have done', async () => {
    const all = world();
    await all.client.create(Net, net('a'));
    const nets = controller({ for: Net, reconcile: async () => done({ status: { state: 'up' } }) });
    const manager = managed(all, [nets, ports], { delay: [10, 10] });
    assert.equal(manager.ready, false);
    manager.start();
    await all.clock.advance(10);
    assert.equal(manager.ready, false);
    await all.clock.advance(100);
    assert.equal(manager.ready, true);
    const { controllers, informers, droppedEvents } = manager.report();
    const [first] = controllers;
    assert.deepEqual([first?.name, first?.passes, first?.failures, first?.seconds], ['nets', 1, 0, 0.02]);
    assert.deepEqual(
      informers.map(({ kind, objects, lists }) => [kind, objects, lists]),
      [
        ['nets', 1, 1],
        ['ports', 0, 1],
      ],
    );
    assert.equal(droppedEvents, 0);
    await all.clock.run(manager.stop({ within: 1_000 }));
  });

  it('listens once to a kind that several controllers read', async () => {
    const all = world();
    const watching = (name: string): Controller =>
      controller({ name, for: Net, watches: [{ kind: Port, wakes: () => [] }], reconcile: async () => done() });
    const manager = managed(all, [watching('one'), watching('two'), ports]);
    manager.start();
    await all.clock.advance(10);
    assert.equal(all.api.watches, 2);
    await manager.stop({ within: 0 });
  });

  it('does not begin with what it may not read, and runs the rest', async () => {
    const all = world();
    let passes = 0;
    const nets = controller({
      for: Net,
      reconcile: async () => {
        passes += 1;
        return done();
      },
    });
    const transport = all.api.transport();
    const request = transport.request.bind(transport);
    transport.request = async (asked) =>
      asked.path.includes('/ports') ? { status: 403, body: { message: 'forbidden' }, warnings: [] } : request(asked);
    const { clock: system, log } = all;
    const manager = new Manager({
      transport,
      controllers: [nets, ports],
      system,
      log,
      fieldManager: 'm',
      instance: 'i',
    });
    await all.client.create(Net, net('a'));
    manager.start();
    await all.clock.advance(10_000);
    assert.equal(passes, 1);
    assert.deepEqual(
      manager.report().controllers.map(({ name, begun }) => [name, begun]),
      [
        ['nets', true],
        ['ports', false],
      ],
    );
    assert.ok(
      all.lines.some((line) => line.includes('warn') && line.includes('informer=ports') && line.includes('forbidden')),
    );
    await manager.stop({ within: 0 });
  });

  it('lets passes end that are under way, with their events, and begins no others', async () => {
    const all = world({ kinds: [Net, Event] });
    const slow = controller({
      for: Net,
      reconcile: async (object, { events, system }) => {
        await sleep(system, 100);
        events.normal(object, 'Made', 'made');
        return done({ status: { state: 'made' } });
      },
    });
    for (const name of ['a', 'b']) await all.client.create(Net, net(name));
    const manager = managed(all, [slow]);
    manager.start();
    await all.clock.advance(50);
    await all.clock.run(manager.stop({ within: 10_000 }));
    assert.equal(all.clock.uptime(), 100);
    assert.deepEqual(
      all.api.objects(Net).map(({ status }) => status?.state),
      ['made', undefined],
    );
    assert.equal(all.api.objects(Event).length, 1);
    assert.deepEqual([all.api.watches, all.clock.pending], [0, 0]);
  });

  it('does not wait for ever, and lets nothing reach the server after that', async () => {
    const all = world();
    const stuck = controller({
      for: Net,
      reconcile: async (_, { system }) => {
        await sleep(system, 60_000);
        return done({ status: { state: 'too late' } });
      },
    });
    await all.client.create(Net, net('a'));
    const manager = managed(all, [stuck]);
    manager.start();
    await all.clock.advance(10);
    await all.clock.run(manager.stop({ within: 1_000 }));
    assert.equal(all.clock.uptime(), 1_010);
    assert.ok(all.lines.some((line) => line.includes('stopped before everything had ended busy=nets')));
    await all.clock.advance(100_000);
    assert.equal(all.api.objects(Net)[0]?.status, undefined);
    assert.deepEqual([all.api.watches, all.clock.pending], [0, 0]);
  });

  it('can be stopped before it has begun', async () => {
    const all = world();
    const manager = managed(all, [ports], { delay: [1_000, 1_000] });
    manager.start();
    await all.clock.advance(10);
    await all.clock.run(manager.stop({ within: 1_000 }));
    await all.clock.advance(10_000);
    assert.deepEqual([all.api.watches, all.clock.pending], [0, 0]);
  });

  it('passes on, once, what the server warns of', async () => {
    const all = world();
    const transport = all.api.transport();
    const request = transport.request.bind(transport);
    transport.request = async (asked) => ({
      ...(await request(asked)),
      warnings: asked.method === 'PATCH' ? ['spec.x is old'] : ['the kind is old'],
    });
    const { clock: system, log } = all;
    const nets = controller({ for: Net, reconcile: async () => done({ status: { state: 'up' } }) });
    for (const name of ['a', 'b']) await all.client.create(Net, net(name));
    const manager = new Manager({ transport, controllers: [nets], system, log, fieldManager: 'm', instance: 'i' });
    manager.start();
    await all.clock.advance(10);
    const warnings = all.lines.filter((line) => line.includes('the server warns'));
    assert.deepEqual(
      warnings.map((line) => /(warn|debug) .*warning="([^"]*)"/.exec(line)?.slice(1)),
      [
        ['debug', 'the kind is old'],
        ['warn', 'spec.x is old'],
      ],
    );
    await manager.stop({ within: 0 });
  });
});
