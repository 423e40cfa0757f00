import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Address } from '../../api/address.ts';
import { Prefix } from '../../api/prefix.ts';
import { PodAddresses } from './pod-addresses.ts';

const range = Prefix.parse('10.244.7.0/28') as Prefix;

test('an address has one holder, is in the range, and is neither its first nor its last', () => {
  const action = fc.record({ uid: fc.integer({ min: 0, max: 30 }).map(String), take: fc.boolean() });
  fc.assert(
    fc.property(fc.array(action, { maxLength: 200 }), (actions) => {
      const addresses = new PodAddresses();
      const held = new Map<string, string>();
      for (const { uid, take } of actions) {
        if (take) {
          const address = addresses.take(uid, range);
          const before = held.get(uid);
          if (before !== undefined) assert.equal(address, before);
          else if (address === undefined) assert.equal(held.size, 14);
          else {
            assert.equal([...held.values()].includes(address), false);
            assert.ok(range.contains(Address.parse(address) as Address));
            assert.notEqual(address, '10.244.7.0');
            assert.notEqual(address, '10.244.7.15');
            held.set(uid, address);
          }
        } else {
          addresses.release(uid);
          held.delete(uid);
        }
      }
      for (const [uid, address] of held) assert.deepEqual(addresses.of(uid), [address]);
    }),
  );
});

test('one that is given back is the last to be given again', () => {
  const addresses = new PodAddresses();
  const first = addresses.take('a', range);
  addresses.release('a');
  const later = Array.from({ length: 13 }, (_, i) => {
    const address = addresses.take(`b${i}`, range);
    addresses.release(`b${i}`);
    return address;
  });
  assert.equal(later.includes(first), false);
  assert.equal(addresses.take('c', range), first);
});

test('what runs already keeps what it has, and new ones come after it', () => {
  const addresses = new PodAddresses();
  assert.equal(addresses.keep('a', '10.244.7.5'), true);
  assert.equal(addresses.keep('b', '10.244.7.5'), false);
  assert.equal(addresses.take('a', range), '10.244.7.5');
  assert.equal(addresses.take('c', range), '10.244.7.6');
});

test('a pod has one of each family, and gives both back', () => {
  const addresses = new PodAddresses();
  const other = Prefix.parse('fd00:7::/64') as Prefix;
  for (const uid of ['a', 'b']) for (const each of [range, other]) addresses.take(uid, each);
  assert.deepEqual(addresses.of('b'), ['10.244.7.2', 'fd00:7::2']);
  assert.equal(addresses.keep('b', 'fd00:7::9'), true);
  assert.deepEqual(addresses.of('b'), ['10.244.7.2', 'fd00:7::9']);
  assert.equal(addresses.keep('c', 'fd00:7::2'), true);
  addresses.release('b');
  assert.deepEqual(addresses.of('b'), []);
  assert.equal(addresses.keep('c', 'fd00:7::9'), true);
});

test('IPv6 ranges work alike, and their last address is as good as any', () => {
  const addresses = new PodAddresses();
  const small = Prefix.parse('fd00:7::/126') as Prefix;
  const given = ['a', 'b', 'c', 'd'].map((uid) => addresses.take(uid, small));
  assert.deepEqual(given, ['fd00:7::1', 'fd00:7::2', 'fd00:7::3', undefined]);
});
