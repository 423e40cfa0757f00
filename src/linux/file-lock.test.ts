import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, it } from 'node:test';
import { lockFile } from './file-lock.ts';

describe('the lock on a file', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'netloom-lock-'));
  after(() => rmSync(folder, { recursive: true }));

  it('is had by one, who says which process has it', () => {
    const file = path.join(folder, 'lock');
    const lock = lockFile(file);
    assert.ok('release' in lock);
    assert.deepEqual(lockFile(file), { heldBy: process.pid });
    lock.release();
    const next = lockFile(file);
    assert.ok('release' in next);
    next.release();
  });
});
