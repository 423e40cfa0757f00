/**
 * Writes until it is killed; run by crash.test.ts with a directory and a file for notes. Before a write goes to the
 * store it notes `begun revision name sum`, with the sum `-` for a removal; after it was acknowledged, `done revision`.
 * The notes are in the hands of the kernel before the next step, so they outlive a kill.
 */
import { openSync, writeSync } from 'node:fs';
import { argv } from 'node:process';
import { crc32 } from 'node:zlib';
import { Store } from './store.ts';

const [, , directory = '', notes = ''] = argv;
const file = openSync(notes, 'a');
const store = await Store.open({
  directory,
  holder: 'the crash test',
  log: console.error,
  // So small that kills hit the change of segments, snapshots and the removal of files too.
  limits: { logBytes: 40_000 },
});
console.log('open');
await Promise.all(Array.from({ length: 12 }, writer));

async function writer(): Promise<void> {
  for (;;) {
    const name = `object-${Math.floor(Math.random() * 30)}`;
    const newest = store.newest('things', 'a', name);
    const removes = newest !== undefined && Math.random() < 0.25;
    const text = 'x'.repeat(Math.random() < 0.05 ? 30_000 : Math.random() * 2000);
    const request = {
      resource: 'things',
      namespace: 'a',
      name,
      expected: newest?.revision ?? 0,
      encode: (revision: number) => {
        const bytes = Buffer.from(JSON.stringify({ revision, name, text }));
        writeSync(file, `begun ${revision} ${name} ${removes ? '-' : crc32(bytes)}\n`);
        return bytes;
      },
    };
    const { revision } = await (removes ? store.remove(request) : store.put(request));
    writeSync(file, `done ${revision}\n`);
  }
}
