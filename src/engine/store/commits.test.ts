import assert from 'node:assert/strict';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Commits } from './commits.ts';
import { fileName } from './directory.ts';
import { WriteFailed } from './errors.ts';
import { encoding, temporaryDirectory } from './fixture.ts';
import { headSize } from './format.ts';
import { createSegment, Log, type LogFile } from './log.ts';
import { recover } from './recovery.ts';
import { State } from './state.ts';

const limits = { historyEvents: 1000, historyBytes: 1_000_000 };

/** Commits on a real file whose operations can be made to fail, as those of a disk do. */
async function commitsOn(t: TestContext, failing: { write?: Error; datasync?: Error; truncate?: Error }) {
  const directory = await temporaryDirectory(t);
  const { file: real, mark } = await createSegment(directory, 1);
  await real.close();
  const handle = await open(join(directory, fileName('log', 1)), 'r+');
  t.after(() => handle.close());
  const fail = (error: Error | undefined) => {
    if (error !== undefined) throw error;
  };
  const syncs = { count: 0 };
  const file: LogFile = {
    write: async (...args) => {
      const result = await handle.write(...args);
      fail(failing.write);
      return result;
    },
    datasync: async () => {
      syncs.count++;
      fail(failing.datasync);
      await handle.datasync();
    },
    truncate: async (length) => {
      fail(failing.truncate);
      await handle.truncate(length);
    },
    sync: () => handle.sync(),
    close: async () => undefined,
  };
  const state = new State(limits, assert.fail);
  const log = new Log({ directory, segment: { file, mark, end: headSize }, older: 0 });
  const failures: WriteFailed[] = [];
  const commits = new Commits({ state, log, settled: async () => undefined, failed: (error) => failures.push(error) });
  const write = (name: string, value = name) => {
    const key = { resource: 'things', namespace: 'a', name };
    return commits.write('put', { ...key, expected: commits.newest(key)?.revision ?? 0, encode: encoding(value) });
  };
  return { directory, state, write, failures, syncs };
}

function failsAs(outcome: WriteFailed['outcome'], message: RegExp): (error: unknown) => boolean {
  return (error) => error instanceof WriteFailed && error.outcome === outcome && message.test(error.message);
}

test('writes that are accepted while the disk is busy go to it together', async (t) => {
  const { state, write, syncs } = await commitsOn(t, {});
  const first = write('a');
  await new Promise((resolve) => setImmediate(resolve));
  await Promise.all([first, ...Array.from({ length: 50 }, (_, i) => write(`b${i}`))]);
  assert.equal(state.revision, 51);
  assert.equal(syncs.count, 2);
});

test('a batch is bounded in writes and in bytes, so that the first to wait is not held up by all the others', async (t) => {
  const { write, syncs } = await commitsOn(t, {});
  await Promise.all(Array.from({ length: 4097 }, (_, i) => write(`small-${i}`)));
  assert.equal(syncs.count, 2);
  await Promise.all(Array.from({ length: 3 }, (_, i) => write(`large-${i}`, 'x'.repeat(5 * 1024 * 1024))));
  assert.equal(syncs.count, 5);
});

test('after a failed sync no write is taken any more, readers keep what was durable, and the failure is told', async (t) => {
  const failing: { datasync?: Error } = {};
  const { state, write, failures } = await commitsOn(t, failing);
  await write('a');
  failing.datasync = new Error('EIO: i/o error, fdatasync');
  const told = failsAs('unknown', /takes no more writes, because its disk failed \(EIO: i\/o error, fdatasync\)/);
  const waiting = [write('b'), write('c')];
  for (const each of waiting) await assert.rejects(each, told);
  delete failing.datasync;
  await assert.rejects(write('d'), told);
  assert.equal(state.revision, 1);
  assert.equal(state.find('things')?.size, 1);
  assert.equal(failures.length, 1);
});

test('after a failed write that was cut off again writes go on, without its revisions and over a restart', async (t) => {
  const failing: { write?: Error } = {};
  const { directory, state, write, failures } = await commitsOn(t, failing);
  await write('a');
  failing.write = new Error('ENOSPC: no space left on device, write');
  const told = failsAs('not stored', /nothing was stored: ENOSPC: no space left/);
  const doomed = [write('a'), write('b')];
  for (const each of doomed) await assert.rejects(each, told);
  await assert.rejects(write('c'), told);
  delete failing.write;
  assert.equal((await write('b')).revision, 5);
  assert.equal((await write('a')).revision, 6);
  assert.deepEqual(failures, []);

  const again = new State(limits, assert.fail);
  await (await recover(directory, again, assert.fail)).close();
  assert.deepEqual(again.freeze(), state.freeze());
});

test('after a failed write that could not be cut off no write is taken any more', async (t) => {
  const { write, failures } = await commitsOn(t, {
    write: new Error('EIO: i/o error, write'),
    truncate: new Error('EIO: i/o error, ftruncate'),
  });
  const told = failsAs(
    'unknown',
    /because its disk failed \(EIO: i\/o error, write; then EIO: i\/o error, ftruncate\)/,
  );
  await assert.rejects(write('a'), told);
  await assert.rejects(write('b'), told);
  assert.equal(failures.length, 1);
});
