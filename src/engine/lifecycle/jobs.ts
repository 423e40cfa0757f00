import { ApiError } from '../../api/status.ts';
import type { Log } from '../../runtime/log.ts';

/**
 * Work by key: a job asked for again while it runs is done once more afterwards, one that fails is tried again later, ever
 * more patiently.
 */
export class Jobs {
  readonly #name: string;
  readonly #log: Log;
  readonly #waiting = new Map<string, () => Promise<void>>();
  readonly #running = new Map<string, Promise<void>>();
  readonly #failures = new Map<string, { count: number; timer: NodeJS.Timeout }>();
  #isStopped = false;

  constructor(name: string, log: Log) {
    this.#name = name;
    this.#log = log;
  }

  add(key: string, job: () => Promise<void>): void {
    if (this.#isStopped) return;
    this.#waiting.set(key, job);
    this.#startNext();
  }

  /** Starts nothing more, and waits for what is under way. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#waiting.clear();
    for (const { timer } of this.#failures.values()) clearTimeout(timer);
    await Promise.all(this.#running.values());
  }

  #startNext(): void {
    for (const [key, job] of this.#waiting) {
      if (this.#running.size >= AT_ONCE) return;
      if (this.#running.has(key)) continue;
      this.#waiting.delete(key);
      this.#running.set(key, this.#run(key, job));
    }
  }

  async #run(key: string, job: () => Promise<void>): Promise<void> {
    // Not in the middle of whatever asked for it.
    await Promise.resolve();
    try {
      await job();
      clearTimeout(this.#failures.get(key)?.timer);
      this.#failures.delete(key);
    } catch (error) {
      this.#retryLater(key, job, error);
    } finally {
      this.#running.delete(key);
      this.#startNext();
    }
  }

  #retryLater(key: string, job: () => Promise<void>, error: unknown): void {
    const count = (this.#failures.get(key)?.count ?? 0) + 1;
    clearTimeout(this.#failures.get(key)?.timer);
    const delay = Math.min(60_000, 50 * 2 ** count);
    // Losing a race is nothing to report.
    if (!(error instanceof ApiError && error.code === 409)) {
      this.#log.warn(`${this.#name} failed and will be tried again`, {
        object: key,
        after: `${delay} ms`,
        error: error instanceof Error ? error : new Error(String(error)),
      });
    }
    if (this.#isStopped) return;
    this.#failures.set(key, { count, timer: setTimeout(() => this.add(key, job), delay) });
  }
}

const AT_ONCE = 16;
