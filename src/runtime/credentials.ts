import { readFile } from 'node:fs/promises';
import type { Clock } from './clock.ts';
import type { Connection } from './kubeconfig.ts';

const KEEP_MS = 60_000;

/** The bearer token of a connection. One from a file is read again every minute, and when the server refused it. */
export class Credentials {
  readonly #connection: Connection;
  readonly #clock: Clock;
  #read: { token: string; at: number } | undefined;

  constructor(connection: Connection, clock: Clock) {
    this.#connection = connection;
    this.#clock = clock;
  }

  async token(): Promise<string | undefined> {
    const { token, tokenFile } = this.#connection;
    if (tokenFile === undefined) return token;
    if (this.#read === undefined || this.#clock.uptime() - this.#read.at >= KEEP_MS) await this.#reread(tokenFile);
    return this.#read?.token;
  }

  /** Whether there is a newer token than the one that was refused. */
  async renewed(refused: string | undefined): Promise<boolean> {
    const { tokenFile } = this.#connection;
    if (tokenFile === undefined) return false;
    await this.#reread(tokenFile);
    return this.#read?.token !== refused;
  }

  async #reread(file: string): Promise<void> {
    try {
      this.#read = { token: (await readFile(file, 'utf8')).trim(), at: this.#clock.uptime() };
    } catch (error) {
      // While the file is being replaced the token at hand is still the best there is.
      if (this.#read === undefined) throw error;
    }
  }
}
