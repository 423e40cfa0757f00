import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Address } from '../../api/address.ts';
import { addressBytes, attribute, nested, readAddress, readAttributes, readText, text, u32 } from './attributes.ts';
import { decode, encode, readAcknowledgement } from './message.ts';

const payload = fc.uint8Array({ maxLength: 40 });

test('attributes are read as they were written, whatever their lengths', () => {
  const attributes = fc.uniqueArray(fc.record({ type: fc.integer({ min: 1, max: 0x3fff }), value: payload }), {
    selector: ({ type }) => type,
    maxLength: 8,
  });
  fc.assert(
    fc.property(attributes, (written) => {
      const read = readAttributes(Buffer.concat(written.map(({ type, value }) => attribute(type, value))));
      assert.deepEqual(
        [...read].map(([type, value]) => ({ type, value: [...value] })),
        written.map(({ type, value }) => ({ type, value: [...value] })),
      );
    }),
  );
});

test('messages are read as they were written, one after the other', () => {
  const message = fc.record({ type: fc.nat(0xffff), flags: fc.nat(0xffff), body: payload });
  fc.assert(
    fc.property(fc.array(message, { maxLength: 6 }), (written) => {
      const bytes = Buffer.concat(written.map(({ type, flags, body }, i) => encode({ type, flags, body: [body] }, i)));
      assert.deepEqual(
        [...decode(bytes)].map(({ type, flags, sequence, body }) => ({ type, flags, sequence, body: [...body] })),
        written.map(({ type, flags, body }, sequence) => ({ type, flags, sequence, body: [...body] })),
      );
    }),
  );
});

test('bytes that are no messages are read without harm', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      for (const { body } of decode(Buffer.from(bytes))) readAttributes(body);
    }),
  );
});

test('addresses of both families keep their value', () => {
  for (const written of ['10.0.0.1', '0.0.0.0', 'fe80::1', '::']) {
    assert.equal(`${readAddress(addressBytes(Address.parse(written) as Address))}`, written);
  }
});

test('a refusal carries the number of the error and what the kernel says about it', () => {
  const request = Buffer.alloc(16);
  const said = attribute(1, text('Nexthop has invalid gateway'));
  const body = Buffer.concat([Buffer.from([0x9b, 0xff, 0xff, 0xff]), request, said]);
  const answer = readAcknowledgement({ type: 2, flags: 0x300, sequence: 1, body });
  assert.deepEqual(answer, { errno: 101, said: 'Nexthop has invalid gateway' });
});

test('what is nested is found inside', () => {
  const outer = readAttributes(nested(18, attribute(1, text('veth')), attribute(2, u32(7))));
  const inner = readAttributes(outer.get(18) ?? Buffer.alloc(0));
  assert.equal(readText(inner.get(1)), 'veth');
});
