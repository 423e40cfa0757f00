import assert from 'node:assert/strict';
import { BlockList, isIP } from 'node:net';
import { test } from 'node:test';
import fc from 'fast-check';
import { Address, addressFault, compareAddresses, type Family, highest } from './address.ts';
import { Prefix, rangeText } from './prefix.ts';

const addresses = fc
  .constantFrom<Family>(4, 6)
  .chain((family) => fc.bigInt(0n, highest(family)).map((value) => Address.of(family, value)))
  .filter(({ family, value }) => family === 4 || value >> 32n !== 0xffffn);
const sparseIpv6 = fc
  .array(fc.constantFrom<bigint[]>(0n, 0n, 1n, 0xffffn, 0xabcn), { minLength: 8, maxLength: 8 })
  .map((groups) =>
    Address.of(
      6,
      groups.reduce((value, group) => (value << 16n) | group, 0n),
    ),
  )
  .filter(({ value }) => value >> 32n !== 0xffffn);

const parsed = (text: string): Address => {
  const address = Address.parse(text);
  assert.ok(address, text);
  return address;
};
const prefix = (text: string): Prefix => {
  const parsedPrefix = Prefix.parse(text);
  assert.ok(parsedPrefix, text);
  return parsedPrefix;
};

test('an address survives the way to text and back', () => {
  fc.assert(
    fc.property(fc.oneof(addresses, sparseIpv6), (address) => {
      const text = address.toString();
      assert.equal(isIP(text), address.family);
      assert.deepEqual(Address.parse(text), address);
    }),
  );
});

test('the text of an IPv6 address is what a URL makes of it, which is RFC 5952', () => {
  fc.assert(
    fc.property(sparseIpv6, (address) => {
      const long = address.value.toString(16).padStart(32, '0').match(/..../g)?.join(':');
      assert.equal(`[${address}]`, new URL(`http://[${long}]/`).hostname);
      assert.deepEqual(Address.parse(long?.toUpperCase() ?? ''), address);
    }),
  );
});

test('what is taken for an address is what Node takes for one, apart from zones and IPv4-mapped addresses', () => {
  const piece = fc.constantFrom(
    ':',
    '::',
    '.',
    '0',
    '00',
    '1',
    '01',
    '255',
    '256',
    'f',
    'ffff',
    '12345',
    'g',
    '%eth0',
    ' ',
    '-1',
    '1.2.3.4',
    '/',
    '',
  );
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 16 }).map((pieces) => pieces.join('')),
      (text) => {
        const address = Address.parse(text);
        if (address !== undefined) assert.equal(isIP(text), address.family, text);
        else if (isIP(text) !== 0) assert.match(addressFault(text), /zone|written as IPv6/, text);
      },
    ),
    { numRuns: 2000 },
  );
});

test('an IPv4-mapped IPv6 address is refused and its plain spelling named', () => {
  assert.equal(Address.parse('::ffff:10.0.0.1'), undefined);
  assert.equal(addressFault('::ffff:10.0.0.1'), 'is IPv4 written as IPv6: write it as 10.0.0.1');
});

test('octets with leading zeros are refused and the fault is named', () => {
  assert.equal(Address.parse('10.0.0.010'), undefined);
  assert.equal(addressFault('10.0.0.010'), 'is not an IP address: write its numbers without leading zeros');
});

test('text that is no address at all is simply called that', () => {
  for (const text of ['', 'router', '10.0.0', '10.0.0.1.', '1.2.3.4/24', ':', '1::2::3', '99999::']) {
    assert.equal(Address.parse(text), undefined, text);
    assert.equal(addressFault(text), 'is not an IP address', text);
  }
});

test('each address but the last of its family has a next one, and sorting agrees with that', () => {
  fc.assert(
    fc.property(addresses, (address) => {
      const next = address.next;
      if (next === undefined) return assert.equal(address.value, highest(address.family));
      assert.equal(next.value, address.value + 1n);
      assert.ok(compareAddresses(address, next) < 0);
    }),
  );
  assert.equal(parsed('255.255.255.255').next, undefined);
  assert.ok(compareAddresses(parsed('255.255.255.255'), parsed('::')) < 0);
});

test('a prefix contains what a BlockList of it contains', () => {
  const lengths = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(addresses, lengths, addresses, fc.bigInt(-300n, 300n), (member, part, other, step) => {
      const net = new Prefix(member, Math.round(part * (member.family === 4 ? 32 : 128)));
      const list = new BlockList();
      list.addSubnet(`${net.first}`, net.length, net.family === 4 ? 'ipv4' : 'ipv6');
      const near = net.last.value + step;
      const nearby = near >= 0n && near <= highest(net.family) ? [Address.of(net.family, near)] : [];
      for (const address of [member, net.first, net.last, ...nearby, ...(other.family === net.family ? [other] : [])]) {
        assert.equal(net.contains(address), list.check(`${address}`, address.family === 4 ? 'ipv4' : 'ipv6'));
      }
      assert.deepEqual(Prefix.parse(`${net}`), net);
    }),
  );
});

test('a prefix with host bits set is its network', () => {
  assert.equal(`${prefix('172.17.0.99/24')}`, '172.17.0.0/24');
  assert.equal(`${prefix('fd00::1:2/64')}`, 'fd00::/64');
});

test('malformed prefixes are not prefixes', () => {
  for (const text of [
    '10.0.0.0',
    '10.0.0.0/',
    '10.0.0.0/33',
    '10.0.0.0/08',
    '::/129',
    '10.0.0.0/24/1',
    '/24',
    '::/-1',
  ]) {
    assert.equal(Prefix.parse(text), undefined, text);
  }
});

test('prefixes overlap when one contains the other', () => {
  assert.ok(prefix('10.0.0.0/8').overlaps(prefix('10.9.0.0/16')));
  assert.ok(prefix('10.9.0.0/16').overlaps(prefix('10.0.0.0/8')));
  assert.ok(!prefix('10.0.0.0/16').overlaps(prefix('10.1.0.0/16')));
  assert.ok(!prefix('0.0.0.0/0').overlaps(prefix('::/0')));
});

test('a range of one address is written as that address', () => {
  assert.equal(rangeText({ first: parsed('10.0.0.1'), last: parsed('10.0.0.1') }), '10.0.0.1');
  assert.equal(rangeText({ first: parsed('10.0.0.1'), last: parsed('10.0.0.9') }), '10.0.0.1-10.0.0.9');
});
