import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { Words } from './address.ts';
import {
  decodeHello,
  decodeSubscription,
  helloFrame,
  keepaliveFrame,
  longestFrame,
  subscriptionFrame,
  UpdateDecoder,
  writeUpdate,
} from './codec.ts';
import { Route, routeWords } from './route.ts';

const bytes = (hex: string): Uint8Array => Buffer.from(hex.replaceAll(' ', ''), 'hex');
const hex = (data: Uint8Array): string => Buffer.from(data).toString('hex');

function update(add: boolean, route: Route): Uint8Array {
  const words: Words = new Uint32Array(routeWords);
  route.copyTo(words);
  const frame = new Uint8Array(longestFrame);
  return frame.subarray(0, writeUpdate(frame, 0, add, words, 0));
}

function decode(payload: Uint8Array | string): string {
  const data = typeof payload === 'string' ? bytes(payload) : payload;
  const decoder = new UpdateDecoder();
  const result = decoder.decode(data, 0, data.length);
  return result === 'add' || result === 'remove' ? `${result} ${new Route(decoder.words)}` : result;
}

/** What metalbond v0.5.0 puts on the wire. */
const captured = {
  hellos: [
    ['010002010805', { keepaliveSeconds: 5, isServer: false }],
    ['0100040108051001', { keepaliveSeconds: 5, isServer: true }],
  ],
  subscriptions: [
    ['0100030308c801', true, 200],
    ['01000003', true, 0],
    ['0100030408c801', false, 200],
  ],
  updates: [
    ['010020051064 1a0812040a0000011820 22120a10fd000000000000000000000000000001', 'add 100#10.0.0.1/32#fd00::1'],
    ['01001205 1a0812040a0000001808 22060a04c0000201', 'add 0#10.0.0.0/8#192.0.2.1'],
    ['01001405 0801 1a0812040a0000001808 22060a04c0000201', 'remove 0#10.0.0.0/8#192.0.2.1'],
    [
      '01003105 10c801 1a160801121020010db80001000000000000000000001840 22140a10fd0000000000000000000000000000021802',
      'add 200#2001:db8:1::/64#fd00::2#LB',
    ],
    [
      '01003305 0801 10c801 1a160801121020010db80001000000000000000000001840 22140a10fd0000000000000000000000000000021802',
      'remove 200#2001:db8:1::/64#fd00::2#LB',
    ],
    [
      '01002c05 10ffffff07 1a081204c00002011820 221b0a10fd000000000000000000000000000001180120800828c0b802',
      'add 16777215#192.0.2.1/32#fd00::1#NAT#1024#40000',
    ],
    ['01001e05 1005 1a06120400000000 22120a10fd000000000000000000000000000001', 'add 5#0.0.0.0/0#fd00::1'],
  ],
} as const;

describe('frames as metalbond writes them are read, and written the same', () => {
  for (const [frame, said] of captured.hellos) {
    test(`HELLO: ${JSON.stringify(said)}`, () => {
      const hello = { ...said, readsAnySplit: false };
      assert.deepEqual(decodeHello(bytes(frame), 4, frame.length / 2), hello);
      assert.equal(hex(helloFrame(hello)), frame);
    });
  }

  test('KEEPALIVE', () => assert.equal(hex(keepaliveFrame()), '01000002'));

  for (const [frame, subscribe, vni] of captured.subscriptions) {
    test(`${subscribe ? 'SUBSCRIBE' : 'UNSUBSCRIBE'} ${vni}`, () => {
      assert.equal(decodeSubscription(bytes(frame), 4, frame.length / 2), vni);
      assert.equal(hex(subscriptionFrame(subscribe, vni)), frame);
    });
  }

  for (const [frame, text] of captured.updates) {
    test(`UPDATE: ${text}`, () => {
      assert.equal(decode(bytes(frame).subarray(4)), text);
      const [action = '', route = ''] = text.split(' ');
      assert.equal(hex(update(action === 'add', Route.parse(route))), hex(bytes(frame)));
    });
  }
});

test('HELLO of Netloom says in addition, where metalbond does not look, that it reads any split', () => {
  const frame = helloFrame({ keepaliveSeconds: 5, isServer: true, readsAnySplit: true });
  assert.equal(hex(frame), '0100080108051001b8a60201');
  assert.equal(decodeHello(frame, 4, frame.length)?.readsAnySplit, true);
});

const address = fc.oneof(
  fc.ipV4(),
  fc.ipV6().filter((text) => !text.includes('%')),
);
const prefix = fc.oneof(
  fc.tuple(fc.ipV4(), fc.integer({ min: 0, max: 32 })),
  fc.tuple(fc.ipV6(), fc.integer({ min: 0, max: 128 })),
);
const ports = fc.tuple(fc.nat(65535), fc.nat(65535)).map(([x, y]) => ({ from: Math.min(x, y), to: Math.max(x, y) }));
const vni = fc.nat(0xff_ffff);
const nextHop = fc.oneof(
  fc.record({ address, vni, type: fc.constantFrom('standard' as const, 'loadbalancer' as const) }),
  fc.record({ address, vni, type: fc.constant('nat' as const), ports }),
);
const route = fc
  .record({ vni, prefix: prefix.map(([text, length]) => `${text}/${length}`), nextHop })
  .map((parts) => Route.of(parts));

test('every route can be written, read again, and is no longer than a frame may be', () => {
  fc.assert(
    fc.property(route, fc.boolean(), (any, add) => {
      const frame = update(add, any);
      assert.ok(frame.length <= longestFrame);
      assert.equal(decode(frame.subarray(4)), `${add ? 'add' : 'remove'} ${any}`);
      assert.equal(String(Route.parse(String(any))), String(any));
    }),
  );
});

describe('an UPDATE that is not whole', () => {
  const destination = '1a08 1204 0a000001 1820';
  const hop = '2212 0a10 fd000000000000000000000000000001';
  const cases: [string, string, string][] = [
    ['an empty one', '', 'no destination'],
    ['one without a next hop', `1064 ${destination}`, 'no next hop'],
    ['one without a destination', `1064 ${hop}`, 'no destination'],
    ['a next hop without an address', `${destination} 2200`, 'bad next hop'],
    ['a next hop with an address of 5 bytes', `${destination} 2207 0a05 0102030405`, 'bad next hop'],
    ['a prefix without an address', `1a02 1820 ${hop}`, 'bad prefix'],
    ['an IPv4 prefix with 33 bits', `1a08 1204 0a000001 1821 ${hop}`, 'bad prefix'],
    ['an IPv4 address that is called IPv6', `1a0a 0801 1204 0a000001 1820 ${hop}`, 'bad prefix'],
    ['an unknown action', `0802 ${destination} ${hop}`, 'unknown kind'],
    ['an unknown type of next hop', `${destination} 2214 0a10 fd000000000000000000000000000001 1803`, 'unknown kind'],
    ['a port above 65535', `${destination} 2218 0a10 fd000000000000000000000000000001 1801 20808004`, 'bad ports'],
    ['a field that ends too early', `${destination} 2212 0a10 fd00`, 'garbled'],
    ['a number without an end', 'ffffffffffffffffffffff', 'garbled'],
    ['field number 0', '0001', 'garbled'],
    ['a group that is not closed', `${destination} ${hop} 53`, 'garbled'],
    ['an end without a group', `${destination} ${hop} 54`, 'garbled'],
  ];
  for (const [name, payload, problem] of cases)
    test(`${name}: ${problem}`, () => assert.equal(decode(payload), problem));
});

describe('what is not known is passed over', () => {
  const known = '1064 1a08 1204 0a000001 1820 2212 0a10 fd000000000000000000000000000001';
  const text = 'add 100#10.0.0.1/32#fd00::1';
  const cases: [string, string][] = [
    ['a number', 'f80101'],
    ['eight bytes', 'f901 0102030405060708'],
    ['four bytes', 'fd01 01020304'],
    ['a text', 'fa01 03 616263'],
    ['a group in a group', '5b 5b 0801 5c 5c'],
    ['a known field in another encoding', '0d 01020304'],
  ];
  for (const [name, field] of cases) test(name, () => assert.equal(decode(`${field} ${known} ${field}`), text));

  test('fields in another order', () => {
    assert.equal(decode('2212 0a10 fd000000000000000000000000000001 1a08 1820 1204 0a000001 1064'), text);
  });

  test('a message that comes in two parts is one message', () => {
    assert.equal(decode('1064 1a06 1204 0a000001 1a02 1820 2212 0a10 fd000000000000000000000000000001'), text);
  });

  test('ports of a next hop that is not NAT', () => {
    assert.equal(decode('1064 1a08 1204 0a000001 1820 2216 0a10 fd000000000000000000000000000001 2001 2802'), text);
  });

  test('groups that are nested as deep as a frame allows', () => {
    assert.equal(decode(`${'5b'.repeat(30_000)}${'5c'.repeat(30_000)}${known}`), text);
  });
});

test('any bytes are read without an exception, as UPDATE, HELLO and SUBSCRIBE', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (data) => {
      decode(data);
      decodeHello(data, 0, data.length);
      decodeSubscription(data, 0, data.length);
    }),
    { numRuns: 3000 },
  );
});

test('a valid UPDATE with some bytes changed is read as something or refused', () => {
  const changes = fc.array(fc.tuple(fc.nat(80), fc.nat(255)), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(route, changes, (any, list) => {
      const payload = update(true, any).slice(4);
      for (const [place, value] of list) payload[place % payload.length] = value;
      const decoder = new UpdateDecoder();
      const result = decoder.decode(payload, 0, payload.length);
      if (result !== 'add' && result !== 'remove') return;
      const frame = new Uint8Array(longestFrame);
      const end = writeUpdate(frame, 0, result === 'add', decoder.words, 0);
      assert.equal(decode(frame.subarray(4, end)), `${result} ${new Route(decoder.words)}`);
    }),
    { numRuns: 2000 },
  );
});
