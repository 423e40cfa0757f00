import { masked } from './frame.ts';

/** A part of what the other side sends: data as it comes, however it is cut into frames; control frames as a whole. */
export type Piece =
  | {
      readonly kind: 'data';
      readonly text: boolean;
      readonly first: boolean;
      readonly last: boolean;
      readonly bytes: Buffer;
    }
  | { readonly kind: 'ping' | 'pong'; readonly bytes: Buffer }
  | { readonly kind: 'close'; readonly code: number };

/** What the other side did against the protocol. `code`: how the connection is to be closed for it. */
export class WebSocketError extends Error {
  override readonly name = 'WebSocketError';
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * Reads frames (RFC 6455) from bytes as they arrive. Data is handed on at once and never gathered, so a
 * frame may be of any length and costs nothing but what has come of it.
 */
export class FrameReader {
  readonly #sender: Side;
  #head: Buffer = Buffer.alloc(0);
  #frame: Frame | undefined;
  /** The message that has begun and not ended. */
  #message: { readonly text: boolean } | undefined;

  constructor(sender: Side) {
    this.#sender = sender;
  }

  *read(bytes: Buffer): Generator<Piece> {
    let rest = bytes;
    for (;;) {
      if (this.#frame === undefined) {
        rest = this.#head.length === 0 ? rest : Buffer.concat([this.#head, rest]);
        const length = lengthOfHead(rest, this.#sender);
        if (length === undefined || rest.length < length) {
          this.#head = rest;
          return;
        }
        this.#head = Buffer.alloc(0);
        this.#frame = frameOf(rest.subarray(0, length));
        rest = rest.subarray(length);
      }
      const frame = this.#frame;
      if (rest.length === 0 && frame.left > 0) return;
      const payload = rest.subarray(0, frame.left);
      rest = rest.subarray(payload.length);
      const piece = this.#pieceOf(frame, payloadOf(payload, frame));
      if (frame.left === 0) this.#frame = undefined;
      if (piece !== undefined) yield piece;
    }
  }

  #pieceOf(frame: Frame, bytes: Buffer): Piece | undefined {
    if (frame.opcode >= CONTROL) {
      frame.gathered.push(bytes);
      return frame.left > 0 ? undefined : controlPiece(frame.opcode, Buffer.concat(frame.gathered));
    }
    if (frame.isNew) {
      const continues = frame.opcode === OPCODES.continuation;
      if (continues !== (this.#message !== undefined)) {
        throw new WebSocketError(
          1002,
          continues ? 'nothing has begun that could go on' : 'a message began within another',
        );
      }
    }
    const first = this.#message === undefined;
    this.#message ??= { text: frame.opcode === OPCODES.text };
    const { text } = this.#message;
    frame.isNew = false;
    const last = frame.isFinal && frame.left === 0;
    if (last) this.#message = undefined;
    return { kind: 'data', text, first, last, bytes };
  }
}

export type Side = 'client' | 'server';

export const OPCODES = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

interface Frame {
  readonly opcode: number;
  readonly isFinal: boolean;
  readonly mask: Buffer | undefined;
  /** Of the payload, what has not come yet. */
  left: number;
  /** How much of the payload has come, by which the mask is turned. */
  come: number;
  isNew: boolean;
  readonly gathered: Buffer[];
}

const CONTROL = 8;
const LONGEST_CONTROL = 125;

/** Undefined until enough is there to tell. */
function lengthOfHead([first, second]: Buffer, sender: Side): number | undefined {
  if (first === undefined || second === undefined) return undefined;
  const opcode = first & 0x0f;
  if ((first & 0x70) !== 0) throw new WebSocketError(1002, 'reserved bits are set, but no extension was agreed on');
  if (!Object.values<number>(OPCODES).includes(opcode)) throw new WebSocketError(1002, `there is no opcode ${opcode}`);
  const isMasked = second >= 0x80;
  if (isMasked !== (sender === 'client')) {
    throw new WebSocketError(1002, `a frame of a ${sender} must ${isMasked ? 'not ' : ''}be masked`);
  }
  const size = second & 0x7f;
  if (opcode >= CONTROL && (size > LONGEST_CONTROL || first < 0x80)) {
    throw new WebSocketError(1002, 'a control frame must be whole and of at most 125 bytes');
  }
  return 2 + (size === 126 ? 2 : size === 127 ? 8 : 0) + (isMasked ? 4 : 0);
}

function frameOf(head: Buffer): Frame {
  const [first = 0, second = 0] = head;
  const size = second & 0x7f;
  const left = size === 126 ? head.readUInt16BE(2) : size === 127 ? Number(head.readBigUInt64BE(2)) : size;
  if (!Number.isSafeInteger(left)) throw new WebSocketError(1009, 'a frame cannot be that long');
  const isFinal = first >= 0x80;
  const mask = second >= 0x80 ? head.subarray(-4) : undefined;
  return { opcode: first & 0x0f, isFinal, mask, left, come: 0, isNew: true, gathered: [] };
}

function payloadOf(bytes: Buffer, frame: Frame): Buffer {
  const payload = frame.mask === undefined ? bytes : masked(bytes, frame.mask, frame.come);
  frame.come += bytes.length;
  frame.left -= bytes.length;
  return payload;
}

function controlPiece(opcode: number, bytes: Buffer): Piece {
  if (opcode === OPCODES.ping) return { kind: 'ping', bytes };
  if (opcode === OPCODES.pong) return { kind: 'pong', bytes };
  if (bytes.length === 1) throw new WebSocketError(1002, 'a close frame has no code or a whole one');
  return { kind: 'close', code: bytes.length === 0 ? NO_CODE : bytes.readUInt16BE(0) };
}

/** Never sent: stands for a close frame that carries none. */
export const NO_CODE = 1005;
