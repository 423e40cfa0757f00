/**
 * The frame of metalbond version 1: version, length of the payload (two bytes, big endian), type, payload.
 * TCP keeps no boundaries, so a frame may arrive in any number of pieces and a piece may hold any number of frames.
 */
export const protocolVersion = 1;
export const headerLength = 4;
const largestFrame = headerLength + 0xffff;

export const frameType = { hello: 1, keepalive: 2, subscribe: 3, unsubscribe: 4, update: 5 } as const;

export interface FrameHandler {
  /** The payload is `bytes[start..end)`, valid only during the call. */
  frame(type: number, bytes: Uint8Array, start: number, end: number): void;
  /** Whoever speaks another version cannot be understood any further: nothing is read after this call. */
  foreignVersion(version: number): void;
}

export class FrameReader {
  readonly #handler: FrameHandler;
  /** The beginning of a frame whose end has not arrived yet. Holds one frame at most. */
  #held = new Uint8Array(256);
  #heldLength = 0;
  #stopped = false;

  constructor(handler: FrameHandler) {
    this.#handler = handler;
  }

  /** Nothing more is handed over, not even what is left of the piece that is being read. */
  stop(): void {
    this.#stopped = true;
  }

  push(piece: Uint8Array): void {
    let position = this.#heldLength === 0 ? 0 : this.#completeHeld(piece);
    while (!this.#stopped && position < piece.length) {
      const left = piece.length - position;
      const length = left < headerLength ? headerLength : frameLength(piece, position);
      if (piece[position] !== protocolVersion) this.#refuse(piece[position] ?? 0);
      else if (left < length) this.#hold(piece, position, left);
      else this.#handler.frame(piece[position + 3] ?? 0, piece, position + headerLength, position + length);
      position += length;
    }
  }

  /** Adds to the held frame what it lacks; returns how much of the piece that took. */
  #completeHeld(piece: Uint8Array): number {
    let taken = this.#hold(piece, 0, Math.max(0, headerLength - this.#heldLength));
    if (this.#heldLength < headerLength) return taken;
    const length = frameLength(this.#held, 0);
    taken += this.#hold(piece, taken, length - this.#heldLength);
    if (this.#heldLength < length) return taken;
    const frame = this.#held;
    this.#heldLength = 0;
    if (frame.length > 4096) this.#held = new Uint8Array(256);
    this.#handler.frame(frame[3] ?? 0, frame, headerLength, length);
    return taken;
  }

  #hold(piece: Uint8Array, from: number, length: number): number {
    const taken = Math.min(length, piece.length - from);
    const needed = this.#heldLength + taken;
    if (needed > this.#held.length) {
      const larger = new Uint8Array(Math.min(largestFrame, 2 * needed));
      larger.set(this.#held.subarray(0, this.#heldLength));
      this.#held = larger;
    }
    this.#held.set(piece.subarray(from, from + taken), this.#heldLength);
    this.#heldLength = needed;
    return taken;
  }

  #refuse(version: number): void {
    this.#stopped = true;
    this.#handler.foreignVersion(version);
  }
}

const frameLength = (bytes: Uint8Array, start: number): number =>
  headerLength + (((bytes[start + 1] ?? 0) << 8) | (bytes[start + 2] ?? 0));

export function writeHeader(bytes: Uint8Array, start: number, type: number, payloadLength: number): void {
  bytes[start] = protocolVersion;
  bytes[start + 1] = payloadLength >>> 8;
  bytes[start + 2] = payloadLength & 0xff;
  bytes[start + 3] = type;
}
