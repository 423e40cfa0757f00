import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { cut } from '../../../../runtime/websocket/frames.fixture.ts';
import { controlFrame, dataFrame } from './frame.ts';
import { FIN, type Frame, FrameReader, SpdyError } from './frame-reader.ts';

describe('frames of SPDY', () => {
  const bytes = (maxLength: number) => fc.uint8Array({ maxLength }).map((array) => Buffer.from(array));
  const flags = fc.constantFrom(0, FIN);
  const frame = fc.oneof(
    fc.record({ type: fc.nat(0xffff), flags, body: bytes(200) }),
    fc.record({ stream: fc.nat(0x7fff_ffff), flags, body: bytes(300) }),
  );

  test('are the same however they arrive', () => {
    fc.assert(
      fc.property(fc.array(frame), fc.array(fc.nat(5000)), (frames, cuts) => {
        const sent = frames.map((each) =>
          'type' in each
            ? controlFrame(each.type, each.body, each.flags)
            : Buffer.concat(dataFrame(each.stream, each.body, each.flags)),
        );
        assert.deepEqual(
          read(cut(Buffer.concat(sent), cuts)),
          frames.map((each) =>
            'type' in each
              ? { kind: 'control', ...each }
              : { kind: 'data', stream: each.stream, bytes: each.body, fin: each.flags === FIN },
          ),
        );
      }),
    );
  });

  test('data is handed on before its frame is whole', () => {
    const sent = Buffer.concat(dataFrame(1, Buffer.alloc(1_000_000)));
    const [first, ...more] = [...new FrameReader().read(sent.subarray(0, 5_000))];
    assert.deepEqual([first?.kind === 'data' && first.bytes.length, more], [4_992, []]);
  });

  test('another version, and control frames of any length, are refused', () => {
    assert.throws(() => read([Buffer.of(0x80, 2, 0, 1, 0, 0, 0, 0)]), SpdyError);
    assert.throws(() => read([Buffer.of(0x80, 3, 0, 1, 0, 0xff, 0xff, 0xff)]), SpdyError);
  });
});

/** The frames, with the data of each put together. */
function read(chunks: readonly Buffer[]): Frame[] {
  const reader = new FrameReader();
  const frames: Frame[] = [];
  let left = 0;
  let parts: Buffer[] = [];
  const sizes = dataSizes(Buffer.concat(chunks));
  for (const chunk of chunks) {
    for (const frame of reader.read(chunk)) {
      if (frame.kind === 'control') {
        frames.push(frame);
        continue;
      }
      if (parts.length === 0) left = sizes.shift() ?? 0;
      parts.push(frame.bytes);
      left -= frame.bytes.length;
      if (left > 0) continue;
      frames.push({ ...frame, bytes: Buffer.concat(parts) });
      parts = [];
    }
  }
  return frames;
}

/** How long each data frame is. */
function dataSizes(bytes: Buffer): number[] {
  const sizes: number[] = [];
  for (let at = 0; at + 8 <= bytes.length; at += 8 + bytes.readUIntBE(at + 5, 3)) {
    if ((bytes[at] ?? 0) < 0x80) sizes.push(bytes.readUIntBE(at + 5, 3));
  }
  return sizes;
}
