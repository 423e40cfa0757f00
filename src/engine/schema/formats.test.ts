import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDuration, parseGoDuration } from './duration.ts';
import { formatCheck } from './formats.ts';
import { hostnameOf, parseRequestUri, portOf } from './request-uri.ts';

for (const [format, yes, no] of [
  [
    'date-time',
    ['2024-02-29T23:59:59Z', '2024-01-01t00:00:00.123+02:00'],
    ['2023-02-29T00:00:00Z', '2024-01-01', '2024-01-01T24:00:00Z'],
  ],
  ['date', ['2024-02-29', '0001-01-01'], ['2023-02-29', '24-1-1', '2024-13-01', '2024-01-01x']],
  ['duration', ['1h30m', '-1.5s', '0', '2 days', '3 hours 5 minutes', '.5s'], ['1', '', 'x', '1.s.', 'soon']],
  ['ipv4', ['10.0.0.1', '010.0.0.1', '::ffff:1.2.3.4'], ['10.0.0.256', '10.0.0', '::1', '1.2.3.4/8']],
  ['ipv6', ['::1', 'fe80::1', '::ffff:1.2.3.4'], ['fe80::1%eth0', '1.2.3.4', ':::']],
  ['cidr', ['10.0.0.0/8', '10.0.0.1/32', '2001:db8::/32'], ['10.0.0.0', '10.0.0.0/33', '::/129', '10.0.0.0/-1']],
  [
    'mac',
    ['00:11:22:aa:BB:cc', '00-11-22-aa-bb-cc', '0011.22aa.bbcc', '00:11:22:33:44:55:66:77'],
    ['00:11:22:33:44', '00:11-22:33:44:55', '001122aabbcc'],
  ],
  ['uuid', ['123e4567-e89b-12d3-a456-426614174000', '123E4567e89b12d3a456426614174000'], ['123e4567-e89b-12d3-a456']],
  ['uuid3', ['123e4567-e89b-32d3-a456-426614174000'], ['123e4567-e89b-42d3-a456-426614174000']],
  ['uuid4', ['123e4567-e89b-42d3-a456-426614174000'], ['123e4567-e89b-42d3-1456-426614174000']],
  ['uuid5', ['123e4567-e89b-52d3-b456-426614174000'], ['123e4567-e89b-42d3-a456-426614174000']],
  ['email', ['a@b.example', 'A B <a.b@c>', '"a b"@c', 'a@[10.0.0.1]'], ['a', '@b', 'a@', 'a b@c', 'a..b@c', '<a@b']],
  [
    'uri',
    ['https://a.example/b?c', '/b', 'mailto:a', 'http://[::1]:80/'],
    ['a', '', 'http://a b/', 'http://a:b/', '/%zz', ':/x'],
  ],
  [
    'hostname',
    ['a', 'a.example', '1-a.example', 'ab.éx'],
    ['a-.example', 'a..b', 'a.b1', '', 'a_b.example', `${'a'.repeat(64)}.example`],
  ],
  ['byte', ['YQ==', 'YWI=', 'YWJj'], ['', 'YQ', 'YQ=', '====', 'YQ==YQ==', 'Y-==']],
  ['isbn', ['0321751043', '978-0321751041', '080442957X'], ['0321751044', '978-0321751042']],
  ['creditcard', ['4111-1111-1111-1111', '378282246310005'], ['4111-1111-1111-1112', '1234']],
  ['ssn', ['123-45-6789', '123 45 6789'], ['123456789', '123-45-678']],
  ['hexcolor', ['#fff', '00FF7f'], ['#ffff', 'red']],
  ['rgbcolor', ['rgb(0, 255,9)'], ['rgb(0,256,9)', 'rgb(00,1,2)']],
  ['bsonobjectid', ['507f1f77bcf86cd799439011'], ['507f1f77bcf86cd79943901']],
  ['password', ['', 'x'], []],
] as const) {
  test(`the format ${format} is checked`, () => {
    const check = formatCheck(format);
    assert.ok(check);
    for (const text of yes) assert.equal(check(text), true, text);
    for (const text of no) assert.equal(check(text), false, text);
  });
}

test('other formats are only documentation', () => {
  for (const format of ['int32', 'int-or-string', 'quantity', '', '__proto__'])
    assert.equal(formatCheck(format), undefined);
});

test('no text makes a check fail or linger', () => {
  const long = [
    'a'.repeat(1e6),
    '-'.repeat(1e6),
    '1.'.repeat(5e5),
    `"${'\\"'.repeat(5e5)}`,
    ':'.repeat(1e6),
    '1 a'.repeat(3e5),
  ];
  const start = performance.now();
  for (const format of ['email', 'hostname', 'uri', 'mac', 'duration', 'byte', 'isbn', 'cidr', 'date-time']) {
    for (const text of long) assert.equal(typeof formatCheck(format)?.(text), 'boolean');
  }
  assert.ok(performance.now() - start < 3000);
});

test('durations are read as Go does', () => {
  for (const [text, nanos] of [
    ['1h30m', 5_400_000_000_000n],
    ['1.5ms', 1_500_000n],
    ['2µs', 2000n],
    ['-3s', -3_000_000_000n],
    ['1m0.000000001s', 60_000_000_001n],
    ['+0', 0n],
    ['9223372036s', 9_223_372_036_000_000_000n],
    ['9223372037s', undefined],
    ['1 day', undefined],
  ] as const) {
    assert.equal(parseGoDuration(text), nanos, text);
  }
  assert.equal(parseDuration('1 day 2 HOURS'), 93_600_000_000_000n);
});

test('a URI comes apart into what Go takes it for', () => {
  const uri = parseRequestUri('HTTPS://u:p@[::1]:8443/a%20b?c=d?e');
  assert.deepEqual(uri, { scheme: 'https', host: '[::1]:8443', path: '/a%20b', query: 'c=d?e' });
  assert.equal(uri && hostnameOf(uri), '::1');
  assert.equal(uri && portOf(uri), '8443');
});
