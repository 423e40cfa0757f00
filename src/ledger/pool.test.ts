import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Address } from '../api/address.ts';
import type { AddressRange } from '../api/prefix.ts';
import { FreeSpace } from './free-space.ts';
import { Pool } from './pool.ts';

const BASE = 0x0a00_0000n;
const at = (offset: number): Address => Address.of(4, BASE + BigInt(offset));
const range = (first: number, last: number): AddressRange => ({ first: at(first), last: at(last) });
const ranges = (longest: number) =>
  fc.array(
    fc.tuple(fc.nat(700), fc.nat(longest)).map(([first, length]) => range(first, first + length)),
    { maxLength: 6 },
  );

/** The documented way: look at each address of each range, in order. */
function byWalking(pool: { ranges: AddressRange[]; excluded: AddressRange[] }, taken: Set<bigint>): bigint | undefined {
  for (const { first, last } of pool.ranges) {
    for (let value = first.value; value <= last.value; value += 1n) {
      const excluded = pool.excluded.some((hole) => value >= hole.first.value && value <= hole.last.value);
      if ((value & 255n) !== 0n && !excluded && !taken.has(value)) return value;
    }
  }
  return undefined;
}

test('the next address is the one that walking the ranges finds, however addresses come and go', () => {
  const steps = fc.array(fc.oneof(fc.constant('take' as const), fc.nat(), fc.record({ fixed: fc.nat(800) })), {
    maxLength: 120,
  });
  fc.assert(
    fc.property(ranges(300), ranges(3), steps, (listed, excluded, actions) => {
      const pool = new Pool({ family: 4, ranges: listed, excluded });
      const space = new FreeSpace(4);
      const taken = new Set<bigint>();
      for (const action of actions) {
        if (action === 'take') {
          const address = pool.lowestFree(space);
          assert.equal(address?.value, byWalking({ ranges: listed, excluded }, taken));
          if (address === undefined) continue;
          space.take(address);
          taken.add(address.value);
        } else if (typeof action === 'object') {
          space.take(at(action.fixed));
          taken.add(at(action.fixed).value);
        } else if (taken.size > 0) {
          const value = [...taken][action % taken.size] ?? 0n;
          taken.delete(value);
          space.giveBack(Address.of(4, value));
          pool.becameFree(Address.of(4, value));
        }
      }
    }),
    { numRuns: 300 },
  );
});

test('a pool knows which addresses are its own', () => {
  fc.assert(
    fc.property(ranges(300), ranges(30), fc.nat(1100), (listed, excluded, offset) => {
      const lies = (all: AddressRange[]) =>
        all.some(({ first, last }) => first.value <= BASE + BigInt(offset) && last.value >= BASE + BigInt(offset));
      assert.equal(
        new Pool({ family: 4, ranges: listed, excluded }).contains(at(offset)),
        lies(listed) && !lies(excluded),
      );
    }),
  );
});

test('tens of thousands of overlapping ranges and exclusions are made a pool in no time', () => {
  const listed = Array.from({ length: 30_000 }, (_, i) => range(i, i + 40_000));
  const excluded = Array.from({ length: 20_000 }, (_, i) => range(3 * i, 3 * i));
  const started = performance.now();
  const pool = new Pool({ family: 4, ranges: listed, excluded });
  assert.equal(pool.lowestFree(new FreeSpace(4))?.value, BASE + 1n);
  assert.ok(performance.now() - started < 5000);
});

test('exclusions in front of a freed address do not slow down who takes it again', () => {
  const excluded = Array.from({ length: 20_000 }, (_, i) => range(2 * i, 2 * i));
  const pool = new Pool({ family: 4, ranges: [range(0, 60_000)], excluded });
  const space = new FreeSpace(4);
  for (let i = 0; i < 25_000; i += 1) {
    const address = pool.lowestFree(space);
    if (address !== undefined) space.take(address);
  }
  const started = performance.now();
  for (let i = 0; i < 10_000; i += 1) {
    const freed = at(i % 2 === 0 ? 1 : 40_001);
    space.giveBack(freed);
    pool.becameFree(freed);
    const address = pool.lowestFree(space);
    assert.equal(address?.value, freed.value);
    space.take(freed);
  }
  assert.ok(performance.now() - started < 2000);
});

test('a pool counts what it gives without looking at each address', () => {
  fc.assert(
    fc.property(ranges(900), ranges(3), (listed, excluded) => {
      const pool = new Pool({ family: 4, ranges: listed, excluded });
      const all = Array.from({ length: 1700 }, (_, offset) => at(offset));
      const given = all.filter((address) => pool.gives(address));
      assert.equal(pool.capacity, BigInt(given.length));
      const space = new FreeSpace(4);
      for (const address of given) space.take(address);
      assert.equal(pool.lowestFree(space), undefined);
    }),
    { numRuns: 50 },
  );
});

test('a pool of more addresses than numbers can count is counted all the same', () => {
  const first = Address.parse('fd00::');
  const last = Address.parse('fd00::ffff:ffff:ffff:ffff');
  assert.ok(first && last);
  const pool = new Pool({ family: 6, ranges: [{ first, last }], excluded: [] });
  assert.equal(pool.capacity, 2n ** 64n - 2n ** 48n);
});
