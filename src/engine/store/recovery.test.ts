import assert from 'node:assert/strict';
import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { fileName } from './directory.ts';
import { DamagedStore } from './errors.ts';
import { encoding, openStore, path, set, temporaryDirectory } from './fixture.ts';
import { bareEntry, type Entry, encodeHead, headSize } from './format.ts';
import type { Log } from './log.ts';
import { recover } from './recovery.ts';
import { writeSnapshot } from './snapshot.ts';
import { State } from './state.ts';

const limits = { historyEvents: 1000, historyBytes: 1_000_000 };

interface Recovered {
  readonly state: State;
  readonly log: Log;
  readonly said: string[];
}

/** As opening a store does, without the lock, which takes longer than all the rest. */
async function recoverIn(directory: string): Promise<Recovered> {
  const said: string[] = [];
  const state = new State(limits, (line) => said.push(line));
  return { state, log: await recover(directory, state, (line) => said.push(line)), said };
}

function entry(revision: number, name: string, value = 'of few words'): Entry {
  return { kind: 'put', resource: 'things', namespace: 'a', name, revision, bytes: encoding(value)(revision) };
}

async function append({ state, log }: Recovered, entries: readonly Entry[]): Promise<void> {
  await log.append(state.revision, entries);
  for (const { kind, ...version } of entries) if (kind === 'put') state.apply(kind, version);
}

/** Two blocks in one segment, then two in another; and where in the second the last block begins. */
async function twoSegments(
  t: TestContext,
): Promise<{ directory: string; first: string; second: string; lastBlock: number }> {
  const directory = await temporaryDirectory(t);
  const opened = await recoverIn(directory);
  await append(opened, [entry(1, 'one')]);
  await append(opened, [entry(2, 'two')]);
  await opened.log.rotate(2);
  await append(opened, [entry(3, 'three'), entry(4, 'four')]);
  const second = join(directory, fileName('log', 3));
  const lastBlock = (await readFile(second)).length;
  await append(opened, [entry(5, 'five'), entry(6, 'six'), entry(7, 'seven')]);
  await opened.log.close();
  return { directory, first: join(directory, fileName('log', 1)), second, lastBlock };
}

function names(state: State): string {
  return (state.find('things')?.all() ?? []).map((version) => version.name).join(' ');
}

async function damage(directory: string): Promise<DamagedStore> {
  const error = await recoverIn(directory).then(
    ({ log }) => log.close(),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof DamagedStore, `it should have been refused, and not with: ${error}`);
  return error;
}

test('a crash within the last write, at whatever byte, leaves all writes before it, and the store goes on', async (t) => {
  const { directory, second, lastBlock } = await twoSegments(t);
  const whole = await readFile(second);
  for (let length = lastBlock; length <= whole.length; length++) {
    await writeFile(second, whole.subarray(0, length));
    const opened = await recoverIn(directory);
    const complete = length === whole.length;
    assert.equal(names(opened.state), complete ? 'five four one seven six three two' : 'four one three two');
    assert.equal(opened.state.revision, complete ? 7 : 4);
    assert.equal(opened.said.length, complete || length === lastBlock ? 0 : 1);
    if (length % 20 === 0) {
      await append(opened, [entry(opened.state.revision + 1, 'after')]);
      const again = await recoverIn(directory);
      assert.deepEqual([names(again.state), again.said], ['after four one three two', []]);
      await again.log.close();
    }
    await opened.log.close();
  }
});

test('a power loss that keeps any sectors of the last write leaves all writes before it', async (t) => {
  const { directory, second, lastBlock } = await twoSegments(t);
  const whole = await readFile(second);
  const sector = 16;
  const count = Math.ceil((whole.length - lastBlock) / sector);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.boolean(), { minLength: count, maxLength: count }), async (kept) => {
      const torn = Buffer.from(whole);
      for (const [i, keep] of kept.entries()) {
        const at = lastBlock + i * sector;
        if (!keep) torn.fill(0, at, Math.min(at + sector, torn.length));
      }
      await writeFile(second, torn);
      const { state, log } = await recoverIn(directory);
      await log.close();
      assert.equal(state.revision, torn.equals(whole) ? 7 : 4);
    }),
    { numRuns: 60 },
  );
});

test('what is cut off is said', async (t) => {
  const { directory, second, lastBlock } = await twoSegments(t);
  await writeFile(second, (await readFile(second)).subarray(0, lastBlock + 50));
  const { log, said } = await recoverIn(directory);
  await log.close();
  assert.deepEqual(said, [
    `${second} ended in an unfinished write (the file ends within a block of 195 bytes): its last 50 bytes were cut off. Nobody was told that they were stored; the log goes on after revision 4.`,
  ]);
});

test('a changed bit in any block before the last is refused, wherever it is', async (t) => {
  const { directory, first, second, lastBlock } = await twoSegments(t);
  for (const [file, end] of [
    [first, (await readFile(first)).length],
    [second, lastBlock],
  ] as const) {
    const whole = await readFile(file);
    for (let at = 0; at < end; at += 3) {
      const changed = Buffer.from(whole);
      changed.writeUInt8(changed.readUInt8(at) ^ (1 << (at % 8)), at);
      await writeFile(file, changed);
      const error = await damage(directory);
      assert.equal(error.file, file);
      assert.ok(error.offset <= at && (error.offset === 0) === at < headSize);
    }
    await writeFile(file, whole);
  }
});

test('a refusal says where, what was found, and what can be done', async (t) => {
  const { directory, first, second } = await twoSegments(t);
  const whole = await readFile(first);
  await writeFile(first, whole.subarray(0, whole.length - 5));
  const { message, offset } = await damage(directory);
  const cut = `truncate -s ${offset} ${first} and move away ${second}.`;
  assert.equal(
    message,
    `${first} is damaged at byte ${offset}: the file ends within a block of 64 bytes, and the log goes on in another file. The store stays closed, so that nothing is lost. Restore the directory from a backup; or, to give up all that was stored after revision 1: ${cut}`,
  );
  await writeFile(first, whole.subarray(0, offset));
  await rm(second);
  const { state, log } = await recoverIn(directory);
  await log.close();
  assert.equal(names(state), 'one');
});

test('an object that contains the blocks of another log is not taken for blocks of this one', async (t) => {
  const other = await twoSegments(t);
  const directory = await temporaryDirectory(t);
  const opened = await recoverIn(directory);
  await append(opened, [entry(1, 'one')]);
  const bytes = await readFile(other.second);
  await append(opened, [{ ...entry(2, 'two'), bytes }, entry(3, 'three')]);
  await opened.log.close();
  const file = join(directory, fileName('log', 1));
  const whole = await readFile(file);
  await writeFile(file, whole.subarray(0, whole.length - 1));
  const { state, log } = await recoverIn(directory);
  await log.close();
  assert.equal(names(state), 'one');
});

test('a missing segment is refused', async (t) => {
  const { directory, first } = await twoSegments(t);
  await rm(first);
  const { message } = await damage(directory);
  assert.match(
    message,
    /log-0000000000000001 is damaged at byte 0: the log from revision 1 on is missing, .*: log-0000000000000003\./,
  );
});

test('revisions that do not rise by one are refused, unless the log says that they were given to failed writes', async (t) => {
  const directory = await temporaryDirectory(t);
  const opened = await recoverIn(directory);
  await append(opened, [entry(1, 'one')]);
  await append(opened, [bareEntry('skip', 4), entry(5, 'five')]);
  await opened.log.close();
  const again = await recoverIn(directory);
  assert.equal(again.state.revision, 5);
  await append(again, [entry(7, 'seven')]);
  await again.log.close();
  assert.match((await damage(directory)).message, /revision 7 comes after revision 5/);
});

test('a log of a newer format is refused', async (t) => {
  const directory = await temporaryDirectory(t);
  await (await recoverIn(directory)).log.close();
  const head = encodeHead({ kind: 'log', revision: 1, mark: Buffer.alloc(8) });
  await writeFile(join(directory, fileName('log', 1)), head);
  await (await recoverIn(directory)).log.close();
  head.writeUInt32BE(2, 8);
  head.writeUInt32BE(crc32(head.subarray(0, 28)), 28);
  await writeFile(join(directory, fileName('log', 1)), head);
  assert.match((await damage(directory)).message, /its format is 2, and this version of Netloom reads 1/);
});

/** A snapshot of revision 2, and the log from 3 on; the log before is still there. */
async function withSnapshot(
  t: TestContext,
): Promise<{ directory: string; first: string; second: string; snapshot: string }> {
  const { directory, first, second } = await twoSegments(t);
  const state = new State(limits, assert.fail);
  for (const { kind, ...version } of [entry(1, 'one'), entry(2, 'two')]) if (kind === 'put') state.apply(kind, version);
  state.collection('quiet', 1);
  const collections = state.freeze();
  await writeSnapshot({ directory, revision: 2, collections, signal: new AbortController().signal });
  return { directory, first, second, snapshot: join(directory, fileName('snapshot', 2)) };
}

test('a crash after a snapshot was finished and before the log behind it was removed leaves a store that opens', async (t) => {
  const { directory, first } = await withSnapshot(t);
  const { state, log } = await recoverIn(directory);
  await log.close();
  assert.equal(names(state), 'five four one seven six three two');
  assert.ok(!(await readdir(directory)).some((name) => join(directory, name) === first));
});

test('a crash while a snapshot or a segment was made leaves a store that opens, and nothing half made', async (t) => {
  const { directory, second } = await twoSegments(t);
  const halfMade = ['snapshot-0000000000000002.new', 'log-0000000000000008.new'];
  for (const name of halfMade) await writeFile(join(directory, name), (await readFile(second)).subarray(0, 100));
  await writeFile(join(directory, 'notes.txt'), 'not ours');
  const { state, log } = await recoverIn(directory);
  await log.close();
  assert.equal(state.revision, 7);
  assert.deepEqual((await readdir(directory)).sort(), ['log-0000000000000001', 'log-0000000000000003', 'notes.txt']);
});

test('what a snapshot knows of resources that did not change lets their watches go on', async (t) => {
  const { directory } = await withSnapshot(t);
  const { state, log } = await recoverIn(directory);
  await log.close();
  assert.deepEqual(state.find('quiet')?.eventsAfter(1), []);
  assert.equal(state.find('things')?.eventsAfter(2).length, 5);
  assert.throws(() => state.find('things')?.eventsAfter(1), /reaches back to revision 2, not to 1/);
});

test('a changed bit, or a missing end, of a snapshot is refused', async (t) => {
  const { directory, snapshot } = await withSnapshot(t);
  const whole = await readFile(snapshot);
  for (let at = 0; at < whole.length; at += 2) {
    const changed = Buffer.from(whole);
    changed.writeUInt8(changed.readUInt8(at) ^ (1 << (at % 8)), at);
    await writeFile(snapshot, changed);
    assert.equal((await damage(directory)).file, snapshot);
    await writeFile(snapshot, whole.subarray(0, at));
    assert.equal((await damage(directory)).file, snapshot);
  }
});

test('a snapshot without the log that goes on from it is refused', async (t) => {
  const { directory, second } = await withSnapshot(t);
  await rm(second);
  assert.match(
    (await damage(directory)).message,
    /the log from revision 3 on is missing, and of the log there is only: nothing/,
  );
});

test('a damaged store lets go of the directory, and opens again once it is repaired', async (t) => {
  const { store, directory } = await openStore(t);
  await set(store, 'a/x', '1');
  await set(store, 'a/y', '2');
  await store.close();
  const file = join(directory, fileName('log', 1));
  const whole = await readFile(file);
  await writeFile(file, Buffer.from(whole).fill(0, headSize, headSize + 10));
  await assert.rejects(openStore(t, { directory }), DamagedStore);
  await writeFile(file, whole);
  const { store: again } = await openStore(t, { directory });
  assert.deepEqual(again.list({ resource: 'things' }).versions.map(path), ['a/x', 'a/y']);
});

test('a copy of the files is a store of its own', async (t) => {
  const { directory } = await twoSegments(t);
  const copy = join(await temporaryDirectory(t), 'copy');
  await cp(directory, copy, { recursive: true });
  const { store } = await openStore(t, { directory: copy });
  await set(store, 'a/x', '1');
  assert.equal(store.revision, 8);
});
