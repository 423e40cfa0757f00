import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Compacted } from './errors.ts';
import { note, openStore, set, unset } from './fixture.ts';

test('a watch tells the past since a revision, then the present, without gap or repeat', async (t) => {
  const { store } = await openStore(t);
  await set(store, 'a/x', '1');
  await set(store, 'a/x', '2');
  const pending = set(store, 'a/y', '3');
  const told: string[] = [];
  store.watch({ resource: 'things', after: 1 }, (events) => told.push(...events.map(note)));
  assert.deepEqual(told, ['MODIFIED 2 a/x']);
  await pending;
  await unset(store, 'a/x');
  assert.deepEqual(told, ['MODIFIED 2 a/x', 'ADDED 3 a/y', 'DELETED 4 a/x']);
});

test('the event of a deletion carries the last state with the revision of the deletion', async (t) => {
  const { store, directory } = await openStore(t);
  await set(store, 'a/x', 'a');
  await unset(store, 'a/x');
  const deletion = (of: typeof store) => {
    const events: string[] = [];
    of.watch({ resource: 'things', after: 1 }, (batch) =>
      events.push(...batch.map(({ current, previous }) => `${current.bytes} after ${previous?.bytes}`)),
    );
    return events;
  };
  const expected = ['{"revision":2,"value":"the last state"} after {"revision":1,"value":"a"}'];
  assert.deepEqual(deletion(store), expected);
  await store.close();
  assert.deepEqual(deletion((await openStore(t, { directory })).store), expected);
});

test('all that went to the disk together is told in one call', async (t) => {
  const { store } = await openStore(t);
  const calls: string[][] = [];
  store.watch({ resource: 'things', after: 0 }, (events) => calls.push(events.map(note)));
  await Promise.all([set(store, 'a/x', '1'), set(store, 'b/x', '2'), set(store, 'a/x', '3', 'others')]);
  await set(store, 'a/y', '4');
  assert.deepEqual(calls, [['ADDED 1 a/x', 'ADDED 2 b/x'], ['ADDED 4 a/y']]);
});

test('a watch of a namespace is told of that namespace alone, past and present', async (t) => {
  const { store } = await openStore(t);
  await Promise.all([set(store, 'a/x', '1'), set(store, 'b/x', '2')]);
  const told: string[] = [];
  const watch = store.watch({ resource: 'things', namespace: 'b', after: 0 }, (events) =>
    told.push(...events.map(note)),
  );
  await Promise.all([set(store, 'a/y', '3'), set(store, 'b/y', '4'), set(store, 'b/x', '5', 'others')]);
  watch.close();
  await set(store, 'b/z', '6');
  assert.deepEqual(told, ['ADDED 2 b/x', 'ADDED 4 b/y']);
});

test('a watch from a revision of the future is told only of what comes after it', async (t) => {
  const { store } = await openStore(t);
  const told: string[] = [];
  store.watch({ resource: 'things', after: 2 }, (events) => told.push(...events.map(note)));
  for (const name of ['x', 'y', 'z']) await set(store, `a/${name}`, name);
  assert.deepEqual(told, ['ADDED 3 a/z']);
});

test('a watch that is begun while events are told gets each of them once', async (t) => {
  const { store } = await openStore(t);
  const told: string[] = [];
  const outer = store.watch({ resource: 'things', after: 0 }, () => {
    outer.close();
    store.watch({ resource: 'things', after: 0 }, (events) => told.push(...events.map(note)));
  });
  await set(store, 'a/x', '1');
  await set(store, 'a/y', '2');
  assert.deepEqual(told, ['ADDED 1 a/x', 'ADDED 2 a/y']);
});

test('a listener that fails is told nothing more, and harms nobody', async (t) => {
  const { store, said } = await openStore(t);
  let calls = 0;
  store.watch({ resource: 'things', after: 0 }, () => {
    calls++;
    throw new Error('no more room');
  });
  const told: string[] = [];
  store.watch({ resource: 'things', after: 0 }, (events) => told.push(...events.map(note)));
  await set(store, 'a/x', '1');
  await set(store, 'a/y', '2');
  assert.equal(calls, 1);
  assert.deepEqual(told, ['ADDED 1 a/x', 'ADDED 2 a/y']);
  assert.deepEqual(said, ['a watch of things was ended because its listener failed: Error: no more room']);
});

test('history keeps the newest events, over all resources', async (t) => {
  const { store } = await openStore(t, { limits: { historyEvents: 3 } });
  await set(store, 'a/quiet', 'q', 'others');
  for (let i = 0; i < 5; i++) await set(store, 'a/x', String(i));
  const compacted = (error: unknown) => error instanceof Compacted && error.revision === 2 && error.oldest === 3;
  assert.throws(() => store.watch({ resource: 'things', after: 2 }, () => assert.fail()), compacted);
  assert.throws(() => store.list({ resource: 'things', at: 2 }), compacted);
  const told: string[] = [];
  store.watch({ resource: 'things', after: 3 }, (events) => told.push(...events.map(note)));
  assert.deepEqual(told, ['MODIFIED 4 a/x', 'MODIFIED 5 a/x', 'MODIFIED 6 a/x']);
});

test('what did not change since a revision can be watched from it, however old it is', async (t) => {
  const { store } = await openStore(t, { limits: { historyEvents: 3 } });
  await set(store, 'a/quiet', 'q', 'others');
  for (let i = 0; i < 5; i++) await set(store, 'a/x', String(i));
  const told: string[] = [];
  store.watch({ resource: 'others', after: 1 }, (events) => told.push(...events.map(note)));
  assert.equal(store.list({ resource: 'others', at: 1 }).versions.length, 1);
  await set(store, 'a/quiet', 'r', 'others');
  assert.deepEqual(told, ['MODIFIED 7 a/quiet']);
});

test('history is bounded by the bytes that are kept only for it', async (t) => {
  const { store } = await openStore(t, { limits: { historyBytes: 10_000 } });
  await set(store, 'a/x', 'x'.repeat(4000));
  await set(store, 'a/x', 'y'.repeat(4000));
  await set(store, 'a/x', 'z'.repeat(4000));
  store.watch({ resource: 'things', after: 0 }, () => undefined).close();
  await set(store, 'a/x', 'small');
  assert.throws(() => store.watch({ resource: 'things', after: 0 }, () => assert.fail()), Compacted);
});

test('history survives a restart', async (t) => {
  const { store, directory } = await openStore(t);
  await Promise.all([set(store, 'a/x', '1'), set(store, 'a/y', '2')]);
  await unset(store, 'a/x');
  await store.close();
  const { store: again } = await openStore(t, { directory });
  const told: string[] = [];
  again.watch({ resource: 'things', after: 1 }, (events) => told.push(...events.map(note)));
  assert.deepEqual(told, ['ADDED 2 a/y', 'DELETED 3 a/x']);
  assert.deepEqual(
    again.list({ resource: 'things', at: 1 }).versions.map((version) => version.name),
    ['x'],
  );
});
