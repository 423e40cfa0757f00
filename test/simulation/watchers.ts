import type { JsonObject } from '../../src/api/json.ts';
import { apiVersionOf, type Kind } from '../../src/api/kind.ts';
import { ApiError } from '../../src/api/status.ts';
import type { Cancel, System } from '../../src/runtime/clock.ts';
import { Unreachable } from '../../src/runtime/transport.ts';
import { asSent } from './as-sent.ts';
import { type Faults, happens, within } from './faults.ts';
import type { Matcher } from './selectors.ts';
import type { Store, StoredChange } from './store.ts';
import { Stream } from './stream.ts';
import { metadataOf, resourceOf } from './writes.ts';

export interface WatchRequest {
  kind: Kind;
  namespace: string;
  matches: Matcher;
  version: string;
  bookmarks: boolean;
  timeoutSeconds: number;
  /** Asked anew for every event. */
  faults: () => Faults;
}

export interface Watcher {
  readonly stream: Stream;
}

const BOOKMARK_MS = 60_000;

/** The open watches of the simulated server. */
export class Watchers {
  readonly #store: Store;
  readonly #system: System;
  readonly #open = new Set<OpenWatch>();

  constructor(store: Store, system: System) {
    this.#store = store;
    this.#system = system;
    store.onChange((change) => {
      for (const watch of this.#open) watch.notice(change);
    });
  }

  get size(): number {
    return this.#open.size;
  }

  open(request: WatchRequest): Watcher {
    const version = Number(request.version);
    if (version > this.#store.version) {
      throw new ApiError(504, 'Timeout', `Too large resource version: ${version}, current: ${this.#store.version}`);
    }
    const watch = new OpenWatch(request, this.#store, this.#system, () => this.#open.delete(watch));
    this.#open.add(watch);
    watch.begin();
    return watch;
  }

  breakAll(error: Error): void {
    for (const watch of [...this.#open]) watch.break(error);
  }

  endAll(resource: string): void {
    for (const watch of [...this.#open]) if (watch.resource === resource) watch.end();
  }
}

class OpenWatch implements Watcher {
  readonly resource: string;
  readonly stream: Stream;
  readonly #request: WatchRequest;
  readonly #store: Store;
  readonly #system: System;
  readonly #timers: Cancel[] = [];
  #silent = false;

  constructor(request: WatchRequest, store: Store, system: System, closed: () => void) {
    this.#request = request;
    this.#store = store;
    this.#system = system;
    this.resource = resourceOf(request.kind);
    this.stream = new Stream(system, () => {
      for (const cancel of this.#timers) cancel();
      closed();
    });
  }

  begin(): void {
    const { version, timeoutSeconds, bookmarks } = this.#request;
    if (version === '' || version === '0') {
      const objects = this.#store.at(this.resource, this.#store.version).map(([, object]) => object);
      for (const object of objects.filter((found) => this.#covers(found))) this.#send('ADDED', object);
    } else {
      try {
        for (const change of this.#store.since(Number(version))) this.notice(change);
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        this.#send('ERROR', asSent({ ...error.status }));
        this.end();
        return;
      }
    }
    this.#timers.push(this.#system.timer(timeoutSeconds * 1000, () => this.end()));
    if (bookmarks) this.#bookmarkLater();
  }

  notice({ resource, before, after, deleted, version }: StoredChange): void {
    if (resource !== this.resource) return;
    const was = before !== undefined && this.#covers(before);
    const is = !deleted && this.#covers(after);
    if (!was && !is) return;
    const faults = this.#request.faults();
    if (happens(this.#system, faults.silentWatch)) this.#silent = true;
    if (this.#silent) return;
    if (happens(this.#system, faults.brokenWatch)) this.break(new Unreachable('the connection broke'));
    else if (happens(this.#system, faults.endedWatch)) this.end();
    else if (is) this.#send(was ? 'MODIFIED' : 'ADDED', after);
    else this.#send('DELETED', deleted ? after : { ...before, metadata: versioned(before, version) });
  }

  end(): void {
    if (!this.#silent) this.stream.end(within(this.#system, this.#request.faults().eventDelay));
  }

  break(error: Error): void {
    this.stream.break(error);
  }

  #send(type: string, object: JsonObject): void {
    this.stream.send({ type, object }, within(this.#system, this.#request.faults().eventDelay));
  }

  #bookmarkLater(): void {
    const cancel = this.#system.timer(BOOKMARK_MS, () => {
      const { kind } = this.#request;
      const metadata = { resourceVersion: String(this.#store.version) };
      if (!this.#silent) this.#send('BOOKMARK', { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata });
      this.#bookmarkLater();
    });
    this.#timers[1] = cancel;
  }

  #covers(object: JsonObject): boolean {
    const { namespace, matches } = this.#request;
    return (namespace === '' || metadataOf(object)['namespace'] === namespace) && matches(object);
  }
}

const versioned = (object: JsonObject | undefined, version: number): JsonObject => ({
  ...metadataOf(object ?? {}),
  resourceVersion: String(version),
});
