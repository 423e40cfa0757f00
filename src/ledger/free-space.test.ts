import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Address } from '../api/address.ts';
import { FreeSpace } from './free-space.ts';

const address = (text: string): Address => {
  const parsed = Address.parse(text);
  assert.ok(parsed, text);
  return parsed;
};
const lowest = (space: FreeSpace, first: string, last: string): string | undefined =>
  space.lowest(address(first), address(last))?.toString();

test('the lowest free address comes first, and a hole is found again', () => {
  const space = new FreeSpace(4);
  for (const text of ['10.0.0.10', '10.0.0.11', '10.0.0.12']) {
    assert.equal(lowest(space, '10.0.0.10', '10.0.0.250'), text);
    space.take(address(text));
  }
  space.giveBack(address('10.0.0.11'));
  assert.equal(lowest(space, '10.0.0.10', '10.0.0.250'), '10.0.0.11');
  assert.ok(space.isFree(address('10.0.0.11')));
  assert.ok(!space.isFree(address('10.0.0.12')));
});

test('IPv4 addresses that end in 0 are never free', () => {
  const space = new FreeSpace(4);
  assert.equal(lowest(space, '10.0.0.0', '10.0.1.0'), '10.0.0.1');
  assert.equal(lowest(space, '10.0.1.0', '10.0.1.0'), undefined);
  space.giveBack(address('10.0.1.0'));
  assert.ok(!space.isFree(address('10.0.1.0')));
});

test('IPv6 addresses that end in 16 zero bits are never free, others that end in 0 are', () => {
  const space = new FreeSpace(6);
  assert.equal(lowest(space, 'fd00::', 'fd00::ffff'), 'fd00::1');
  assert.equal(lowest(space, 'fd00::1:0', 'fd00::2:0'), 'fd00::1:1');
  assert.equal(lowest(space, 'fd00::100', 'fd00::ffff'), 'fd00::100');
});

test('the first and the last address of each family can be taken', () => {
  const ipv4 = new FreeSpace(4);
  assert.equal(lowest(ipv4, '255.255.255.255', '255.255.255.255'), '255.255.255.255');
  ipv4.take(address('255.255.255.255'));
  assert.equal(lowest(ipv4, '255.255.255.255', '255.255.255.255'), undefined);
  const ipv6 = new FreeSpace(6);
  const last = 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff';
  assert.equal(lowest(ipv6, last, last), last);
  ipv6.take(address(last));
  assert.equal(lowest(ipv6, last, last), undefined);
});

test('a search goes on where 48 bits end', () => {
  const space = new FreeSpace(6);
  space.take(address('fd00::ffff:ffff:ffff'));
  assert.equal(lowest(space, 'fd00::ffff:ffff:ffff', 'fd00::2:0:0:0'), 'fd00::1:0:0:1');
  assert.equal(lowest(space, 'fd00::ffff:ffff:ffff', 'fd00::1:0:0:0'), undefined);
});
