import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { frame } from './frame.ts';
import { FrameReader, OPCODES, type Piece, WebSocketError } from './frame-reader.ts';
import { clientFrame, cut } from './frames.fixture.ts';

describe('frames of WebSocket clients', () => {
  const bytes = (maxLength: number) => fc.uint8Array({ maxLength }).map((array) => Buffer.from(array));
  const mask = fc.uint8Array({ minLength: 4, maxLength: 4 }).map((array) => Buffer.from(array));
  const message = fc.record({ text: fc.boolean(), parts: fc.array(bytes(300), { minLength: 1, maxLength: 4 }) });
  const ping = bytes(125);

  test('messages are the same however they are cut into frames, and frames into pieces, with pings between', () => {
    fc.assert(
      fc.property(fc.array(message), ping, mask, fc.array(fc.nat(5000)), (messages, pinged, key, cuts) => {
        const frames = messages.flatMap(({ text, parts }) =>
          parts.flatMap((payload, index) => [
            clientFrame({
              opcode: index > 0 ? OPCODES.continuation : text ? OPCODES.text : OPCODES.binary,
              final: index === parts.length - 1,
              mask: key,
              payload,
            }),
            clientFrame({ opcode: OPCODES.ping, payload: pinged, mask: key }),
          ]),
        );
        const { whole, pings } = read(cut(Buffer.concat(frames), cuts));
        assert.deepEqual(
          whole,
          messages.map(({ text, parts }) => ({ text, bytes: Buffer.concat(parts) })),
        );
        assert.deepEqual(pings, Array(frames.length / 2).fill(pinged));
      }),
    );
  });

  test('any bytes at all are read or refused', () => {
    fc.assert(
      fc.property(bytes(400), (garbage) => {
        try {
          read([garbage]);
        } catch (error) {
          assert.ok(error instanceof WebSocketError);
        }
      }),
    );
  });

  test('data is handed on before its frame is whole', () => {
    const frame = clientFrame({ opcode: OPCODES.binary, payload: Buffer.alloc(100_000, 'x') });
    const pieces = [...new FrameReader('client').read(frame.subarray(0, 50_000))];
    assert.deepEqual(
      pieces.map((piece) => piece.kind === 'data' && { length: piece.bytes.length, last: piece.last }),
      [{ length: 50_000 - 14, last: false }],
    );
  });

  test('frames of servers have no mask', () => {
    const [sent] = [...new FrameReader('server').read(Buffer.concat(frame(OPCODES.text, [Buffer.from('hello')])))];
    assert.equal(sent?.kind === 'data' && sent.bytes.toString(), 'hello');
    assert.throws(() => [...new FrameReader('server').read(clientFrame({ opcode: OPCODES.text }))], WebSocketError);
  });

  const refusals: [string, Buffer][] = [
    ['that are not masked', Buffer.of(0x82, 1, 65)],
    ['with reserved bits', Buffer.of(0xc2, 0x80, 0, 0, 0, 0)],
    ['of no known kind', clientFrame({ opcode: 3 })],
    ['that go on with nothing', clientFrame({ opcode: OPCODES.continuation })],
    [
      'that begin within a message',
      Buffer.concat([clientFrame({ opcode: OPCODES.text, final: false }), clientFrame({ opcode: OPCODES.binary })]),
    ],
    ['of control that are not whole', clientFrame({ opcode: OPCODES.ping, final: false })],
    ['of control that are too long', clientFrame({ opcode: OPCODES.ping, payload: Buffer.alloc(126) })],
    ['that close with half a code', clientFrame({ opcode: OPCODES.close, payload: Buffer.alloc(1) })],
    ['longer than any number', Buffer.of(0x82, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0)],
  ];
  for (const [what, frame] of refusals) {
    test(`frames ${what} are refused`, () => assert.throws(() => read([frame]), WebSocketError));
  }
});

function read(chunks: readonly Buffer[]): { whole: { text: boolean; bytes: Buffer }[]; pings: Buffer[] } {
  const reader = new FrameReader('client');
  const whole: { text: boolean; bytes: Buffer }[] = [];
  const pings: Buffer[] = [];
  let parts: Buffer[] = [];
  const take = (piece: Piece) => {
    if (piece.kind === 'ping') pings.push(piece.bytes);
    if (piece.kind !== 'data') return;
    assert.equal(piece.first, parts.length === 0);
    parts.push(piece.bytes);
    if (!piece.last) return;
    whole.push({ text: piece.text, bytes: Buffer.concat(parts) });
    parts = [];
  };
  for (const chunk of chunks) for (const piece of reader.read(chunk)) take(piece);
  return { whole, pings };
}
