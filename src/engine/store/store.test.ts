import assert from 'node:assert/strict';
import { readdirSync, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { RevisionMismatch, Unstorable } from './errors.ts';
import { encoding, openStore, path, set, split, temporaryDirectory, unset } from './fixture.ts';
import { Store } from './store.ts';

const key = { resource: 'things', namespace: 'default', name: 'web' };

test('a write that is not on the disk yet is hidden from readers, and is what the next change starts from', async (t) => {
  const { store } = await openStore(t);
  const told: number[] = [];
  store.watch({ resource: 'things', after: 0 }, (events) => told.push(...events.map((event) => event.revision)));

  const write = store.put({ ...key, expected: 0, encode: encoding('a') });
  assert.equal(store.get('things', 'default', 'web'), undefined);
  assert.deepEqual(store.list({ resource: 'things' }), { versions: [], remaining: 0, revision: 0 });
  assert.deepEqual(told, []);
  assert.equal(store.newest('things', 'default', 'web')?.revision, 1);

  await write;
  assert.equal(store.get('things', 'default', 'web')?.revision, 1);
  assert.equal(store.revision, 1);
  assert.deepEqual(told, [1]);
});

test('get, list and watch share the very bytes that were encoded', async (t) => {
  const { store } = await openStore(t);
  const version = await set(store, 'default/web', 'a');
  let seen: Buffer | undefined;
  store.watch({ resource: 'things', after: 0 }, ([event]) => {
    seen = event?.current.bytes;
  });
  assert.equal(store.get('things', 'default', 'web'), version);
  assert.equal(store.list({ resource: 'things' }).versions[0], version);
  assert.equal(seen, version.bytes);
  assert.equal(version.bytes.toString(), '{"revision":1,"value":"a"}');
});

test('writes to one object that wait for the disk together build on each other', async (t) => {
  const { store, directory } = await openStore(t);
  const done = await Promise.all([
    set(store, 'default/web', 'a'),
    set(store, 'default/web', 'b'),
    unset(store, 'default/web'),
    set(store, 'default/web', 'c'),
  ]);
  assert.deepEqual(
    done.map((version) => version.revision),
    [1, 2, 3, 4],
  );
  const events: string[] = [];
  store.watch({ resource: 'things', after: 0 }, (batch) =>
    events.push(
      ...batch.map(({ type, current, previous }) => `${type} ${current.revision} after ${previous?.revision}`),
    ),
  );
  assert.deepEqual(events, [
    'ADDED 1 after undefined',
    'MODIFIED 2 after 1',
    'DELETED 3 after 2',
    'ADDED 4 after undefined',
  ]);
  await store.close();
  const { store: again } = await openStore(t, { directory });
  assert.equal(again.get('things', 'default', 'web')?.bytes.toString(), '{"revision":4,"value":"c"}');
});

test('a write that expects another revision than the newest is refused, and costs no revision', async (t) => {
  const { store } = await openStore(t);
  const mismatch = (expected: number, actual: number) => (error: unknown) =>
    error instanceof RevisionMismatch && error.expected === expected && error.actual === actual;
  await set(store, 'default/web', 'a');
  const pending = set(store, 'default/web', 'b');
  await assert.rejects(store.put({ ...key, expected: 0, encode: encoding('x') }), mismatch(0, 2));
  await assert.rejects(store.put({ ...key, expected: 1, encode: encoding('x') }), mismatch(1, 2));
  await assert.rejects(store.remove({ ...key, expected: 1, encode: encoding('x') }), mismatch(1, 2));
  await assert.rejects(store.remove({ ...key, name: 'db', expected: 0, encode: encoding('x') }), mismatch(0, 0));
  await assert.rejects(store.put({ ...key, name: 'db', expected: 7, encode: encoding('x') }), mismatch(7, 0));
  await pending;
  assert.equal((await set(store, 'default/web', 'c')).revision, 3);
});

test('a write whose encoding fails leaves nothing behind', async (t) => {
  const { store } = await openStore(t);
  const encode = () => {
    throw new Error('too deep');
  };
  await assert.rejects(store.put({ ...key, expected: 0, encode }), /too deep/);
  assert.equal(store.newest('things', 'default', 'web'), undefined);
  assert.equal((await set(store, 'default/web', 'a')).revision, 1);
});

test('a write that is begun while another one is encoded fails the outer one', async (t) => {
  const { store } = await openStore(t);
  let inner: Promise<unknown> | undefined;
  const encode = (revision: number) => {
    inner = set(store, 'default/db', 'inner');
    return encoding('outer')(revision);
  };
  await assert.rejects(
    store.put({ ...key, expected: 0, encode }),
    /another write was begun while things "default\/web"/,
  );
  await inner;
  assert.deepEqual(store.list({ resource: 'things' }).versions.map(path), ['default/db']);
});

test('names that could become the same bytes as others are refused', async (t) => {
  const { store } = await openStore(t);
  const put = (part: Partial<typeof key>) => store.put({ ...key, ...part, expected: 0, encode: encoding('a') });
  const says = (message: RegExp) => (error: unknown) => error instanceof Unstorable && message.test(error.message);
  await assert.rejects(put({ name: 'a\0b' }), says(/the name "a\\u0000b" contains the character NUL/));
  await assert.rejects(put({ namespace: '\ud800' }), says(/the namespace "\\ud800" contains half of a surrogate pair/));
  await assert.rejects(put({ name: 'x'.repeat(1025) }), says(/the name "x+" is longer than 1024 characters/));
  await assert.rejects(put({ name: '' }), says(/the name "" is empty/));
  await assert.rejects(put({ resource: '' }), says(/the resource "" is empty/));
});

test('an object beyond the limit of size is refused', async (t) => {
  const { store } = await openStore(t);
  const encode = () => Buffer.alloc(32 * 1024 * 1024 + 1);
  await assert.rejects(
    store.put({ ...key, expected: 0, encode }),
    /takes 33554433 bytes, and the store takes 33554432/,
  );
});

test('any other name is kept, in the order of namespace, then name, over a restart too', async (t) => {
  const directory = await temporaryDirectory(t);
  const text = fc.string({ unit: 'binary', maxLength: 20 }).filter((name) => !name.includes('\0'));
  const hostile = fc.constantFrom(
    '__proto__',
    'constructor',
    'toString',
    '../x',
    'a/b',
    '%00',
    '\u0001',
    '\uffff',
    '🧵',
  );
  const place = fc.record({ namespace: fc.oneof(text, hostile), name: fc.oneof(text.filter(Boolean), hostile) });
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(place, { maxLength: 30 }), async (places) => {
      const options = { directory: join(directory, String(run++)), holder: 'a test', log: assert.fail };
      const store = await Store.open(options);
      const expected = new Map<string, string>();
      const writes = places.map(({ namespace, name }) => {
        expected.set(`${namespace}\0${name}`, name);
        const revision = store.newest('__proto__', namespace, name)?.revision ?? 0;
        return store.put({ resource: '__proto__', namespace, name, expected: revision, encode: encoding(name) });
      });
      await Promise.all(writes);
      const sorted = [...expected.keys()].sort();
      const names = (listed: Store) =>
        listed.list({ resource: '__proto__' }).versions.map(({ namespace, name }) => `${namespace}\0${name}`);
      assert.deepEqual(names(store), sorted);
      await store.close();
      const again = await Store.open(options);
      assert.deepEqual(names(again), sorted);
      await again.close();
    }),
    { numRuns: 15 },
  );
});

test('a list is ordered by namespace, then name, and can be had in pages that say how much is left', async (t) => {
  const { store } = await openStore(t);
  const paths = ['a/x', 'a/y', 'a-b/x', 'a-b/z', 'b/x', '/cluster'];
  await Promise.all(paths.map((each) => set(store, each, each)));
  await set(store, 'a/other', 'of another resource', 'others');

  const list = store.list({ resource: 'things' });
  assert.deepEqual(list.versions.map(path), ['/cluster', 'a/x', 'a/y', 'a-b/x', 'a-b/z', 'b/x']);
  assert.equal(list.remaining, 0);

  const page = store.list({ resource: 'things', after: split('a/x'), limit: 2 });
  assert.deepEqual([page.versions.map(path), page.remaining], [['a/y', 'a-b/x'], 2]);
  const rest = store.list({ resource: 'things', after: split('a-b/x'), limit: 2 });
  assert.deepEqual([rest.versions.map(path), rest.remaining], [['a-b/z', 'b/x'], 0]);

  const inNamespace = store.list({ resource: 'things', namespace: 'a', limit: 1 });
  assert.deepEqual([inNamespace.versions.map(path), inNamespace.remaining], [['a/x'], 1]);
  const clusterScope = store.list({ resource: 'things', namespace: '' });
  assert.deepEqual(clusterScope.versions.map(path), ['/cluster']);
  assert.deepEqual(store.list({ resource: 'things', namespace: 'a', after: split('a/missing') }).versions.map(path), [
    'a/x',
    'a/y',
  ]);
});

test('objects are counted by resource and namespace', async (t) => {
  const { store } = await openStore(t);
  await Promise.all(['a/x', 'a/y', 'b/x'].map((each) => set(store, each, each)));
  await unset(store, 'a/y');
  assert.deepEqual([store.count('things'), store.count('things', 'a'), store.count('nothings')], [2, 1, 0]);
});

test('the pages of one past revision fit together while writes go on', async (t) => {
  const { store } = await openStore(t);
  const paths = Array.from({ length: 20 }, (_, i) => `a/${String(i).padStart(2, '0')}`);
  await Promise.all(paths.map((each) => set(store, each, 'old')));
  const at = store.revision;
  const found: string[] = [];
  let after: { namespace: string; name: string } | undefined;
  for (let page = 0; page < 4; page++) {
    const { versions, remaining, revision } = store.list({ resource: 'things', at, after, limit: 5 });
    assert.deepEqual([remaining, revision], [15 - page * 5, at]);
    found.push(...versions.map((version) => `${path(version)} ${version.revision}`));
    after = versions.at(-1);
    await Promise.all([
      set(store, `a/${String(page * 5 + 1).padStart(2, '0')}`, 'changed'),
      unset(store, `a/${String(page * 4 + 7).padStart(2, '0')}`),
      set(store, `a/09-new-${page}`, 'new'),
    ]);
  }
  assert.deepEqual(
    found,
    paths.map((each, i) => `${each} ${i + 1}`),
  );
});

test('a revision of the future can not be listed', async (t) => {
  const { store } = await openStore(t);
  assert.throws(() => store.list({ resource: 'things', at: 1 }), /the store is at revision 0/);
});

test('revisions go on over a restart, even when everything was removed', async (t) => {
  const { store, directory } = await openStore(t);
  await set(store, 'default/web', 'a');
  await unset(store, 'default/web');
  await store.close();
  const { store: again } = await openStore(t, { directory });
  assert.equal(again.revision, 2);
  assert.equal(again.get('things', 'default', 'web'), undefined);
  assert.equal((await set(again, 'default/web', 'b')).revision, 3);
});

test('waiting for a revision ends when it is there, when time is up, or when the store closes', async (t) => {
  const { store } = await openStore(t);
  const soon = store.waitFor(1, 60_000);
  const never = store.waitFor(2, 60_000);
  await set(store, 'default/web', 'a');
  assert.equal(await soon, true);
  assert.equal(await store.waitFor(1, 0), true);
  assert.equal(await store.waitFor(2, 1), false);
  await store.close();
  assert.equal(await never, false);
});

test('closing finishes the writes that were accepted, and refuses later ones', async (t) => {
  const { store, directory } = await openStore(t);
  const accepted = [set(store, 'default/web', 'a'), set(store, 'default/db', 'b')];
  const closed = store.close();
  await assert.rejects(set(store, 'default/late', 'c'), /the store is closed/);
  await Promise.all([...accepted, closed]);
  const { store: again } = await openStore(t, { directory });
  assert.deepEqual(again.list({ resource: 'things' }).versions.map(path), ['default/db', 'default/web']);
});

test('the directory and its files are for their owner alone', async (t) => {
  const directory = join(await temporaryDirectory(t), 'made', 'deep');
  const { store } = await openStore(t, { directory });
  await set(store, 'default/web', 'a');
  assert.equal((await stat(directory)).mode & 0o777, 0o700);
  const modes = readdirSync(directory).map((name) => statSync(join(directory, name)).mode & 0o777);
  assert.deepEqual(modes, [0o600, 0o600]);
});
