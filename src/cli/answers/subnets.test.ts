import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Address } from '../../api/address.ts';
import type { NetConfigSubnet } from '../../api/network.openstack.org/netconfig.ts';
import { address, netConfig, subnet } from './answers.fixture.ts';
import { findSubnet, type Subnet } from './subnets.ts';

function only(definition: NetConfigSubnet): Subnet {
  const found = findSubnet(netConfig(definition), { network: 'internalapi', subnet: 'Subnet1' });
  assert.ok(found);
  return found;
}

const text = (low: number): string => `${Address.of(4, (10n << 24n) | BigInt(low))}`;

test('what is counted is what walking over all addresses would count', () => {
  const place = fc.integer({ min: 0, max: 1023 });
  const ranges = fc.array(
    fc.tuple(place, place).filter(([a, b]) => a !== b),
    { maxLength: 4 },
  );
  const property = fc.property(
    ranges,
    fc.record(
      { gateway: place, excluded: fc.array(place, { maxLength: 5 }), held: fc.array(place, { maxLength: 40 }) },
      { requiredKeys: [] },
    ),
    (ends, { gateway, excluded = [], held = [] }) => {
      const definition = only(
        subnet({
          cidr: '10.0.0.0/22',
          allocationRanges: ends.map(([a, b]) => ({ start: text(Math.min(a, b)), end: text(Math.max(a, b)) })),
          excludeAddresses: excluded.map(text),
          ...(gateway === undefined ? {} : { gateway: text(gateway) }),
        }),
      );
      const inRanges = [...Array(1024).keys()].filter((low) =>
        ends.some(([a, b]) => low >= Math.min(a, b) && low <= Math.max(a, b)),
      );
      const givable = inRanges.filter(
        (low) => low % 256 !== 0 && low !== 1023 && low !== gateway && !excluded.includes(low),
      );
      const free = givable.filter((low) => !held.includes(low));
      const { next, ...counts } = definition.capacity(held.map((low) => address(text(low))));
      assert.deepEqual(counts, {
        total: BigInt(givable.length),
        withheld: BigInt(inRanges.length - givable.length),
        held: givable.length - free.length,
        free: BigInt(free.length),
      });
      assert.equal(next === undefined, free.length === 0);
      if (next !== undefined) assert.ok(free.includes(next.low % 1024));
      for (const low of [0, 1, 255, 256, 1023, ...excluded]) {
        assert.equal(definition.pool.gives(address(text(low))), givable.includes(low), text(low));
      }
    },
  );
  fc.assert(property, { numRuns: 200 });
});

test('a /8 and a /64 are counted without walking over them', () => {
  const large = only(subnet({ cidr: '10.0.0.0/8', allocationRanges: [{ start: '10.0.0.0', end: '10.255.255.255' }] }));
  assert.equal(large.capacity([]).free, 2n ** 24n - 2n ** 16n - 1n);
  const larger = only(
    subnet({ cidr: 'fd00::/64', allocationRanges: [{ start: 'fd00::', end: 'fd00::ffff:ffff:ffff:ffff' }] }),
  );
  const started = performance.now();
  assert.equal(larger.capacity([address('fd00::1')]).free, 2n ** 64n - 2n ** 48n - 1n);
  assert.equal(`${larger.capacity([address('fd00::1')]).next}`, 'fd00::2');
  assert.ok(performance.now() - started < 1_000);
});

test('a subnet with faults is none', () => {
  assert.equal(
    findSubnet(netConfig(subnet({ gateway: 'router' })), { network: 'InternalApi', subnet: 'subnet1' }),
    undefined,
  );
});
