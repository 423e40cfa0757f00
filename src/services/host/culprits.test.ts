import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { findCulprits } from './culprits.ts';

describe('who spoils what all do together', () => {
  it('is found in few tries, and nobody else', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 200 }),
        fc.array(fc.nat(199), { maxLength: 3 }),
        async (count, bad) => {
          const all = Array.from({ length: count }, (_, i) => i);
          const spoilers = new Set(bad.filter((each) => each < count));
          let tries = 0;
          const found = await findCulprits(all, async (some) => {
            tries += 1;
            return !some.some((each) => spoilers.has(each));
          });
          assert.deepEqual(new Set(found), spoilers);
          assert.ok(tries <= 2 + 20 * spoilers.size, `${tries} tries`);
        },
      ),
    );
  });

  it('is nobody when nothing works at all', async () => {
    assert.deepEqual(await findCulprits([1, 2, 3], async () => false), []);
  });
});
