import type { Socket } from 'node:net';
import type { Clock } from '../../../runtime/clock.ts';

/**
 * What comes out of a pipe. Whoever writes into it waits when what it writes is not taken, as with any pipe: nothing piles
 * up here.
 */
export class Output {
  readonly #socket: Socket;
  /** Resolves when nothing more can come, and all that came has been taken. */
  readonly ended: Promise<void>;

  constructor(socket: Socket, take: (chunk: Buffer) => Promise<unknown> | undefined) {
    this.#socket = socket;
    this.ended = this.#pump(take);
  }

  /** When all writers must be gone. Somebody to whom the pipe was handed may still hold it, but is not waited for. */
  async endSoon(clock: Clock, ms: number): Promise<void> {
    const cancel = clock.timer(ms, () => this.#socket.destroy());
    await this.ended;
    cancel();
  }

  async #pump(take: (chunk: Buffer) => Promise<unknown> | undefined): Promise<void> {
    try {
      for await (const chunk of this.#socket) await take(chunk as Buffer);
    } catch {
      // A pipe that was given up, or a terminal that nobody holds any more.
    }
    this.#socket.destroy();
  }
}
