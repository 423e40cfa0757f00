import { PassThrough, type Readable } from 'node:stream';

/** What a client says, handed to somebody who takes it at a pace of its own. */
export class Inlet {
  readonly #stream = new PassThrough({ readableHighWaterMark: 256 * 1024 });

  constructor() {
    this.#stream.on('error', () => {});
  }

  get stream(): Readable {
    return this.#stream;
  }

  /** Resolves when more is wanted. What nobody wants any more is dropped. */
  push(bytes: Buffer): Promise<void> {
    const stream = this.#stream;
    if (stream.destroyed || stream.writableEnded || stream.write(bytes)) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    const done = () => {
      stream.off('drain', done);
      stream.off('close', done);
      resolve();
    };
    stream.on('drain', done);
    stream.on('close', done);
    return promise;
  }

  end(): void {
    if (!this.#stream.destroyed) this.#stream.end();
  }

  /** Nobody takes any of it any more. */
  shut(): void {
    this.#stream.destroy();
  }
}
