/** In a file, and so in a process, of its own: the disk fails under everything that the process does. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileName } from './directory.ts';
import { WriteFailed } from './errors.ts';
import { openStore, path, set, temporaryDirectory } from './fixture.ts';
import { Store } from './store.ts';

function limitFiles(bytes: number | 'unlimited'): void {
  execFileSync('prlimit', ['--pid', String(process.pid), `--fsize=${bytes}:`]);
}

test('a disk without room fails writes, keeps serving reads, and takes writes again when there is room', async (t) => {
  const { store, directory } = await openStore(t);
  await set(store, 'a/x', 'before');
  t.after(() => limitFiles('unlimited'));
  limitFiles(1000);
  // A part of it fits, and stays in the file until it is cut off.
  const large = set(store, 'a/y', 'y'.repeat(5000));
  const builtOnIt = set(store, 'a/y', 'small');
  for (const write of [large, builtOnIt]) {
    await assert.rejects(
      write,
      (error) => error instanceof WriteFailed && error.outcome === 'not stored' && /EFBIG/.test(error.message),
    );
  }
  assert.deepEqual(store.list({ resource: 'things' }).versions.map(path), ['a/x']);
  assert.equal((await set(store, 'a/z', 'small')).revision, 4);
  limitFiles('unlimited');
  assert.equal((await set(store, 'a/y', 'y'.repeat(5000))).revision, 5);
  await store.close();

  const { store: again, said } = await openStore(t, { directory });
  assert.deepEqual(said, []);
  assert.equal(again.revision, 5);
  assert.deepEqual(again.list({ resource: 'things' }).versions.map(path), ['a/x', 'a/y', 'a/z']);
});

test('a store whose disk fails says so, keeps serving reads, and lets go of the directory', async (t) => {
  const directory = await temporaryDirectory(t);
  const said: string[] = [];
  const store = await Store.open({ directory, holder: 'a test', log: (line) => said.push(line) });
  await set(store, 'a/x', 'before');
  loseFile(join(directory, fileName('log', 1)));
  await assert.rejects(
    set(store, 'a/y', 'lost'),
    (error) => error instanceof WriteFailed && error.outcome === 'unknown',
  );
  const { message } = await store.failed;
  assert.match(message, /^the store takes no more writes, because its disk failed \(EBADF/);
  assert.deepEqual(said, [message]);
  assert.deepEqual(store.list({ resource: 'things' }).versions.map(path), ['a/x']);
  await assert.rejects(store.close(), /EBADF/);
  const { store: again } = await openStore(t, { directory });
  assert.deepEqual(again.list({ resource: 'things' }).versions.map(path), ['a/x']);
});

/** Takes an open file away behind the back of whoever has it open: every use of it fails from now on. */
function loseFile(file: string): void {
  const own = '/proc/self/fd';
  const fd = readdirSync(own).find((each) => linkOf(join(own, each)) === file);
  assert.ok(fd !== undefined);
  closeSync(Number(fd));
}

function linkOf(link: string): string | undefined {
  try {
    return readlinkSync(link);
  } catch {
    return undefined; // The one that listed the directory is gone by now.
  }
}
