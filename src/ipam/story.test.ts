import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Story } from './story.fixture.ts';

test('nothing is given twice, nothing moves and nothing is lost, whatever goes wrong', async () => {
  for (let seed = 1; seed <= 6; seed += 1) {
    await assert.doesNotReject(Story.tell({ seed, steps: 40 }), `seed ${seed}`);
  }
});
