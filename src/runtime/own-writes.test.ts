import assert from 'node:assert/strict';
import { it } from 'node:test';
import { OwnWrites } from './own-writes.ts';

it('a version that the pass wrote wakes nobody, whether it is heard of after the pass or during it', () => {
  const writes = new OwnWrites();
  writes.begin('a');
  assert.equal(writes.end('a', ['7']), false);
  assert.equal(writes.isOwn('a', '7'), true);
  writes.begin('a');
  assert.equal(writes.isOwn('a', '8'), true);
  assert.equal(writes.end('a', ['8']), false);
});

it('a version that others wrote wakes: at once, or when the pass is over', () => {
  const writes = new OwnWrites();
  assert.equal(writes.isOwn('a', '7'), false);
  writes.begin('a');
  writes.isOwn('a', '8');
  assert.equal(writes.end('a', []), true);
  writes.begin('a');
  writes.isOwn('a', '9');
  writes.isOwn('a', '10');
  assert.equal(writes.end('a', ['9']), true);
});

it('several writes of one pass are all its own, in whatever part they are heard of', () => {
  const writes = new OwnWrites();
  writes.begin('a');
  writes.isOwn('a', '7');
  assert.equal(writes.end('a', ['7', '8', '9']), false);
  assert.equal(writes.isOwn('a', '9'), true);
  assert.equal(writes.isOwn('a', '8'), false);
});

it('a version is taken for ours once, and the end of the object always wakes', () => {
  const writes = new OwnWrites();
  writes.begin('a');
  writes.end('a', ['7']);
  assert.equal(writes.isOwn('a', undefined), false);
  assert.equal(writes.isOwn('a', '7'), false);
  writes.begin('a');
  assert.equal(writes.isOwn('a', undefined), false);
  assert.equal(writes.end('a', []), false);
});
