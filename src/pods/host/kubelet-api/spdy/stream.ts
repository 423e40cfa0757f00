import type { Inlet } from '../sessions/inlet.ts';
import type { Headers } from './headers.ts';

interface Ways {
  readonly input: Inlet;
  write(bytes: Buffer, fin: boolean): Promise<void>;
  reset(): Promise<void>;
  /** Both sides are done with it. */
  over(): void;
}

/** One of the streams that share a connection. */
export class SpdyStream {
  readonly id: number;
  readonly headers: Headers;
  readonly #ways: Ways;
  #hasEnded = false;
  #hasBeenEnded = false;

  constructor(id: number, headers: Headers, ways: Ways) {
    this.id = id;
    this.headers = headers;
    this.#ways = ways;
  }

  get input(): Inlet {
    return this.#ways.input;
  }

  /** Resolves when more may be written. */
  write(bytes: Buffer): Promise<void> {
    return this.#hasEnded ? Promise.resolve() : this.#ways.write(bytes, false);
  }

  /** Says that nothing more comes from here. */
  async end(): Promise<void> {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    await this.#ways.write(Buffer.alloc(0), true);
    this.#leaveIfOver();
  }

  /** Ends both ways at once. */
  async reset(): Promise<void> {
    if (this.#hasEnded && this.#hasBeenEnded) return;
    await this.#ways.reset();
    this.wasReset();
  }

  /** The client has said all. */
  noMore(): void {
    this.#hasBeenEnded = true;
    this.input.end();
    this.#leaveIfOver();
  }

  wasReset(): void {
    this.#hasEnded = true;
    this.#hasBeenEnded = true;
    this.input.shut();
    this.#ways.over();
  }

  #leaveIfOver(): void {
    if (this.#hasEnded && this.#hasBeenEnded) this.#ways.over();
  }
}
