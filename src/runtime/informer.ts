import type { Kind } from '../api/kind.ts';
import type { ApiObject } from '../api/object.ts';
import { ApiError } from '../api/status.ts';
import { type BackoffBounds, backoff } from './backoff.ts';
import { type Cache, ObjectCache } from './cache.ts';
import { type Client, isExpired, isMissing, type WatchEvent } from './client.ts';
import { type Cancel, type System, sleep } from './clock.ts';
import { deepFreeze } from './freeze.ts';
import { kindIsServed } from './kind-arrival.ts';
import { asError, isFaultOfOurs, type Log } from './log.ts';
import type { Scope } from './paths.ts';
import { keyOfObject } from './ref.ts';
import { Unreachable } from './transport.ts';

export interface InformerOptions<T extends ApiObject> {
  client: Client;
  kind: Kind<T>;
  scope?: Scope;
  system: System;
  log: Log;
  /** How long to wait for a server that is away; half a minute at most unless it says so, for there may be thousands who wait. */
  retry?: BackoffBounds;
  /** Makes objects unchangeable, so that a test finds out who changes what is shared. */
  freeze?: boolean;
}

/** An object appeared (`before` is undefined), changed, or is gone (`now` is undefined). */
export type Change<T> = { before: T | undefined; now: T } | { before: T; now: undefined };

const RETRY: BackoffBounds = { first: 100, max: 30_000 };
/** A watch that lived this long, in milliseconds, was a good one: what ends it is not a failure on top of others. */
const GOOD_WATCH = 5_000;
const WATCH_SECONDS = 300;
/** How much longer than agreed a watch may last before its connection is taken for dead. */
const MARGIN_SECONDS = 30;

/**
 * Keeps a cache of the objects of a kind true: lists them once, then follows their changes, through lost connections,
 * servers that restart or forget their history, and kinds that come and go. Nothing is reported that did not change,
 * and nothing that changed is left out, however long the server was away.
 */
export class Informer<T extends ApiObject> {
  readonly kind: Kind<T>;
  readonly #client: Client;
  readonly #scope: Scope;
  readonly #system: System;
  readonly #log: Log;
  readonly #retry: BackoffBounds;
  readonly #freeze: boolean;
  readonly #cache = new ObjectCache<T>();
  readonly #listeners = new Set<(change: Change<T>) => void>();
  readonly #listListeners = new Set<(resourceVersion: string) => void>();
  readonly #stop = new AbortController();
  readonly #firstSync = Promise.withResolvers<void>();
  #running: Promise<void> | undefined;
  #synced = false;
  #version: string | undefined;
  #failures = 0;
  #counters = { lists: 0, watches: 0, events: 0, failures: 0 };

  constructor({ client, kind, scope = {}, system, log, retry = RETRY, freeze = false }: InformerOptions<T>) {
    this.kind = kind;
    this.#client = client;
    this.#scope = scope;
    this.#system = system;
    this.#log = log.with({ informer: kind.plural });
    this.#retry = retry;
    this.#freeze = freeze;
  }

  get cache(): Cache<T> {
    return this.#cache;
  }

  /** Whether the cache has been complete once. A kind that the server does not know has no objects. */
  get synced(): boolean {
    return this.#synced;
  }

  get counters(): InformerCounters {
    return { ...this.#counters, objects: this.#cache.size };
  }

  /** Calls `listener` for every object there is, and then for every change. */
  onChange(listener: (change: Change<T>) => void): Cancel {
    for (const now of this.#cache.list()) this.#tell(listener, { before: undefined, now }, keyOfObject(now));
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Calls `listener` whenever the cache was made anew from a list, with the version of the list: what is not in the cache then, and
   * was not written later, does not exist. Whoever knows of objects from elsewhere, such as from answers to writes, would not hear
   * of the end of one that the cache never had.
   */
  onListed(listener: (resourceVersion: string) => void): Cancel {
    this.#listListeners.add(listener);
    return () => this.#listListeners.delete(listener);
  }

  /** Resolves when the cache is complete, or the informer has been stopped. */
  whenSynced(): Promise<void> {
    return this.#firstSync.promise;
  }

  start(): void {
    this.#running ??= this.#follow();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    this.#firstSync.resolve();
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        if (this.#version === undefined) await this.#list(signal);
        await this.#watch(signal);
      } catch (error) {
        if (signal.aborted) return;
        await this.#recover(error, signal);
      }
    }
  }

  async #list(signal: AbortSignal): Promise<void> {
    this.#counters.lists += 1;
    const { items, resourceVersion } = await this.#client.snapshot(this.kind, this.#scope, signal);
    this.#replace(items);
    this.#version = resourceVersion;
    for (const listener of this.#listListeners) listener(resourceVersion);
    this.#nowSynced();
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const resourceVersion = this.#version ?? '';
    const timeoutSeconds = Math.round(WATCH_SECONDS * (1 + this.#system.random()));
    // Half-open connections stay silent for ever; the agreed end of the watch shows them.
    const attempt = new AbortController();
    const giveUp = (): void => attempt.abort();
    const cancel = this.#system.timer((timeoutSeconds + MARGIN_SECONDS) * 1000, giveUp);
    signal.addEventListener('abort', giveUp);
    const began = this.#system.uptime();
    let heard = false;
    try {
      this.#counters.watches += 1;
      const options = { resourceVersion, timeoutSeconds, signal: attempt.signal };
      for await (const event of this.#client.watch(this.kind, this.#scope, options)) {
        this.#take(event);
        heard = true;
        this.#failures = 0;
      }
    } finally {
      cancel();
      signal.removeEventListener('abort', giveUp);
      if (this.#system.uptime() - began >= GOOD_WATCH) this.#failures = 0;
    }
    if (!heard && this.#system.uptime() - began < GOOD_WATCH && !signal.aborted) {
      throw new Unreachable('the server ended the watch at once');
    }
  }

  async #recover(error: unknown, signal: AbortSignal): Promise<void> {
    this.#counters.failures += 1;
    this.#failures += 1;
    if (isMissing(error) && (await this.#waitForKind(signal))) return;
    if (isExpired(error) || isMissing(error) || isAboutTheVersion(error)) this.#version = undefined;
    const delay = backoff(this.#failures, this.#retry, this.#system);
    this.#log[isFaultOfOurs(asError(error)) ? 'error' : 'warn']('cannot follow this kind now; will try again', {
      error: asError(error),
      failures: this.#failures,
      retryInMs: Math.round(delay),
    });
    await sleep(this.#system, delay, signal);
  }

  /** False when the server has the kind after all: then it was something else that was missing. */
  async #waitForKind(signal: AbortSignal): Promise<boolean> {
    try {
      if (await this.#client.serves(this.kind, signal)) return false;
    } catch {
      return false;
    }
    this.#log.info('the server does not have this kind; waiting for it');
    this.#version = undefined;
    this.#replace([]);
    this.#nowSynced();
    await kindIsServed({ client: this.#client, kind: this.kind, system: this.#system, signal });
    this.#failures = 0;
    return true;
  }

  #take(event: WatchEvent<T>): void {
    if (event.type !== 'BOOKMARK') {
      this.#counters.events += 1;
      if (event.type === 'DELETED') this.#remove(keyOfObject(event.object));
      else this.#put(event.object);
    }
    if (event.resourceVersion !== '') this.#version = event.resourceVersion;
  }

  #replace(items: readonly T[]): void {
    const gone = new Set(this.#cache.keys());
    for (const item of items) gone.delete(keyOfObject(item));
    for (const key of gone) this.#remove(key);
    for (const item of items) this.#put(item);
  }

  #put(object: T): void {
    const key = keyOfObject(object);
    let before = this.#cache.find(key);
    if (before !== undefined && before.metadata.uid !== object.metadata.uid) {
      // Deleted and created again under the same name: two objects, whatever the server told about the first one.
      this.#remove(key);
      before = undefined;
    }
    if (before?.metadata.resourceVersion === object.metadata.resourceVersion) return;
    const now = slim(object);
    if (this.#freeze) deepFreeze(now);
    this.#cache.set(now);
    for (const listener of this.#listeners) this.#tell(listener, { before, now }, key);
  }

  #remove(key: string): void {
    const before = this.#cache.find(key);
    if (before === undefined) return;
    this.#cache.delete(key);
    for (const listener of this.#listeners) this.#tell(listener, { before, now: undefined }, key);
  }

  /** A listener that fails must not keep the others, or the cache, from going on. */
  #tell(listener: (change: Change<T>) => void, change: Change<T>, key: string): void {
    try {
      listener(change);
    } catch (error) {
      this.#log.error('a listener failed on a change', { object: key, error: asError(error) });
    }
  }

  #nowSynced(): void {
    this.#synced = true;
    this.#firstSync.resolve();
  }
}

export interface InformerCounters {
  objects: number;
  lists: number;
  watches: number;
  events: number;
  failures: number;
}

/** Who set which field makes up a good part of an object, and nobody here reads it. */
function slim<T extends ApiObject>(object: T): T {
  if (object.metadata.managedFields === undefined) return object;
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/** The server was restored from a backup or lost its history: the version that we hold means nothing to it. */
const isAboutTheVersion = (error: unknown): boolean =>
  error instanceof ApiError && [400, 422, 504].includes(error.code);
