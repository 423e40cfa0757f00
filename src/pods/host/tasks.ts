import { type BackoffBounds, backoff } from '../../runtime/backoff.ts';
import type { Cancel, System } from '../../runtime/clock.ts';

export interface TasksOptions {
  readonly system: System;
  /** A task has ended, or one that failed may be tried again. */
  readonly changed: () => void;
  readonly retry?: BackoffBounds;
}

const RETRY = { first: 500, max: 30_000 };

/** Work that takes a while, by name: asked for again and again, it is under way once, and put off after a failure. */
export class Tasks {
  readonly #system: System;
  readonly #changed: () => void;
  readonly #retry: BackoffBounds;
  readonly #entries = new Map<string, Entry>();
  #stopped = false;

  constructor({ system, changed, retry = RETRY }: TasksOptions) {
    this.#system = system;
    this.#changed = changed;
    this.#retry = retry;
  }

  isUnderWay(name: string): boolean {
    return this.#entries.get(name)?.running !== undefined;
  }

  /** @param work says by rejecting that it has failed */
  begin(name: string, work: () => Promise<void>): void {
    const entry = this.#entries.get(name) ?? { failures: 0, running: undefined, pause: undefined };
    if (this.#stopped || entry.running !== undefined || entry.pause !== undefined) return;
    this.#entries.set(name, entry);
    entry.running = this.#run(name, entry, work);
  }

  /** What it failed for may be different now: it need not wait. */
  hurry(name: string): void {
    const entry = this.#entries.get(name);
    if (entry?.pause === undefined) return;
    entry.pause();
    entry.pause = undefined;
    this.#changed();
  }

  /** Nothing new begins; resolves when what is under way has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const { pause } of this.#entries.values()) pause?.();
    await Promise.all([...this.#entries.values()].map(({ running }) => running));
  }

  async #run(name: string, entry: Entry, work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this.#entries.delete(name);
    } catch {
      entry.failures += 1;
      const delay = backoff(entry.failures, this.#retry, this.#system);
      if (!this.#stopped) entry.pause = this.#system.timer(delay, () => this.#goOn(entry));
    }
    entry.running = undefined;
    if (!this.#stopped) this.#changed();
  }

  #goOn(entry: Entry): void {
    entry.pause = undefined;
    this.#changed();
  }
}

interface Entry {
  /** In a row. */
  failures: number;
  running: Promise<void> | undefined;
  pause: Cancel | undefined;
}
