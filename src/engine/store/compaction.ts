import { listFiles, removeFiles } from './directory.ts';
import { said, WriteFailed } from './errors.ts';
import type { Log } from './log.ts';
import { superseded } from './recovery.ts';
import { writeSnapshot } from './snapshot.ts';
import type { Frozen, State } from './state.ts';

export interface CompactionOptions {
  readonly directory: string;
  readonly state: State;
  readonly log: Log;
  /** The log may grow to this size, or to twice that of the objects, whichever is more. */
  readonly logBytes: number;
  readonly tell: (line: string) => void;
}

/** Replaces the log by a snapshot when it has grown too long, while writes go on in a new segment. */
export class Compaction {
  readonly #options: CompactionOptions;
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;
  /** After a failure the log must have grown by as much again. */
  #patience = 0;

  constructor(options: CompactionOptions) {
    this.#options = options;
  }

  /** To be called when no write is under way. Only the change of segments is waited for. */
  async startWhenDue(): Promise<void> {
    const { directory, state, log, logBytes, tell } = this.#options;
    const allowed = Math.max(logBytes, 2 * state.liveBytes);
    if (this.#running !== undefined || log.size <= this.#patience + allowed) return;
    const { revision } = state;
    try {
      await log.rotate(revision);
    } catch (error) {
      if (error instanceof WriteFailed) throw error;
      this.#patience = log.size;
      tell(`no new segment of the log could be begun in ${directory}: ${said(error)}`);
      return;
    }
    this.#running = this.#snapshot(revision, state.freeze()).finally(() => {
      this.#running = undefined;
    });
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #snapshot(revision: number, collections: readonly Frozen[]): Promise<void> {
    const { directory, log, tell } = this.#options;
    try {
      await writeSnapshot({ directory, revision, collections, signal: this.#stop.signal });
      await removeFiles(directory, superseded(await listFiles(directory), revision));
      log.forgetOlder();
      this.#patience = 0;
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      this.#patience = log.size;
      tell(`no snapshot could be written to ${directory}, so the log grows on: ${said(error)}`);
    }
  }
}
