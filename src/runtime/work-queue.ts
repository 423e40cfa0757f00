import { type BackoffBounds, backoff } from './backoff.ts';
import type { Cancel, System } from './clock.ts';
import { Schedule, type Scheduled } from './schedule.ts';

/** How work on one key ended. */
export type WorkResult =
  /** Nothing to do until somebody adds the key again. */
  | 'done'
  /** Look again after so many milliseconds, unless added before. */
  | { after: number }
  /** Try again with back-off. */
  | 'failed'
  /** Try again with back-off, and not together with others: one of them spoils the work of all. */
  | 'failed together';

export interface WorkQueueOptions {
  system: System;
  /** Does the work on these keys, and says for each how it ended, in the same order. Never rejects. */
  work: (keys: readonly string[]) => Promise<readonly WorkResult[]>;
  /** How many calls of `work` may run at once. */
  parallel?: number;
  /** How many keys that are ready a call may take at most. */
  batch?: number;
  /**
   * After a batch of several the next one begins only so many milliseconds later, or when it is full: where there is a crowd, more
   * of it goes together. Who comes alone does not wait.
   */
  pause?: number;
  retry?: BackoffBounds;
}

export const usualRetry: BackoffBounds = { first: 10, max: 30_000 };
/** A change wakes a key that keeps failing, but not more often than this. */
const WAKE_FAILING = 1_000;

/**
 * Keys that need work. A key is worked on by one at a time; added while it is, it is worked on once more after. Each
 * look replaces what earlier ones said about when to look again.
 */
export class WorkQueue {
  readonly #system: System;
  readonly #work: WorkQueueOptions['work'];
  readonly #parallel: number;
  readonly #batch: number;
  readonly #pause: number;
  readonly #retry: BackoffBounds;
  readonly #entries = new Map<string, Entry>();
  readonly #later = new Schedule<Entry>();
  readonly #drained = Promise.withResolvers<void>();
  #ready = new Fifo<Entry>();
  #alarm: { due: number; cancel: Cancel } | undefined;
  #state: 'held' | 'open' | 'stopped' = 'held';
  #pumping = false;
  #running = 0;
  #endPause: Cancel | undefined;

  constructor({ system, work, parallel = 1, batch = 1, pause = 0, retry = usualRetry }: WorkQueueOptions) {
    this.#system = system;
    this.#work = work;
    this.#parallel = parallel;
    this.#batch = batch;
    this.#pause = pause;
    this.#retry = retry;
  }

  /** How many keys wait for their turn, for their time, and how many calls are under way. */
  get depth(): { ready: number; later: number; running: number } {
    return { ready: this.#ready.size, later: this.#later.size, running: this.#running };
  }

  /** Work begins with `start`; keys may be added before. */
  start(): void {
    if (this.#state === 'held') this.#state = 'open';
    this.#pumpSoon();
  }

  add(key: string): void {
    if (this.#state === 'stopped') return;
    const entry = this.#entry(key);
    switch (entry.state) {
      case 'ready':
        return;
      case 'running':
        entry.again = true;
        return;
      default:
        this.#wake(entry);
    }
  }

  /** No further work begins; resolves when what is under way has ended. */
  stop(): Promise<void> {
    this.#state = 'stopped';
    this.#alarm?.cancel();
    this.#alarm = undefined;
    this.#endPause?.();
    this.#later.clear();
    this.#ready = new Fifo();
    this.#entries.clear();
    if (this.#running === 0) this.#drained.resolve();
    return this.#drained.promise;
  }

  #entry(key: string): Entry {
    let entry = this.#entries.get(key);
    if (entry === undefined) {
      entry = { key, state: 'idle', failures: 0, alone: false, notBefore: 0, again: false, alarm: undefined };
      this.#entries.set(key, entry);
    }
    return entry;
  }

  #wake(entry: Entry): void {
    if (entry.failures > 0 && entry.notBefore > this.#system.uptime()) this.#lookAt(entry, entry.notBefore);
    else this.#makeReady(entry);
  }

  #makeReady(entry: Entry): void {
    if (entry.alarm !== undefined) this.#later.remove(entry.alarm);
    entry.alarm = undefined;
    entry.state = 'ready';
    this.#ready.push(entry);
    this.#pumpSoon();
  }

  #lookAt(entry: Entry, due: number): void {
    if (entry.alarm !== undefined) {
      if (entry.alarm.due <= due) return;
      this.#later.remove(entry.alarm);
    }
    entry.alarm = this.#later.add(due, entry);
    entry.state = 'later';
    this.#setAlarm();
  }

  #setAlarm(): void {
    const first = this.#later.first;
    if (first === undefined || (this.#alarm !== undefined && this.#alarm.due <= first.due)) return;
    this.#alarm?.cancel();
    const cancel = this.#system.timer(first.due - this.#system.uptime(), () => this.#ring());
    this.#alarm = { due: first.due, cancel };
  }

  #ring(): void {
    // Timers of a machine are rounded: one that rings a moment early still means the entry it was set for.
    const now = Math.max(this.#system.uptime(), this.#alarm?.due ?? 0);
    this.#alarm = undefined;
    for (let due = this.#later.takeDue(now); due !== undefined; due = this.#later.takeDue(now)) {
      due.item.alarm = undefined;
      this.#makeReady(due.item);
    }
    this.#setAlarm();
  }

  /** Not at once: keys that are added in one go shall find each other in one batch. */
  #pumpSoon(): void {
    if (this.#pumping) return;
    this.#pumping = true;
    queueMicrotask(() => {
      this.#pumping = false;
      while (this.#mayBegin()) void this.#run(this.#take());
    });
  }

  #mayBegin(): boolean {
    if (this.#state !== 'open' || this.#running === this.#parallel || this.#ready.size === 0) return false;
    return this.#endPause === undefined || this.#ready.size >= this.#batch;
  }

  #take(): Entry[] {
    const taken: Entry[] = [];
    for (let next = this.#ready.first; next !== undefined && taken.length < this.#batch; next = this.#ready.first) {
      if (next.alone && taken.length > 0) break;
      this.#ready.shift();
      next.state = 'running';
      taken.push(next);
      if (next.alone) break;
    }
    return taken;
  }

  async #run(entries: readonly Entry[]): Promise<void> {
    this.#running += 1;
    const results = await this.#work(entries.map(({ key }) => key));
    this.#running -= 1;
    if (this.#state === 'stopped') {
      if (this.#running === 0) this.#drained.resolve();
      return;
    }
    entries.forEach((entry, i) => {
      this.#finish(entry, results[i] ?? 'failed');
    });
    if (entries.length > 1 && this.#pause > 0) this.#rest();
    this.#pumpSoon();
  }

  #rest(): void {
    this.#endPause?.();
    this.#endPause = this.#system.timer(this.#pause, () => {
      this.#endPause = undefined;
      this.#pumpSoon();
    });
  }

  #finish(entry: Entry, result: WorkResult): void {
    const again = entry.again;
    entry.again = false;
    entry.state = 'idle';
    const failed = result === 'failed' || result === 'failed together';
    entry.failures = failed ? entry.failures + 1 : 0;
    entry.alone = result === 'failed together';
    if (failed) {
      const now = this.#system.uptime();
      const delay = backoff(entry.failures, this.#retry, this.#system);
      entry.notBefore = now + Math.min(delay, WAKE_FAILING);
      this.#lookAt(entry, now + delay);
    } else if (result !== 'done') {
      this.#lookAt(entry, this.#system.uptime() + result.after);
    }
    if (again) this.#wake(entry);
    else if (result === 'done') this.#entries.delete(entry.key);
  }
}

interface Entry {
  readonly key: string;
  state: 'idle' | 'ready' | 'running' | 'later';
  /** In a row. */
  failures: number;
  /** The last failure may have been that of another key in the same batch. */
  alone: boolean;
  /** Until then not even a change wakes it. */
  notBefore: number;
  /** Added while running. */
  again: boolean;
  alarm: Scheduled<Entry> | undefined;
}

/** First in, first out, without moving what is left. */
class Fifo<T> {
  #items: (T | undefined)[] = [];
  #head = 0;

  get size(): number {
    return this.#items.length - this.#head;
  }

  get first(): T | undefined {
    return this.#items[this.#head];
  }

  push(item: T): void {
    this.#items.push(item);
  }

  shift(): void {
    this.#items[this.#head] = undefined;
    this.#head += 1;
    if (this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
  }
}
