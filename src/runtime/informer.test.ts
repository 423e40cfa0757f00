import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type Faults, storm } from '../../test/simulation/faults.ts';
import { Net, net, type World, world } from '../../test/simulation/world.ts';
import type { ApiObject } from '../api/object.ts';
import { CustomResourceDefinition } from './builtin.ts';
import { Client } from './client.ts';
import { type Change, Informer } from './informer.ts';
import type { Scope } from './paths.ts';
import { keyOfObject } from './ref.ts';

const inDefault = (name: string) => ({ namespace: 'default', name });
const names = (objects: readonly ApiObject[]): string[] => objects.map(({ metadata }) => metadata.name).sort();
const told = ({ before, now }: Change<Net>): string =>
  `${before === undefined ? '-' : before.spec.size}>${now === undefined ? '-' : now.spec.size}`;

/** An informer of Nets behind its own network, and what it told. */
function informed(
  { api, clock, log }: World,
  { faults = {}, scope = {} }: { faults?: Partial<Faults>; scope?: Scope } = {},
) {
  const transport = api.transport(faults);
  const client = new Client({ transport, fieldManager: 'test' });
  const informer = new Informer({ client, kind: Net, scope, system: clock, log, freeze: true });
  const changes: Change<Net>[] = [];
  informer.onChange((change) => changes.push(change));
  informer.start();
  return { informer, transport, changes };
}

describe('an informer', () => {
  it('knows what exists, and then every change', async () => {
    const all = world();
    const { client, clock } = all;
    await client.create(Net, net('a'));
    const { informer, changes } = informed(all);
    assert.equal(informer.synced, false);
    await clock.advance(0);
    assert.equal(informer.synced, true);
    const made = await client.create(Net, net('b', { size: 2 }));
    await client.update(Net, { ...made, spec: { size: 3 } });
    await client.delete(Net, inDefault('a'));
    await clock.advance(1);
    assert.deepEqual(changes.map(told), ['->1', '->2', '2>3', '1>-']);
    assert.deepEqual(names(informer.cache.list()), ['b']);
    await informer.stop();
  });

  it('tells a late listener what there is already', async () => {
    const all = world();
    await all.client.create(Net, net('a'));
    const { informer } = informed(all);
    await all.clock.advance(0);
    const late: string[] = [];
    const cancel = informer.onChange((change) => late.push(told(change)));
    assert.deepEqual(late, ['->1']);
    cancel();
    await all.client.delete(Net, inDefault('a'));
    await all.clock.advance(0);
    assert.deepEqual(late, ['->1']);
    await informer.stop();
  });

  it('follows one namespace, or what a selector chooses: what stops matching is gone', async () => {
    const all = world();
    const { client, clock } = all;
    const { spec } = net('');
    const labels = { colour: 'red' };
    await client.create(Net, { metadata: { name: 'a', namespace: 'one', labels }, spec });
    await client.create(Net, { metadata: { name: 'b', namespace: 'two' }, spec });
    const { informer: ofNamespace } = informed(all, { scope: { namespace: 'two' } });
    const { informer: red } = informed(all, { scope: { labelSelector: 'colour=red' } });
    const { informer: onlyB } = informed(all, { scope: { fieldSelector: 'metadata.name=b' } });
    await clock.advance(0);
    for (const [informer, wanted] of [
      [ofNamespace, 'b'],
      [red, 'a'],
      [onlyB, 'b'],
    ] as const) {
      assert.deepEqual(names(informer.cache.list()), [wanted]);
    }
    await client.patch(Net, { namespace: 'one', name: 'a' }, { merge: { metadata: { labels: { colour: 'blue' } } } });
    await clock.advance(0);
    assert.deepEqual(red.cache.list(), []);
    for (const informer of [ofNamespace, red, onlyB]) await informer.stop();
  });

  it('goes on after a lost connection from where it was, without listing again', async () => {
    const all = world();
    const { client, clock, api } = all;
    await client.create(Net, net('a'));
    const { informer, changes, transport } = informed(all);
    await clock.advance(0);
    transport.cut();
    await client.create(Net, net('b', { size: 2 }));
    await clock.advance(10_000);
    transport.mend();
    await clock.advance(60_000);
    assert.deepEqual(changes.map(told), ['->1', '->2']);
    assert.equal(api.requests.get('list nets'), 1);
    await informer.stop();
  });

  it('lists anew when the server has forgotten its version, and tells nothing but the differences', async () => {
    const all = world();
    const { client, clock, api } = all;
    for (const name of ['same', 'changed', 'gone', 'again']) await client.create(Net, net(name));
    const { informer, changes, transport } = informed(all);
    await clock.advance(0);
    changes.length = 0;
    transport.cut();
    await client.apply(Net, net('changed', { size: 2 }), { force: true });
    await client.delete(Net, inDefault('gone'));
    await client.delete(Net, inDefault('again'));
    await client.create(Net, net('again', { size: 3 }));
    await client.create(Net, net('new', { size: 4 }));
    api.store.compact();
    transport.mend();
    await clock.advance(60_000);
    // An object that was deleted and made again under the same name is two objects.
    assert.deepEqual(changes.map(told).sort(), ['->3', '->4', '1>-', '1>-', '1>2']);
    assert.equal(api.requests.get('list nets'), 2);
    await informer.stop();
  });

  it('says when it has listed and at which version, also of what it has never had', async () => {
    const all = world();
    const { client, clock } = all;
    const { informer, transport, changes } = informed(all);
    const lists: string[] = [];
    informer.onListed((version) => lists.push(version));
    await clock.advance(0);
    transport.cut();
    const made = await client.create(Net, net('short'));
    await client.delete(Net, inDefault('short'));
    all.api.store.compact();
    transport.mend();
    await clock.advance(60_000);
    assert.deepEqual(changes, []);
    assert.equal(lists.length, 2);
    assert.ok(Number(lists[1]) > Number(made.metadata.resourceVersion));
    await informer.stop();
  });

  it('takes bookmarks as news of the version, so that a quiet kind need not list anew', async () => {
    const all = world({ kinds: [Net] });
    const { client, clock, api } = all;
    const definition = { metadata: { name: 'x' }, spec: { versions: [] } };
    const { informer, transport } = informed(all);
    await clock.advance(0);
    await client.create(CustomResourceDefinition, definition);
    api.store.compact();
    await clock.advance(61_000);
    transport.cut();
    transport.mend();
    await clock.advance(10_000);
    assert.equal(api.requests.get('list nets'), 1);
    await informer.stop();
  });

  it('notices a connection that died without a word', async () => {
    const all = world();
    const { client, clock, api } = all;
    const { informer, transport } = informed(all);
    await clock.advance(0);
    transport.faults = { ...transport.faults, silentWatch: 1 };
    await client.create(Net, net('lost'));
    transport.faults = { ...transport.faults, silentWatch: 0 };
    await clock.advance(60_000);
    assert.deepEqual(informer.cache.list(), []);
    await clock.advance(700_000);
    assert.deepEqual(names(informer.cache.list()), ['lost']);
    assert.equal(api.watches, 1);
    await informer.stop();
  });

  it('tries ever less often while the server is away, and is there again soon after it', async () => {
    const all = world();
    const { client, clock, api } = all;
    const { informer } = informed(all);
    await clock.advance(0);
    api.stop();
    await clock.advance(3_600_000);
    const { failures } = informer.counters;
    assert.ok(failures > 100 && failures < 200, `${failures} tries within an hour`);
    api.start();
    await client.create(Net, net('a'));
    await clock.advance(30_000);
    assert.deepEqual(names(informer.cache.list()), ['a']);
    await informer.stop();
  });

  it('does not run in circles when the server ends each watch at once', async () => {
    const all = world();
    const { clock } = all;
    const { informer } = informed(all);
    await clock.advance(0);
    const ending = all.api.transport();
    ending.stream = async function* () {};
    const client = new Client({ transport: ending, fieldManager: 'test' });
    const unlucky = new Informer({ client, kind: Net, system: clock, log: all.log });
    unlucky.start();
    await clock.advance(60_000);
    assert.ok(unlucky.counters.watches < 20, `${unlucky.counters.watches} watches within a minute`);
    await informer.stop();
    await unlucky.stop();
  });

  it('takes a kind that the server does not have for one without objects, and wakes when its definition turns up', async () => {
    const all = world({ kinds: [] });
    const { client, clock } = all;
    const { informer } = informed(all);
    await clock.advance(200_000);
    assert.equal(informer.synced, true);
    assert.deepEqual(informer.cache.list(), []);
    const before = clock.uptime();
    const { group, kind, plural, version } = Net;
    const names = { kind, plural };
    const definition = {
      group,
      scope: 'Namespaced',
      names,
      versions: [{ name: version, served: true, storage: true }],
    };
    await client.create(CustomResourceDefinition, { metadata: { name: `${plural}.${group}` }, spec: definition });
    await clock.until(() => all.api.requests.get('list nets') !== undefined);
    assert.ok(clock.uptime() - before < 500, `took ${clock.uptime() - before} ms`);
    await client.create(Net, net('a'));
    await clock.advance(1_000);
    assert.equal(informer.cache.size, 1);
    await informer.stop();
  });

  it('finds a kind by asking from time to time where nobody tells it about definitions', async () => {
    const all = world({ kinds: [] });
    const { client, clock, api } = all;
    const transport = api.transport();
    const stream = transport.stream.bind(transport);
    transport.stream = (request) => {
      if (request.path.includes('customresourcedefinitions')) throw new Error('forbidden');
      return stream(request);
    };
    const informer = new Informer({
      client: new Client({ transport, fieldManager: 'x' }),
      kind: Net,
      system: clock,
      log: all.log,
    });
    informer.start();
    await clock.advance(600_000);
    api.serve(Net);
    await client.create(Net, net('a'));
    await clock.advance(61_000);
    assert.equal(informer.cache.size, 1);
    await informer.stop();
  });

  it('empties its cache when the kind is taken away, and fills it when it comes back', async () => {
    const all = world();
    const { client, clock, api } = all;
    await client.create(Net, net('a'));
    const { informer, changes } = informed(all);
    await clock.advance(0);
    api.unserve(Net);
    await clock.advance(5_000);
    assert.deepEqual(informer.cache.list(), []);
    api.serve(Net);
    await client.create(Net, net('b', { size: 2 }));
    await clock.advance(70_000);
    assert.deepEqual(changes.map(told), ['->1', '1>-', '->2']);
    await informer.stop();
  });

  it('gives out objects that nobody can change, without the record of who set which field', async () => {
    const all = world();
    await all.client.create(Net, net('a'));
    const { informer } = informed(all);
    await all.clock.advance(0);
    const [found] = informer.cache.list();
    assert.ok(found !== undefined && Object.isFrozen(found) && Object.isFrozen(found.spec));
    assert.equal(found.metadata.managedFields, undefined);
    await informer.stop();
  });

  it('goes on when a listener fails, and says which object it was', async () => {
    const all = world();
    const { informer, changes } = informed(all);
    informer.onChange(() => {
      throw new Error('bad listener');
    });
    await all.clock.advance(0);
    await all.client.create(Net, net('a'));
    await all.clock.advance(0);
    assert.equal(changes.length, 1);
    assert.ok(all.lines.some((line) => line.includes('object=default/a') && line.includes('bad listener')));
    await informer.stop();
  });

  it('leaves no watch and no timer behind, at whatever moment it is stopped', async () => {
    for (const ms of [0, 1, 50, 10_000]) {
      const all = world({ kinds: ms === 50 ? [] : [Net] });
      const { informer } = informed(all, { faults: { delay: [20, 40] } });
      await all.clock.advance(ms);
      await informer.stop();
      await all.clock.advance(0);
      assert.deepEqual([all.api.watches, all.clock.pending], [0, 0], `stopped after ${ms} ms`);
    }
  });

  it('has exactly what the server has, whatever went wrong on the way', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer(), async (seed) => {
        const all = world({ seed });
        const { informer, changes } = await survive(all);
        const stored = new Map(all.api.objects(Net).map((object) => [keyOfObject(object), object]));
        const cached = new Map(informer.cache.list().map((object) => [keyOfObject(object), object]));
        assert.deepEqual([...cached.keys()].sort(), [...stored.keys()].sort());
        for (const [key, object] of cached) assert.deepEqual(object, stored.get(key));
        assertChanges(changes, cached);
        await informer.stop();
        await all.clock.advance(0);
        assert.deepEqual([all.api.watches, all.clock.pending], [0, 0]);
      }),
      { numRuns: 25 },
    );
  });
});

/** Writes at random through a storm of faults, then lets the weather clear. */
async function survive(all: World) {
  const { clock, api, client } = all;
  const informed1 = informed(all, { faults: storm });
  const { transport } = informed1;
  const pick = (n: number): number => Math.floor(clock.random() * n);
  for (let step = 0; step < 60; step += 1) {
    const name = `n${pick(6)}`;
    const [write, disturb] = [pick(3), pick(20)];
    if (api.up) {
      if (write === 0) await client.delete(Net, inDefault(name));
      else await client.apply(Net, net(name, { size: pick(1000) }), { force: true });
    }
    if (disturb === 0) api.stop();
    if (disturb === 1 || disturb === 2) api.start({ forget: disturb === 1 });
    if (disturb === 3) transport.cut();
    if (disturb === 4 || disturb === 5) transport.mend();
    if (disturb === 6) api.store.compact();
    await clock.advance(pick(4) === 0 ? pick(100_000) : pick(500));
  }
  api.start();
  transport.faults = { ...transport.faults, lostRequest: 0, refused: 0, lostAnswer: 0, silentWatch: 0, brokenWatch: 0 };
  transport.mend();
  await clock.advance(1_000_000);
  return informed1;
}

/** Each change starts from what the one before left behind, changes something, and together they lead to the cache. */
function assertChanges(changes: readonly Change<Net>[], cached: ReadonlyMap<string, Net>): void {
  const known = new Map<string, Net>();
  for (const { before, now } of changes) {
    const key = keyOfObject(now ?? before ?? assert.fail('a change without an object'));
    assert.equal(before, known.get(key));
    if (now === undefined) known.delete(key);
    else {
      assert.notEqual(now.metadata.resourceVersion, before?.metadata.resourceVersion);
      known.set(key, now);
    }
  }
  assert.deepEqual(known, cached);
}
