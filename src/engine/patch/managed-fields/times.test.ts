import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../../api/json.ts';
import { apply, at, thing } from './thing.fixture.ts';
import { keepIdleTimes } from './times.ts';

const copy = (object: JsonObject): JsonObject => structuredClone(object);

describe('an object that differs in the times of its managers alone', () => {
  const live = apply(undefined, thing({ size: 1 }), { manager: 'a', now: at(0) });

  it('gets the old times back', () => {
    const later = apply(undefined, thing({ size: 1 }), { manager: 'a', now: at(5) });
    assert.deepEqual(keepIdleTimes(live, copy(later)), live);
  });

  it('keeps its own when anything else differs', () => {
    const bigger = apply(undefined, thing({ size: 2 }), { manager: 'a', now: at(5) });
    const renamed = apply(undefined, thing({ size: 1 }), { manager: 'b', now: at(5) });
    const shared = apply(live, thing({ size: 1 }), { manager: 'b', now: at(5) });
    for (const other of [bigger, renamed, shared, thing({ size: 1 })]) {
      assert.equal(keepIdleTimes(live, other), other);
    }
  });
});
