import { Inlet } from '../sessions/inlet.ts';
import { controlFrame, dataFrame, RESET, TYPES, words } from './frame.ts';
import { FIN, type Frame, FrameReader, SpdyError } from './frame-reader.ts';
import { HeaderReader, HeaderWriter } from './headers.ts';
import { SpdyStream } from './stream.ts';

/** What carries SPDY: a connection of its own, or a WebSocket. */
export interface Carrier {
  chunks(): AsyncIterable<Buffer>;
  /** Resolves when more may be written. */
  write(...parts: readonly Buffer[]): Promise<void>;
  /** Says that all is said, and waits until the other side has heard it. */
  end(): Promise<void>;
  cut(): void;
  /** We cannot go on, for a reason that is ours. */
  fail(error: unknown): void;
  readonly gone: AbortSignal;
}

/**
 * The server's side of SPDY/3.1, as far as Kubernetes uses it: streams that clients open, ended one by one or reset.
 * Windows are not kept, because Go's library, which all clients use, neither grants nor heeds them: a stream that is
 * not taken holds back the whole connection.
 */
export class SpdyConnection {
  readonly #carrier: Carrier;
  readonly #opened: (stream: SpdyStream) => void;
  readonly #streams = new Map<number, SpdyStream>();
  readonly #readHeaders = new HeaderReader();
  readonly #writeHeaders = new HeaderWriter();
  #last = 0;
  #isGoingAway = false;

  /** @param opened is told of each stream; one that it throws for is refused */
  constructor(carrier: Carrier, opened: (stream: SpdyStream) => void) {
    this.#carrier = carrier;
    this.#opened = opened;
    carrier.gone.addEventListener('abort', () => this.#forgetAll(), { once: true });
    this.#receive().catch((error: unknown) => carrier.fail(error));
  }

  get gone(): AbortSignal {
    return this.#carrier.gone;
  }

  /** Says that no more streams are taken, lets what was said arrive, and closes. */
  async close(): Promise<void> {
    if (!this.#isGoingAway) {
      this.#isGoingAway = true;
      await this.#carrier.write(controlFrame(TYPES.goAway, words(this.#last, 0)));
    }
    for (const { input } of this.#streams.values()) input.shut();
    await this.#carrier.end();
  }

  async #receive(): Promise<void> {
    const frames = new FrameReader();
    try {
      for await (const chunk of this.#carrier.chunks()) {
        for (const frame of frames.read(chunk)) await this.#take(frame);
      }
    } catch (error) {
      if (!(error instanceof SpdyError)) throw error;
      this.#forgetAll();
      await this.#carrier.write(controlFrame(TYPES.goAway, words(this.#last, PROTOCOL_ERROR)));
      await this.#carrier.end();
    } finally {
      this.#carrier.cut();
      this.#readHeaders.close();
    }
  }

  async #take(frame: Frame): Promise<void> {
    if (frame.kind === 'data') return this.#takeData(frame);
    const { type, flags, body } = frame;
    switch (type) {
      case TYPES.synStream:
        return this.#open(numberIn(body, 0), flags, await this.#readHeaders.read(body.subarray(10)));
      case TYPES.headers:
        // They mean nothing here, but those that come later are read by what these have said.
        await this.#readHeaders.read(body.subarray(4));
        if ((flags & FIN) !== 0) this.#streams.get(numberIn(body, 0))?.noMore();
        return;
      case TYPES.rstStream:
        this.#streams.get(numberIn(body, 0))?.wasReset();
        return;
      case TYPES.ping:
        // Ours have even numbers, and there are none.
        if (numberIn(body, 0) % 2 === 1) await this.#carrier.write(controlFrame(TYPES.ping, body));
        return;
      case TYPES.goAway:
        this.#isGoingAway = true;
        return;
    }
  }

  async #takeData({ stream: id, bytes, fin }: Extract<Frame, { kind: 'data' }>): Promise<void> {
    const stream = this.#streams.get(id);
    if (stream === undefined) {
      // On its way when the stream ended, or never opened at all.
      if (id > this.#last || id % 2 === 0) throw new SpdyError(`data of stream ${id}, which was never opened`);
      return;
    }
    if (bytes.length > 0) await stream.input.push(bytes);
    if (fin) stream.noMore();
  }

  async #open(id: number, flags: number, headers: ReadonlyMap<string, string>): Promise<void> {
    if (this.#isGoingAway) return;
    if (id % 2 === 0 || id <= this.#last) throw new SpdyError(`stream ${id} cannot be opened after ${this.#last}`);
    this.#last = id;
    if (this.#streams.size >= MOST_STREAMS) return this.#reset(id, RESET.refusedStream);
    const stream = new SpdyStream(id, headers, {
      input: new Inlet(),
      write: (bytes, fin) => this.#carrier.write(...dataFrame(id, bytes, fin ? FIN : 0)),
      reset: () => this.#reset(id, RESET.cancel),
      over: () => this.#streams.delete(id),
    });
    this.#streams.set(id, stream);
    if ((flags & FIN) !== 0) stream.noMore();
    try {
      this.#opened(stream);
    } catch {
      this.#streams.delete(id);
      return this.#reset(id, RESET.refusedStream);
    }
    const reply = Buffer.concat([words(id), this.#writeHeaders.write(new Map())]);
    await this.#carrier.write(controlFrame(TYPES.synReply, reply));
  }

  #reset(id: number, why: number): Promise<void> {
    return this.#carrier.write(controlFrame(TYPES.rstStream, words(id, why)));
  }

  #forgetAll(): void {
    for (const stream of this.#streams.values()) stream.wasReset();
  }
}

function numberIn(body: Buffer, at: number): number {
  if (body.length < at + 4) throw new SpdyError('a control frame is too short');
  return body.readUInt32BE(at) & 0x7fff_ffff;
}

const PROTOCOL_ERROR = 1;
/** Two for each connection that is forwarded. */
const MOST_STREAMS = 2_000;
