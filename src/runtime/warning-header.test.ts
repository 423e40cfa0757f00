import assert from 'node:assert/strict';
import { it } from 'node:test';
import { warningTexts } from './warning-header.ts';

it('reads every text of one or several Warning headers', () => {
  const values = ['299 - "unknown field \\"spec.x\\""', '299 - "a, b", 299 agent "c" "Sat, 01 Jan 2026 00:00:00 GMT"'];
  assert.deepEqual(warningTexts(values), ['unknown field "spec.x"', 'a, b', 'c']);
});

it('is not held up by what is no warning', () => {
  assert.deepEqual(warningTexts(['nonsense', '299 - "open', '']), []);
  const began = performance.now();
  warningTexts([`299 - "${'\\'.repeat(200_000)}`, '299 x '.repeat(50_000)]);
  assert.ok(performance.now() - began < 1_000);
});
