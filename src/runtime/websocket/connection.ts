import type { System } from '../clock.ts';
import { frame } from './frame.ts';
import { FrameReader, NO_CODE, OPCODES, type Piece, type Side, WebSocketError } from './frame-reader.ts';
import type { Wire } from './wire.ts';

export type Data = Extract<Piece, { kind: 'data' }>;

/** One side of a WebSocket. */
export class WebSocketConnection {
  readonly #wire: Wire;
  readonly #system: System;
  readonly #side: Side;
  #cancelBeat: () => void = () => {};
  #isTaken = true;
  #isClosing = false;

  constructor(wire: Wire, side: Side, system: System) {
    this.#wire = wire;
    this.#side = side;
    this.#system = system;
    wire.gone.addEventListener('abort', () => this.#cancelBeat());
    if (!wire.gone.aborted) this.#beat();
  }

  get gone(): AbortSignal {
    return this.#wire.gone;
  }

  cut(): void {
    this.#wire.cut();
  }

  readonly fail = (error: unknown): void => this.#wire.fail(error);

  /** The data of messages, as it comes and as fast as it is taken, until either side closes. */
  async *data(): AsyncGenerator<Data> {
    const frames = new FrameReader(this.#side === 'server' ? 'client' : 'server');
    let end: { readonly code: number; readonly reason: string } | undefined;
    try {
      for await (const chunk of this.#wire.chunks()) {
        for (const piece of frames.read(chunk)) {
          if (piece.kind === 'ping') await this.#send(OPCODES.pong, piece.bytes);
          if (piece.kind === 'close') end ??= { code: piece.code === NO_CODE ? 1000 : piece.code, reason: '' };
          if (piece.kind !== 'data' || this.#isClosing || end !== undefined) continue;
          this.#isTaken = false;
          yield piece;
          this.#isTaken = true;
        }
        if (end !== undefined) break;
      }
    } catch (error) {
      if (!(error instanceof WebSocketError)) throw error;
      end = { code: error.code, reason: error.message };
    }
    // Who says nothing before going is simply gone.
    if (end === undefined) this.#wire.cut();
    else await this.close(end.code, end.reason);
  }

  /** Sends a message; resolves when another may be sent. */
  send(kind: 'text' | 'binary', ...parts: readonly Buffer[]): Promise<void> {
    return this.#isClosing ? Promise.resolve() : this.#send(OPCODES[kind], ...parts);
  }

  /** Says that all is said, and waits until the other side has heard it. */
  async close(code = 1000, reason = ''): Promise<void> {
    if (!this.#isClosing) {
      this.#isClosing = true;
      this.#cancelBeat();
      const bytes = Buffer.alloc(2);
      bytes.writeUInt16BE(code);
      await this.#send(OPCODES.close, bytes, Buffer.from(reason).subarray(0, 123));
    }
    await this.#wire.end();
  }

  #send(opcode: number, ...parts: readonly Buffer[]): Promise<void> {
    const mask = this.#side === 'client' ? this.#mask() : undefined;
    return this.#wire.write(...frame(opcode, parts, mask));
  }

  /** Not to hide anything: so that nobody on the way takes what a client says for something else. */
  #mask(): Buffer {
    return Buffer.from([0, 1, 2, 3].map(() => Math.floor(this.#system.random() * 256)));
  }

  /**
   * Now and then something is written, by which somebody who is gone is found out. As long as somebody is held back, its
   * own pings are not read either, so it is told unasked that we are there.
   */
  #beat(): void {
    this.#cancelBeat = this.#system.timer(BEAT, () => {
      void this.#send(this.#isTaken ? OPCODES.ping : OPCODES.pong);
      this.#beat();
    });
  }
}

const BEAT = 10_000;
