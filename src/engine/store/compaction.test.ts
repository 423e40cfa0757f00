import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileName } from './directory.ts';
import { openStore, set, unset } from './fixture.ts';

const filler = 'x'.repeat(1000);

test('a log that has grown too long is replaced by a snapshot, and nothing is lost', async (t) => {
  const { store, directory } = await openStore(t, { limits: { logBytes: 50_000 } });
  for (let round = 0; round < 40; round++) {
    await Promise.all(Array.from({ length: 10 }, (_, i) => set(store, `a/${i}`, `${round} ${filler}`)));
  }
  await unset(store, 'a/3');
  await store.close();
  const files = readdirSync(directory).filter((name) => name !== 'lock');
  assert.ok(files.some((name) => name.startsWith('snapshot-')));
  const size = files.reduce((sum, name) => sum + statSync(join(directory, name)).size, 0);
  assert.ok(size < 150_000, `${files} take ${size} bytes of 400 000 that were written`);

  const { store: again, said } = await openStore(t, { directory });
  assert.equal(again.revision, 401);
  assert.deepEqual(said, []);
  assert.deepEqual(
    again.list({ resource: 'things' }).versions.map(({ name, revision }) => `${name} ${revision}`),
    [0, 1, 2, 4, 5, 6, 7, 8, 9].map((i) => `${i} ${391 + i}`),
  );
});

test('writes go on while a snapshot is written', async (t) => {
  const { store, directory } = await openStore(t, { limits: { logBytes: 1 } });
  const large = 'x'.repeat(100_000);
  await Promise.all(Array.from({ length: 150 }, (_, i) => set(store, `a/${i}`, large)));
  let meanwhile = 0;
  while (!readdirSync(directory).some((name) => /^snapshot-\d+$/.test(name))) {
    await Promise.all(Array.from({ length: 10 }, (_, i) => set(store, `a/${i}`, large)));
    if (readdirSync(directory).some((name) => name.endsWith('.new'))) meanwhile++;
  }
  assert.ok(meanwhile > 0);
});

test('a snapshot that can not be written is told, and tried again when the log has grown as much again', async (t) => {
  const { store, directory, said } = await openStore(t, { limits: { logBytes: 20_000 } });
  // Where the new snapshot would be, whatever its revision, there is a directory in the way.
  const obstacles = Array.from({ length: 60 }, (_, i) => join(directory, `${fileName('snapshot', i)}.new`));
  for (const obstacle of obstacles) mkdirSync(obstacle);
  for (let i = 0; i < 30; i++) await set(store, 'a/x', filler);
  assert.equal(said.length, 1);
  assert.match(said[0] ?? '', /^no snapshot could be written to .*, so the log grows on: EISDIR/);
  for (const obstacle of obstacles) rmSync(obstacle, { recursive: true });
  for (let i = 0; i < 30; i++) await set(store, 'a/x', filler);
  await store.close();
  const segments = readdirSync(directory).filter((name) => name.startsWith('log-'));
  assert.equal(segments.length, 1);
  assert.ok(readdirSync(directory).some((name) => name.startsWith('snapshot-')));
  assert.equal((await openStore(t, { directory })).store.revision, 60);
});
