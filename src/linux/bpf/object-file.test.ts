import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { needsRoot } from '../network.fixture.ts';
import { loadProgram } from './calls.ts';
import { LoadedObject } from './loaded-object.ts';
import { readObjectFile } from './object-file.ts';

const folder = fileURLToPath(new URL('../../../bpf', import.meta.url));
const names = readdirSync(folder)
  .filter((file) => file.endsWith('.bpf.c'))
  .map((file) => file.replace('.bpf.c', ''));
const objectOf = (name: string, from = folder): Buffer => readFileSync(path.join(from, `${name}.o`));
// Whether an object is stale is known without clang; only those who work on the sources have it.
const hasClang = spawnSync('clang', ['--version']).error === undefined;

for (const name of names) {
  test(`the object of ${name} is made of its source as it is now`, () => {
    const source = createHash('sha256')
      .update(readFileSync(path.join(folder, `${name}.bpf.c`)))
      .digest('hex');
    assert.ok(objectOf(name).includes(`${source}\0`), `bpf/${name}.o is stale; bpf/build makes it new`);
  });

  const again = (t: TestContext): void => {
    const fresh = mkdtempSync(path.join(tmpdir(), 'netloom-bpf-'));
    t.after(() => rmSync(fresh, { recursive: true }));
    execFileSync(path.join(folder, 'build'), [fresh]);
    const [ours, theirs] = [objectOf(name), objectOf(name, fresh)];
    // Another clang may write other instructions for the same source; what they are to others must be the same.
    const [a, b] = [readObjectFile(ours), readObjectFile(theirs)];
    assert.deepEqual(a.maps, b.maps);
    assert.deepEqual([...a.programs.keys()], [...b.programs.keys()]);
    if (ours.includes(compilerIn(theirs))) assert.deepEqual(a.programs, b.programs);
  };
  if (hasClang) test(`clang makes the same programs of ${name} again`, again);

  test(`the kernel accepts every program of ${name}`, needsRoot, () => {
    using object = LoadedObject.open(name);
    for (const program of readObjectFile(objectOf(name)).programs.keys()) assert.ok(object.program(program) > 2);
  });
}

test('what is no object of eBPF programs is refused', () => {
  assert.throws(() => readObjectFile(Buffer.from('#!/bin/sh\n')), /no object of eBPF programs/);
  const node = readFileSync(process.execPath).subarray(0, 4096);
  assert.throws(() => readObjectFile(node), /no object of eBPF programs/);
});

test('a program that the kernel refuses is refused with its reason', needsRoot, () => {
  const endWithoutAnswer = Buffer.from('9500000000000000', 'hex');
  assert.throws(() => loadProgram('mute', endWithoutAnswer, 'Apache-2.0'), /load the program mute: .*R0 !read_ok/);
});

/** As clang writes its version: `14.0.6 `. */
function compilerIn(object: Buffer): string {
  return /\0(\d+\.\d+\.\d+[^\0]*)\0/.exec(object.toString('latin1'))?.[1] ?? '';
}
