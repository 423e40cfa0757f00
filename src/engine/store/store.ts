import type { Page, PageRequest } from './collection.ts';
import { Commits, type WriteRequest } from './commits.ts';
import { Compaction } from './compaction.ts';
import { prepareDirectory } from './directory.ts';
import type { WriteFailed } from './errors.ts';
import { type DirectoryLock, lockDirectory } from './lock.ts';
import type { Log } from './log.ts';
import { recover } from './recovery.ts';
import { State } from './state.ts';
import { sortKey, type Version } from './version.ts';
import type { Listener } from './watchers.ts';

export interface StoreLimits {
  /** History for watches and lists of the past: so many events, and so many bytes of objects kept only for it. */
  readonly historyEvents: number;
  readonly historyBytes: number;
  /** A snapshot replaces the log when it is longer than this, and longer than twice the objects. */
  readonly logBytes: number;
}

export const defaultLimits: StoreLimits = {
  historyEvents: 100_000,
  historyBytes: 128 * 1024 * 1024,
  logBytes: 64 * 1024 * 1024,
};

export interface StoreOptions {
  readonly directory: string;
  /** Told to whoever finds the directory locked, such as the address this process listens on. */
  readonly holder: string;
  readonly log: (line: string) => void;
  readonly limits?: Partial<StoreLimits>;
}

export interface ListRequest extends PageRequest {
  readonly resource: string;
  /** An exact revision of the past. */
  readonly at?: number | undefined;
}

export interface List extends Page {
  readonly revision: number;
}

export interface WatchRequest {
  readonly resource: string;
  readonly namespace?: string | undefined;
  /** Only events behind this revision are told. */
  readonly after: number;
}

/** Durable, versioned objects. See the README beside this file for what it guarantees. */
export class Store {
  /** Resolves when the disk has failed and no more writes are taken; reads go on. */
  readonly failed: Promise<WriteFailed>;
  readonly #state: State;
  readonly #log: Log;
  readonly #lock: DirectoryLock;
  readonly #commits: Commits;
  readonly #compaction: Compaction;
  readonly #waiting = new Set<() => void>();
  #closed: Promise<void> | undefined;

  private constructor(
    options: StoreOptions,
    limits: StoreLimits,
    opened: { state: State; log: Log; lock: DirectoryLock },
  ) {
    this.#state = opened.state;
    this.#log = opened.log;
    this.#lock = opened.lock;
    const { promise, resolve } = Promise.withResolvers<WriteFailed>();
    this.failed = promise;
    this.#compaction = new Compaction({
      directory: options.directory,
      state: this.#state,
      log: this.#log,
      logBytes: limits.logBytes,
      tell: options.log,
    });
    this.#commits = new Commits({
      state: this.#state,
      log: this.#log,
      settled: () => {
        for (const look of this.#waiting) look();
        return this.#compaction.startWhenDue();
      },
      failed: (error) => {
        options.log(error.message);
        resolve(error);
      },
    });
  }

  /** Throws DirectoryInUse, or DamagedStore when the files are not what a crash can leave. */
  static async open(options: StoreOptions): Promise<Store> {
    const limits = { ...defaultLimits, ...options.limits };
    await prepareDirectory(options.directory);
    const lock = await lockDirectory(options.directory, options.holder);
    try {
      const state = new State(limits, options.log);
      const log = await recover(options.directory, state, options.log);
      return new Store(options, limits, { state, log, lock });
    } catch (error) {
      await lock.release();
      throw error;
    }
  }

  /** The newest durable revision, which is the newest that readers see. */
  get revision(): number {
    return this.#state.revision;
  }

  get(resource: string, namespace: string, name: string): Version | undefined {
    return this.#state.find(resource)?.get(sortKey({ namespace, name }));
  }

  /** As `get`, with the writes that were accepted and are not on the disk yet: what a change must start from. */
  newest(resource: string, namespace: string, name: string): Version | undefined {
    return this.#commits.newest({ resource, namespace, name });
  }

  /**
   * Rejects with RevisionMismatch, Unstorable or WriteFailed. Resolves when the object is durable, visible and told to
   * the watchers.
   */
  put(request: WriteRequest): Promise<Version> {
    return this.#commits.write('put', request);
  }

  /** As `put`; `encode` gives the last state as it is told to watchers. */
  remove(request: WriteRequest): Promise<Version> {
    return this.#commits.write('remove', request);
  }

  /** In the order of namespace, then name. Throws Compacted when `at` is too far back. */
  list({ resource, at, ...page }: ListRequest): List {
    const { revision } = this.#state;
    if (at !== undefined && at > revision) {
      throw new RangeError(
        `the store is at revision ${revision}, and can not list what will be at ${at}: wait for it first`,
      );
    }
    const collection = this.#state.find(resource);
    if (collection === undefined) return { versions: [], remaining: 0, revision: at ?? revision };
    return at === undefined ? { ...collection.list(page), revision } : { ...collection.listAt(at, page), revision: at };
  }

  count(resource: string, namespace?: string): number {
    return this.#state.find(resource)?.count(namespace) ?? 0;
  }

  /**
   * Tells what has happened since, before it returns, and then what happens: no event is left out or told twice.
   * Throws Compacted when history does not reach back so far.
   */
  watch({ resource, namespace, after }: WatchRequest, listener: Listener): { close(): void } {
    const collection = this.#state.collection(resource);
    const past = collection.eventsAfter(after);
    const own = namespace === undefined ? past : past.filter(({ current }) => current.namespace === namespace);
    if (own.length > 0) listener(own);
    return collection.watchers.add({ namespace, known: Math.max(after, this.#state.revision), listener });
  }

  /** Whether the store is at this revision, or comes to it within the time. */
  async waitFor(revision: number, timeoutMs: number): Promise<boolean> {
    if (this.revision >= revision || this.#closed !== undefined) return this.revision >= revision;
    const { promise, resolve } = Promise.withResolvers<void>();
    const look = () => {
      if (this.revision >= revision || this.#closed !== undefined) resolve();
    };
    const timer = setTimeout(resolve, timeoutMs);
    this.#waiting.add(look);
    await promise;
    clearTimeout(timer);
    this.#waiting.delete(look);
    return this.revision >= revision;
  }

  /** Finishes the writes that were accepted, and lets go of the directory. Reads still work. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#commits.refuse(new Error('the store is closed'));
    await this.#commits.idle();
    await this.#compaction.stop();
    this.#state.closeWatchers();
    for (const look of this.#waiting) look();
    try {
      await this.#log.close();
    } finally {
      await this.#lock.release();
    }
  }
}
