import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { losersLast, shards } from './shards.ts';
import { spread } from './spread.ts';

const cut = (items: readonly string[], limit: number): string[][] =>
  shards(items, { placeOf: (item) => spread(item, 2 ** 32), sizeOf: (item) => item.length, limit });

describe('shards', () => {
  it('are one while that is small enough', () => {
    assert.deepEqual(cut(['b', 'a'], 10), [['b', 'a']]);
    assert.deepEqual(cut([], 10), [[]]);
  });

  it('have every item once, and keep their order', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string({ minLength: 1 })), fc.integer({ min: 5, max: 50 }), (items, limit) => {
        const parts = cut(items, limit);
        assert.deepEqual(parts.flat().sort(), [...items].sort());
        for (const part of parts)
          assert.deepEqual(
            part,
            items.filter((item) => part.includes(item)),
          );
      }),
    );
  });

  it('are below the limit, and one more item changes one of them', () => {
    const items = Array.from({ length: 10_000 }, (_, i) => `10.0.${i >> 8}.${i & 255} host-${i}.example.com`);
    const before = cut(items, 64 * 1024);
    for (const part of before) assert.ok(part.join('').length < 64 * 1024);
    const after = cut([...items, '10.9.9.9 one-more.example.com'], 64 * 1024);
    assert.equal(after.filter((part, i) => part.length !== before[i]?.length).length, 1);
  });

  it('are written so that no line is missing meanwhile, when there are more or fewer of them', () => {
    const items = Array.from({ length: 1_000 }, (_, i) => `host-${i}\n`);
    const text = (parts: string[][]): string[] => parts.map((part) => part.join(''));
    const [few, many] = [text(cut(items, 8 * 1024)), text(cut(items, 1024))];
    assert.ok(few.length < many.length);
    for (const [before, after] of [
      [few, many],
      [many, few],
    ] as const) {
      const written = [...before];
      for (const i of losersLast(before, after)) {
        written[i] = after[i] ?? '';
        const there = new Set(written.join('').split('\n'));
        assert.ok(items.every((item) => there.has(item.trim())));
      }
    }
  });
});
