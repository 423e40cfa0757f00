import type { Duplex } from 'node:stream';
import type { System } from '../clock.ts';

/** A connection that speaks HTTP no more. What is written is held back as long as the other side does not take it. */
export class Wire {
  readonly #socket: Duplex;
  readonly #system: System;
  readonly #gone = new AbortController();

  readonly #fault: (error: unknown) => void;

  /** @param fault is told what went wrong for a reason that is ours */
  constructor(socket: Duplex, head: Buffer, system: System, fault: (error: unknown) => void) {
    this.#socket = socket;
    this.#system = system;
    this.#fault = fault;
    if (head.length > 0) socket.unshift(head);
    socket.on('error', () => {});
    socket.once('close', () => this.#gone.abort());
    if (socket.destroyed) this.#gone.abort();
  }

  /** Aborts when the other side is gone, or we are. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  /** What comes, as fast as it is taken. Ends when the other side says no more, or is gone. */
  async *chunks(): AsyncGenerator<Buffer> {
    try {
      yield* this.#socket.iterator({ destroyOnReturn: false });
    } catch {
      // It broke, which says no more than that it is gone.
    }
  }

  /** Resolves when more may be written. */
  write(...parts: readonly Buffer[]): Promise<void> {
    const socket = this.#socket;
    if (!socket.writable) return Promise.resolve();
    socket.cork();
    for (const part of parts) socket.write(part);
    socket.uncork();
    return socket.writableNeedDrain ? this.#drained() : Promise.resolve();
  }

  /**
   * Says no more, and waits for the other side to do the same. What it still says is thrown away, but taken: a connection
   * that is closed with something unread is reset, and what we said last may then be lost on its way.
   */
  async end(): Promise<void> {
    const socket = this.#socket;
    if (socket.destroyed) return;
    const cancel = this.#system.timer(LINGER, () => socket.destroy());
    const { promise, resolve } = Promise.withResolvers<void>();
    socket.once('close', resolve);
    socket.end();
    socket.resume();
    await promise;
    cancel();
  }

  cut(): void {
    this.#socket.destroy();
  }

  /** We cannot go on, for a reason that is ours. */
  readonly fail = (error: unknown): void => {
    this.#fault(error);
    this.cut();
  };

  #drained(): Promise<void> {
    const socket = this.#socket;
    const { promise, resolve } = Promise.withResolvers<void>();
    const done = () => {
      socket.off('drain', done);
      socket.off('close', done);
      resolve();
    };
    socket.on('drain', done);
    socket.on('close', done);
    return promise;
  }
}

/** For how long the other side may take to hear that we are done. */
const LINGER = 10_000;
