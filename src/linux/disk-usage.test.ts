import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { diskUsage } from './disk-usage.ts';

test('folders take up what is in them, not what links in them lead to', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'netloom-usage-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const [odd, other] = [path.join(folder, 'a\nb\tc'), path.join(folder, 'other')];
  for (const each of [odd, other]) mkdirSync(path.join(each, 'below'), { recursive: true });
  writeFileSync(path.join(odd, 'below/file'), Buffer.alloc(1_000_000, 1));
  symlinkSync(odd, path.join(other, 'link'));
  symlinkSync('/usr', path.join(other, 'out'));
  const missing = path.join(folder, 'missing');
  const usage = await diskUsage([odd, missing, other]);
  assert.deepEqual([...usage.keys()], [odd, other]);
  assert.ok((usage.get(odd) ?? 0) >= 1_000_000, `${usage.get(odd)}`);
  assert.ok((usage.get(other) ?? 0) < 100_000, `${usage.get(other)}`);
  assert.equal((await diskUsage([])).size, 0);
  assert.deepEqual([...(await diskUsage([odd, other], 'inodes')).values()], [3, 4]);
});
