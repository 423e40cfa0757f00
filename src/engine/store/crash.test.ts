import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { env, execPath } from 'node:process';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { crc32 } from 'node:zlib';
import { openStore, temporaryDirectory } from './fixture.ts';
import type { Store } from './store.ts';

const rounds = Number(env['NETLOOM_CRASH_ROUNDS'] ?? 20);

interface Begun {
  readonly name: string;
  /** Of the bytes; undefined for a removal. */
  readonly sum: number | undefined;
}

test(`a store whose process is killed ${rounds} times keeps exactly what it acknowledged`, async (t) => {
  const directory = join(await temporaryDirectory(t), 'store');
  const history: Begun[] = [];
  let acknowledged = 0;
  let cut = 0;
  for (let round = 0; round < rounds; round++) {
    const notes = `${directory}-notes-${round}`;
    await writeUntilKilled(t, directory, notes);
    const { begun, done } = parse(await readFile(notes, 'utf8'));

    const { store, said } = await openStore(t, { directory });
    cut += said.length;
    assert.ok(store.revision >= Math.max(history.length, ...done), 'every acknowledged write is there');
    for (const revision of begun.keys()) assert.ok(revision > history.length, `revision ${revision} was used before`);
    for (let revision = history.length + 1; revision <= store.revision; revision++) {
      const write = begun.get(revision);
      assert.ok(write !== undefined, `revision ${revision} was begun by nobody`);
      history.push(write);
    }
    assert.deepEqual(contentOf(store), expectedFrom(history));
    acknowledged += done.length;
    await store.close();
  }
  t.diagnostic(`${acknowledged} writes acknowledged, ${history.length} stored, ${cut} unfinished ones cut off`);
  assert.ok(acknowledged > rounds, 'the writers did write');
});

async function writeUntilKilled(t: TestContext, directory: string, notes: string): Promise<void> {
  const program = fileURLToPath(new URL('./crash-writer.ts', import.meta.url));
  const writer = spawn(execPath, [program, directory, notes], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => writer.kill('SIGKILL'));
  const exit = once(writer, 'exit');
  await Promise.race([once(writer.stdout, 'data'), exit]);
  await sleep(Math.random() * 150);
  assert.equal(writer.exitCode, null, 'the writer ended by itself');
  writer.kill('SIGKILL');
  await exit;
}

function parse(notes: string): { begun: Map<number, Begun>; done: number[] } {
  const begun = new Map<number, Begun>();
  const done: number[] = [];
  for (const line of notes.split('\n').slice(0, -1)) {
    const [what, revision, name = '', sum] = line.split(' ');
    if (what === 'done') done.push(Number(revision));
    else begun.set(Number(revision), { name, sum: sum === '-' ? undefined : Number(sum) });
  }
  return { begun, done };
}

function expectedFrom(history: readonly Begun[]): Map<string, string> {
  const expected = new Map<string, string>();
  for (const [index, { name, sum }] of history.entries()) {
    if (sum === undefined) expected.delete(name);
    else expected.set(name, `revision ${index + 1} sum ${sum}`);
  }
  return expected;
}

function contentOf(store: Store): Map<string, string> {
  const { versions } = store.list({ resource: 'things' });
  return new Map(versions.map(({ name, revision, bytes }) => [name, `revision ${revision} sum ${crc32(bytes)}`]));
}
