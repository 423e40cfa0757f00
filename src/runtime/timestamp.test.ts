import assert from 'node:assert/strict';
import { test } from 'node:test';
import { microTimestamp, renewedTimestamp, timestamp } from './timestamp.ts';

test('a renewed time is now, and always another one than before', () => {
  const now = Date.UTC(2026, 0, 1, 0, 0, 1, 500);
  assert.equal(renewedTimestamp(now, undefined), '2026-01-01T00:00:01.500000Z');
  assert.equal(renewedTimestamp(now, timestamp(now)), '2026-01-01T00:00:01.500000Z');
  assert.equal(renewedTimestamp(now, microTimestamp(now)), '2026-01-01T00:00:01.500001Z');
  assert.equal(renewedTimestamp(now, '2026-01-01T00:00:01.500999Z'), '2026-01-01T00:00:01.501000Z');
  assert.equal(
    renewedTimestamp(now, '2026-01-01T00:00:07Z'),
    '2026-01-01T00:00:07.000001Z',
    'by a clock that is ahead',
  );
});
