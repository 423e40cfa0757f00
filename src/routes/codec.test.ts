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

/** What a metalbond of 2026 put on the wire. */
const captured = {
  hello: '01 0004 01 08051001',
  keepalive: '01 0000 02',
  add: '01 0020 05 1064 1a08 1204 0a000001 1820 2212 0a10 fd000000000000000000000000000001',
};

describe('frames as metalbond writes them', () => {
  test('HELLO of a server with an interval of 5 seconds', () => {
    assert.equal(
      hex(helloFrame({ keepaliveSeconds: 5, isServer: true, readsAnySplit: false })),
      hex(bytes(captured.hello)),
    );
    const read = decodeHello(bytes(captured.hello), 4, 8);
    assert.deepEqual(read, { keepaliveSeconds: 5, isServer: true, readsAnySplit: false });
  });

  test('KEEPALIVE', () => assert.equal(hex(keepaliveFrame()), hex(bytes(captured.keepalive))));

  test('SUBSCRIBE and UNSUBSCRIBE', () => {
    assert.equal(hex(subscriptionFrame(true, 100)), '010002030864');
    assert.equal(hex(subscriptionFrame(false, 100)), '010002040864');
    assert.equal(hex(subscriptionFrame(true, 0)), '01000003', 'a 0 is not written');
  });

  test('UPDATE that adds 10.0.0.1/32 via fd00::1 in VNI 100', () => {
    const route = Route.parse('100#10.0.0.1/32#fd00::1');
    assert.equal(hex(update(true, route)), hex(bytes(captured.add)));
    assert.equal(decode(bytes(captured.add).subarray(4)), `add ${route}`);
  });

  test('UPDATE that removes an IPv6 route from VNI 0', () => {
    const route = Route.parse('0#2001:db8::/32#fd00::1');
    assert.equal(
      hex(update(false, route)),
      `01002e050801${'1a16 0801 1210 20010db8000000000000000000000000 1820'.replaceAll(' ', '')}22120a10fd000000000000000000000000000001`,
    );
  });

  test('UPDATE with a NAT next hop carries its ports, above 32767 too', () => {
    const route = Route.parse('200#45.86.6.1/32#2001:db8::1#NAT#32768#65535');
    assert.match(hex(update(true, route)), /18012080800228ffff03$/);
    assert.equal(decode(update(true, route).subarray(4)), `add ${route}`);
  });
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
