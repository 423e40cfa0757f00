import assert from 'node:assert/strict';
import { isIPv6 } from 'node:net';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { formatAddress, parseAddress } from './address.ts';
import { Route } from './route.ts';

const roundTrip = (text: string): string => {
  const words = new Uint32Array(4);
  const family = parseAddress(text, words);
  return family === undefined ? 'no address' : formatAddress(words, 0, family);
};

describe('addresses', () => {
  const cases: [string, string][] = [
    ['10.0.0.1', '10.0.0.1'],
    ['255.255.255.255', '255.255.255.255'],
    ['2001:DB8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['::', '::'],
    ['::1', '::1'],
    ['1::', '1::'],
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ['::ffff:10.0.0.1', '::ffff:10.0.0.1'],
    ['64:ff9b::192.0.2.33', '64:ff9b::c000:221'],
    ['fe80::1%eth0', 'no address'],
    ['10.0.0.256', 'no address'],
    ['10.0.0.1/32', 'no address'],
    ['', 'no address'],
  ];
  for (const [text, canonical] of cases)
    test(`${JSON.stringify(text)} is ${canonical}`, () => assert.equal(roundTrip(text), canonical));

  test('a canonical text stays as it is, and is an address', () => {
    fc.assert(
      fc.property(fc.uint32Array({ minLength: 4, maxLength: 4 }), (words) => {
        const text = formatAddress(new Uint32Array(words), 0, 6);
        assert.ok(isIPv6(text), text);
        assert.equal(roundTrip(text), text);
      }),
    );
  });
});

describe('routes as people write them', () => {
  for (const text of [
    '100#10.0.0.1/32#2001:db8::1',
    '0#0.0.0.0/0#192.0.2.1',
    '16777215#2001:db8::/32#fe80::1#LB',
    '5#10.0.0.5/24#2001:db8::1#NAT#1024#65535',
    '5#10.0.0.0/24#2001:db8::1@7#LB',
  ]) {
    test(text, () => assert.equal(String(Route.parse(text)), text));
  }

  test('the type may be written out, in any case', () => {
    assert.equal(String(Route.parse('1#10.0.0.0/8#::1#std')), '1#10.0.0.0/8#::1');
    assert.equal(String(Route.parse('1#10.0.0.0/8#::1#loadbalancer')), '1#10.0.0.0/8#::1#LB');
  });

  const wrong: [string, RegExp][] = [
    ['100#10.0.0.1/32', /has 2 parts; right is VNI#PREFIX#NEXTHOP/],
    ['100#10.0.0.1/32#::1#NAT#1', /has 5 parts/],
    ['x#10.0.0.1/32#::1', /VNI must be a whole number from 0 to 16777215/],
    ['16777216#10.0.0.1/32#::1', /VNI must be/],
    ['1e3#10.0.0.1/32#::1', /VNI must be/],
    ['100#10.0.0.1#::1', /prefix "10.0.0.1" is not one/],
    ['100#10.0.0.1/33#::1', /prefix "10.0.0.1\/33" is not one/],
    ['100#2001:db8::/129#::1', /is not one/],
    ['100#10.0.0.1/32#host', /next hop "host" is not an IP address/],
    ['100#10.0.0.1/32#::1#XX', /next hop type "XX" is unknown; right is STD, LB or NAT/],
    ['100#10.0.0.1/32#::1#NAT', /needs its range of ports/],
    ['100#10.0.0.1/32#::1#NAT#1#65536', /NAT ports must be whole numbers from 0 to 65535/],
    ['100#10.0.0.1/32#::1#NAT#2#1', /the first not above the last/],
    ['100#10.0.0.1/32#::1#LB#1#2', /only a next hop of type NAT has ports/],
  ];
  for (const [text, message] of wrong)
    test(`${text} is refused`, () => assert.throws(() => Route.parse(text), { name: 'RangeError', message }));
});
