import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Address } from '../api/address.ts';
import { Cooling } from './cooling.ts';
import { Pool } from './pool.ts';
import type { Holding } from './space.ts';

const address = (low: number): Address => new Address(4, 0n, 0x0a00_0000 + low);
const poolOf = (first: number, last: number): Pool =>
  new Pool({ family: 4, ranges: [{ first: address(first), last: address(last) }], excluded: [] });
const cooling = (low: number, second: number): Holding => ({
  address: address(low),
  holder: { kind: 'IPSet', name: 'a', uid: 'a' },
  network: 'Storage',
  subnet: 'subnet1',
  since: '',
  coolsUntil: new Date(second * 1000).toISOString(),
});

test('the first of a pool is the one that a look at all of them would find', () => {
  const step = fc.record({ low: fc.nat(30), second: fc.nat(20), asks: fc.boolean(), ends: fc.boolean() });
  const property = fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
    const order = new Cooling();
    const pools = [poolOf(0, 10), poolOf(8, 20)];
    const known = new Map<number, Holding>();
    const firstIn = (pool: Pool): string | undefined =>
      [...known.values()].flatMap((one) => (pool.gives(one.address) ? (one.coolsUntil ?? []) : [])).sort()[0];
    for (const { low, second, asks, ends } of steps) {
      const before = known.get(low);
      if (before !== undefined) order.remove(before);
      known.delete(low);
      if (!ends) {
        known.set(low, cooling(low, second));
        order.add(known.get(low) ?? cooling(low, second));
      }
      if (asks)
        assert.deepEqual(
          pools.map((pool) => order.firstEnd(pool)),
          pools.map(firstIn),
        );
    }
  });
  fc.assert(property);
});
