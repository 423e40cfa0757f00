import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { removeTree, removeTreeNow } from './remove-tree.ts';

/** Deeper than any path leads, with names that are no text. */
function abyss(t: TestContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'netloom-abyss-'));
  t.after(() => execFileSync('rm', ['-rf', '--', folder]));
  const dig =
    'chdir shift; for (1..200) { mkdir "d" x 60; chdir "d" x 60 or die } mkdir "\\xff\\xfe"; open my $f, ">", "-f"';
  execFileSync('perl', ['-e', dig, folder]);
  return folder;
}

for (const [how, remove] of [
  ['while others work', removeTree],
  ['at once', async (folder: string) => removeTreeNow(folder)],
] as const) {
  test(`a tree that is deeper than paths are long is removed ${how}`, async (t) => {
    const folder = abyss(t);
    await remove(folder);
    assert.equal(existsSync(folder), false);
    await remove(folder);
  });
}

test('what cannot be removed is said, and why', async () => {
  await assert.rejects(removeTree('/proc/self/fd'), /^Error: \/proc\/self\/fd cannot be removed: rm: /);
  assert.throws(() => removeTreeNow('/proc/self/fd'), /cannot be removed/);
});
