import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { FrameReader } from './frames.ts';

/** Reads the pieces; each frame as `type:payload in hexadecimal`, a wrong version as `version n`. */
function read(...pieces: Uint8Array[]): string[] {
  const seen: string[] = [];
  const reader = new FrameReader({
    frame: (type, bytes, start, end) => seen.push(`${type}:${Buffer.from(bytes.subarray(start, end)).toString('hex')}`),
    foreignVersion: (version) => seen.push(`version ${version}`),
  });
  for (const piece of pieces) reader.push(piece);
  return seen;
}

const bytes = (hex: string): Uint8Array => Buffer.from(hex.replaceAll(' ', ''), 'hex');

const frame = (type: number, payload: Uint8Array): Uint8Array =>
  Buffer.concat([Buffer.from([1, payload.length >> 8, payload.length & 255, type]), payload]);

test('a frame is handed over with its type and payload', () => {
  assert.deepEqual(read(bytes('01 0002 03 0864')), ['3:0864']);
});

test('a payload may be empty', () => {
  assert.deepEqual(read(bytes('01 0000 02 01 0000 09')), ['2:', '9:']);
});

test('a payload may have 65535 bytes, in one piece or in many', () => {
  const long = frame(5, new Uint8Array(65535).fill(7));
  const expected = [`5:${'07'.repeat(65535)}`, '2:'];
  const stream = Buffer.concat([long, bytes('01 0000 02')]);
  assert.deepEqual(read(stream), expected);
  assert.deepEqual(
    read(
      ...(stream
        .toString('latin1')
        .match(/[\s\S]{1,1000}/g)
        ?.map((s) => Buffer.from(s, 'latin1')) ?? []),
    ),
    expected,
  );
});

test('frames arrive the same however the stream is split', () => {
  const frames = fc.array(fc.tuple(fc.nat(255), fc.uint8Array({ maxLength: 300 })), { maxLength: 20 });
  const cuts = fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 60 });
  fc.assert(
    fc.property(frames, cuts, (list, lengths) => {
      const stream = Buffer.concat(list.map(([type, payload]) => frame(type, payload)));
      const pieces: Uint8Array[] = [];
      for (let at = 0, i = 0; at < stream.length; i += 1) {
        const length = lengths[i % lengths.length] ?? 1;
        pieces.push(stream.subarray(at, at + length));
        at += length;
      }
      assert.deepEqual(read(...pieces), read(stream));
      assert.equal(read(stream).length, list.length);
    }),
    { numRuns: 500 },
  );
});

test('a stream that is split at every byte is read', () => {
  const stream = Buffer.concat([bytes('01 0004 01 0805 1001'), bytes('01 0000 02'), bytes('01 0002 03 0864')]);
  assert.deepEqual(read(...Array.from(stream, (byte) => Uint8Array.of(byte))), ['1:08051001', '2:', '3:0864']);
});

test('nothing is read after a byte that should have been the version', () => {
  assert.deepEqual(read(bytes('01 0000 02 02 0000 02'), bytes('01 0000 02')), ['2:', 'version 2']);
});

test('a reader that is stopped leaves the rest of the piece', () => {
  const seen: number[] = [];
  const reader: FrameReader = new FrameReader({
    frame: (type) => {
      seen.push(type);
      reader.stop();
    },
    foreignVersion: () => assert.fail('the version is right'),
  });
  reader.push(bytes('01 0000 02 01 0000 03 ff'));
  reader.push(bytes('01 0000 04'));
  assert.deepEqual(seen, [2]);
});
