import type { System } from '../../../../runtime/clock.ts';
import type { Wire } from '../wire.ts';
import { frameHead } from './frame.ts';
import { FrameReader, NO_CODE, OPCODES, type Piece, WebSocketError } from './frame-reader.ts';

export type Data = Extract<Piece, { kind: 'data' }>;

/** The server's side of a WebSocket. */
export class WebSocketConnection {
  readonly #wire: Wire;
  readonly #system: System;
  #cancelBeat: () => void = () => {};
  #isTaken = true;
  #isClosing = false;

  constructor(wire: Wire, system: System) {
    this.#wire = wire;
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
    const frames = new FrameReader();
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

  /** Says that all is said, and waits until the client has heard it. */
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
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    return this.#wire.write(frameHead(opcode, length), ...parts);
  }

  /**
   * Now and then something is written, by which a client that is gone is found out. As long as a client is held back, its
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
