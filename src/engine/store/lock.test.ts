import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { env } from 'node:process';
import { test } from 'node:test';
import { DirectoryInUse } from './errors.ts';
import { openStore, temporaryDirectory } from './fixture.ts';

test('a directory that is open is refused, and the refusal tells who has it', async (t) => {
  const { store, directory } = await openStore(t);
  const before = Date.now();
  await assert.rejects(openStore(t, { directory }), (error) => {
    assert.ok(error instanceof DirectoryInUse);
    assert.deepEqual([error.directory, error.pid, error.holder], [directory, process.pid, 'a test']);
    assert.ok(Math.abs(Date.parse(error.since ?? '') - before) < 60_000);
    const { pid, since } = error;
    assert.equal(
      error.message,
      `${directory} is in use by process ${pid} (a test) since ${since}: stop it, or choose another directory`,
    );
    return true;
  });
  await store.close();
  await openStore(t, { directory });
});

test('the lock goes with the process, even when it is killed', async (t) => {
  const directory = await temporaryDirectory(t);
  const program = `
    import { Store } from ${JSON.stringify(new URL('./store.ts', import.meta.url).href)};
    await Store.open({ directory: ${JSON.stringify(directory)}, holder: 'the other', log: console.error });
    console.log('open');
    setInterval(() => {}, 1000);`;
  const other = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => other.kill('SIGKILL'));
  await once(other.stdout, 'data');
  await assert.rejects(openStore(t, { directory }), (error) => {
    assert.ok(error instanceof DirectoryInUse);
    assert.deepEqual([error.pid, error.holder], [other.pid, 'the other']);
    return true;
  });
  other.kill('SIGKILL');
  await once(other, 'exit');
  await openStore(t, { directory });
});

test('a program that was started meanwhile does not keep the lock', async (t) => {
  const { store, directory } = await openStore(t);
  const child = spawn('sleep', ['60'], { stdio: 'ignore' });
  t.after(() => child.kill('SIGKILL'));
  await once(child, 'spawn');
  await store.close();
  await openStore(t, { directory });
});

test('without the program that locks, the error names the package to install', async (t) => {
  const { PATH } = env;
  t.after(() => {
    env['PATH'] = PATH;
  });
  env['PATH'] = '/nonexistent';
  await assert.rejects(openStore(t), /can not be locked without the program flock \(package util-linux\)/);
});
