import { chmodSync, mkdirSync, rmSync, statSync, watch } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import path from 'node:path';
import type { Clock } from '../../../runtime/clock.ts';
import { asError, type Log } from '../../../runtime/log.ts';

export interface KeptSocketOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly serve: (socket: Socket) => void;
}

/** A socket that is there as long as this process is: whoever removes it would cut off the containers from every agent. */
export class KeptSocket {
  readonly #file: string;
  readonly #options: KeptSocketOptions;
  #server: Server | undefined;
  #inode = 0n;
  #stopWatching = (): void => {};
  #isLooking = false;
  #closed = false;

  constructor(file: string, options: KeptSocketOptions) {
    this.#file = file;
    this.#options = options;
  }

  async open(): Promise<void> {
    const folder = path.dirname(this.#file);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    rmSync(this.#file, { force: true });
    this.#server = createServer({ allowHalfOpen: false }, this.#options.serve);
    await listening(this.#server, this.#file);
    chmodSync(this.#file, 0o600);
    this.#inode = inodeOf(this.#file) ?? 0n;
    const watcher = watch(folder, { persistent: false }, () => this.#lookSoon());
    watcher.on('error', () => this.#lookSoon());
    this.#stopWatching = () => watcher.close();
  }

  close(): void {
    this.#closed = true;
    this.#stopWatching();
    // This removes the file as well.
    this.#server?.close();
  }

  /** Whoever removes a folder removes what is in it first, and should come to the end of it. */
  #lookSoon(): void {
    if (this.#isLooking || this.#closed) return;
    this.#isLooking = true;
    this.#options.clock.timer(SOON, () => {
      this.#isLooking = false;
      if (!this.#closed && inodeOf(this.#file) !== this.#inode) void this.#openAgain();
    });
  }

  async #openAgain(): Promise<void> {
    const { log } = this.#options;
    this.#stopWatching();
    this.#server?.close();
    try {
      await this.open();
      log.warn('somebody has removed the socket of the supervisor: it is there again', { file: this.#file });
    } catch (error) {
      log.error(
        'the socket of the supervisor was removed and cannot be made again: containers go on, but no agent reaches them',
        { file: this.#file, error: asError(error) },
      );
      this.#lookSoon();
    }
  }
}

function listening(server: Server, file: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ path: file }, () => {
      server.off('error', reject);
      server.on('error', () => {});
      resolve();
    });
  });
}

const inodeOf = (file: string): bigint | undefined => statSync(file, { throwIfNoEntry: false, bigint: true })?.ino;

/** In milliseconds. */
const SOON = 200;
