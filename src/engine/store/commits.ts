import { describe, diskFailure, RevisionMismatch, Unstorable, WriteFailed } from './errors.ts';
import { bareEntry, type Entry, entrySize } from './format.ts';
import type { Log } from './log.ts';
import type { State } from './state.ts';
import { type Key, type StoredEvent, sortKey, type Version } from './version.ts';

export interface WriteRequest extends Key {
  /** The revision of the newest accepted version; 0: there must be none. */
  readonly expected: number;
  /** Called once, before the call returns, with the revision that the write gets. */
  readonly encode: (revision: number) => Buffer;
}

interface Write {
  readonly kind: 'put' | 'remove';
  readonly path: string;
  readonly version: Version;
  readonly resolve: (version: Version) => void;
  readonly reject: (error: Error) => void;
}

const maximumObject = 32 * 1024 * 1024;
const maximumBatch = { writes: 4096, bytes: 8 * 1024 * 1024 };
const longestName = 1024;

/**
 * Group commit. A write gets its revision when it is accepted; all that are accepted while the disk is busy go to it
 * together, in one block with one sync. Only then do readers and watchers see them.
 */
export class Commits {
  readonly #state: State;
  readonly #log: Log;
  /** Called when a batch is visible; no write is under way until it is done. */
  readonly #settled: () => Promise<void>;
  readonly #failed: (error: WriteFailed) => void;
  #queue: Write[] = [];
  /** The newest accepted write of each object that is not durable yet. */
  readonly #accepted = new Map<string, Write>();
  #assigned: number;
  /** The newest of the revisions given to writes that failed, until a block says so. */
  #skipped = 0;
  #running: Promise<void> | undefined;
  #refusal: Error | undefined;

  constructor(options: {
    state: State;
    log: Log;
    settled: () => Promise<void>;
    failed: (error: WriteFailed) => void;
  }) {
    this.#state = options.state;
    this.#log = options.log;
    this.#settled = options.settled;
    this.#failed = options.failed;
    this.#assigned = options.state.revision;
  }

  newest(key: Key): Version | undefined {
    const accepted = this.#accepted.get(pathOf(key));
    if (accepted !== undefined) return accepted.kind === 'put' ? accepted.version : undefined;
    return this.#state.find(key.resource)?.get(sortKey(key));
  }

  async write(kind: Write['kind'], { resource, namespace, name, expected, encode }: WriteRequest): Promise<Version> {
    if (this.#refusal !== undefined) throw this.#refusal;
    const key = { resource, namespace, name };
    mustBeStorable(key);
    const actual = this.newest(key)?.revision ?? 0;
    if (actual !== expected || (kind === 'remove' && actual === 0)) throw new RevisionMismatch(key, expected, actual);
    const revision = this.#assigned + 1;
    const bytes = encode(revision);
    if (this.#assigned !== revision - 1) throw new Error(`another write was begun while ${describe(key)} was encoded`);
    if (bytes.length > maximumObject) {
      throw new Unstorable(
        `${describe(key)} takes ${bytes.length} bytes, and the store takes ${maximumObject} at most`,
      );
    }
    this.#assigned = revision;
    const { promise, resolve, reject } = Promise.withResolvers<Version>();
    const version: Version = { resource, namespace, name, revision, bytes };
    const write: Write = { kind, path: pathOf(key), version, resolve, reject };
    this.#queue.push(write);
    this.#accepted.set(write.path, write);
    this.#running ??= this.#run();
    return promise;
  }

  /** From now on every write is refused with this error; those that were accepted before go on. */
  refuse(reason: Error): void {
    this.#refusal ??= reason;
  }

  /** Until nothing is waiting for the disk. */
  async idle(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#queue.length > 0) {
      // Whoever was just answered, or has a request waiting in this turn of the event loop, can still join the batch.
      await turn();
      const batch = this.#takeBatch();
      try {
        await this.#log.append(this.#state.revision, this.#entriesOf(batch));
        this.#publish(batch);
      } catch (error) {
        this.#fail(batch, error);
        continue;
      }
      try {
        await this.#settled();
      } catch (error) {
        this.#fail([], error);
      }
    }
    this.#running = undefined;
  }

  #takeBatch(): Write[] {
    let bytes = 0;
    let writes = 0;
    for (const { version } of this.#queue) {
      bytes += entrySize(version);
      if (writes > 0 && (writes === maximumBatch.writes || bytes > maximumBatch.bytes)) break;
      writes++;
    }
    return this.#queue.splice(0, writes);
  }

  #entriesOf(batch: readonly Write[]): Entry[] {
    const entries = batch.map(({ kind, version }): Entry => ({ kind, ...version }));
    if (this.#skipped > this.#state.revision) entries.unshift(bareEntry('skip', this.#skipped));
    return entries;
  }

  /** Fails what is waiting too: it may build on what failed. */
  #fail(batch: readonly Write[], reason: unknown): void {
    const error = reason instanceof WriteFailed ? reason : diskFailure(reason);
    if (error.outcome === 'unknown') {
      this.refuse(error);
      this.#failed(error);
    }
    this.#skipped = this.#assigned;
    this.#accepted.clear();
    for (const write of [...batch, ...this.#queue.splice(0)]) write.reject(error);
  }

  #publish(batch: readonly Write[]): void {
    const events: StoredEvent[] = [];
    for (const write of batch) {
      events.push(this.#state.apply(write.kind, write.version));
      if (this.#accepted.get(write.path) === write) this.#accepted.delete(write.path);
    }
    for (const [resource, own] of Map.groupBy(events, (event) => event.current.resource)) {
      this.#state.find(resource)?.watchers.dispatch(own);
    }
    for (const write of batch) write.resolve(write.version);
  }
}

/** Two names must never become the same bytes, and NUL is what separates names in sort keys. */
function mustBeStorable(key: Key): void {
  for (const [part, text] of Object.entries(key)) {
    const complaint =
      text === '' && part !== 'namespace'
        ? 'is empty'
        : text.length > longestName
          ? `is longer than ${longestName} characters`
          : text.includes('\0')
            ? 'contains the character NUL'
            : text.isWellFormed()
              ? undefined
              : 'contains half of a surrogate pair, which has no UTF-8';
    if (complaint !== undefined) throw new Unstorable(`the ${part} ${JSON.stringify(text.slice(0, 80))} ${complaint}`);
  }
}

function pathOf(key: Key): string {
  return `${key.resource}\0${sortKey(key)}`;
}

async function turn(): Promise<void> {
  await new Promise<void>((resolve) => setImmediate(resolve));
}
