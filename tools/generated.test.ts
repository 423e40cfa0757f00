import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { staleFiles, writeGenerated } from './generated.ts';
import { customResourceDefinitions } from './generated-crds.ts';

const letters = {
  folder: 'out/letters',
  files: () =>
    new Map([
      ['a', 'A'],
      ['b', 'B'],
    ]),
};

test('what is missing, different or too much is stale, and writing makes it right', (t) => {
  const base = mkdtempSync(path.join(tmpdir(), 'netloom-generated-'));
  t.after(() => rmSync(base, { recursive: true }));
  assert.deepEqual(staleFiles(letters, base), ['out/letters/a', 'out/letters/b']);

  mkdirSync(path.join(base, 'out/letters'), { recursive: true });
  for (const [name, content] of [
    ['a', 'A'],
    ['b', 'old'],
    ['c', 'C'],
  ] as const) {
    writeFileSync(path.join(base, 'out/letters', name), content);
  }
  assert.deepEqual(staleFiles(letters, base), ['out/letters/b', 'out/letters/c']);

  assert.deepEqual(writeGenerated(letters, base), ['out/letters/b', 'out/letters/c']);
  assert.deepEqual(readdirSync(path.join(base, 'out/letters')), ['a', 'b']);
  assert.equal(readFileSync(path.join(base, 'out/letters/b'), 'utf8'), 'B');
  assert.deepEqual(staleFiles(letters, base), []);
});

test('the manifest of every kind reads the same to a YAML 1.1 parser, as kubectl has one, and to ours', () => {
  const files = customResourceDefinitions.files();
  assert.ok(files.size > 0);
  for (const [name, yaml] of files) {
    const crd = parse(yaml);
    assert.equal(name, `${crd.spec.group}_${crd.spec.names.plural}.yaml`);
    assert.deepEqual(parse(yaml, { version: '1.1' }), crd);
  }
});
