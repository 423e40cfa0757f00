import { Compacted } from './errors.ts';
import { Ordered } from './ordered.ts';
import { Queue } from './queue.ts';
import { inRange, keyRange, type StoredEvent, sortKey, type Version } from './version.ts';
import type { Watchers } from './watchers.ts';

export interface Page {
  readonly versions: Version[];
  /** How many more there are behind the last one. */
  readonly remaining: number;
}

export interface PageRequest {
  readonly namespace?: string | undefined;
  readonly after?: { readonly namespace: string; readonly name: string } | undefined;
  readonly limit?: number | undefined;
}

/** The objects of one resource as they are, and the events that led there as far back as they are remembered. */
export class Collection {
  readonly resource: string;
  readonly watchers: Watchers;
  readonly #objects = new Ordered<Version>();
  readonly #history = new Queue<StoredEvent>();
  /** The newest event of this resource that history has lost; any revision from it on can be told exactly. */
  #forgotten: number;

  constructor(resource: string, forgotten: number, watchers: Watchers) {
    this.resource = resource;
    this.#forgotten = forgotten;
    this.watchers = watchers;
  }

  get size(): number {
    return this.#objects.size;
  }

  /** The newest revision at which anything here changed. */
  get revision(): number {
    return this.#history.at(this.#history.length - 1)?.revision ?? this.#forgotten;
  }

  get(key: string): Version | undefined {
    return this.#objects.get(key);
  }

  /** Takes an object from a snapshot: no event tells how it came about. */
  load(version: Version): void {
    this.#objects.set(sortKey(version), version);
  }

  put(version: Version): StoredEvent {
    const previous = this.#objects.set(sortKey(version), version);
    const type = previous === undefined ? 'ADDED' : 'MODIFIED';
    return this.#remember({ type, revision: version.revision, current: version, previous });
  }

  remove(last: Version): StoredEvent {
    const previous = this.#objects.delete(sortKey(last));
    return this.#remember({ type: 'DELETED', revision: last.revision, current: last, previous });
  }

  forgetOldest(): StoredEvent | undefined {
    const oldest = this.#history.shift();
    this.#forgotten = oldest?.revision ?? this.#forgotten;
    return oldest;
  }

  all(): Version[] {
    return this.#objects.slice('', undefined);
  }

  count(namespace: string | undefined): number {
    const { from, to } = keyRange(namespace, undefined);
    return this.#objects.countBetween(from, to);
  }

  list({ namespace, after, limit }: PageRequest): Page {
    const { from, to } = keyRange(namespace, after);
    const versions = this.#objects.slice(from, to, limit);
    const whole = limit === undefined || versions.length < limit;
    return { versions, remaining: whole ? 0 : this.#objects.countBetween(from, to) - versions.length };
  }

  /** The objects as they were: those of today, with every later event undone. */
  listAt(revision: number, { namespace, after, limit }: PageRequest): Page {
    const range = keyRange(namespace, after);
    const then = new Map<string, Version | undefined>();
    for (const { current, previous } of this.eventsAfter(revision)) {
      const key = sortKey(current);
      if (inRange(key, range) && !then.has(key)) then.set(key, previous);
    }
    if (then.size === 0) return this.list({ namespace, after, limit });

    let total = this.#objects.countBetween(range.from, range.to);
    const changed: Version[] = [];
    for (const [key, version] of then) {
      if (this.#objects.get(key) !== undefined) total--;
      if (version !== undefined) changed.push(version);
    }
    total += changed.length;
    const room = limit ?? Number.POSITIVE_INFINITY;
    // No more of today's objects can drop out of the page than were changed since.
    const unchanged = this.#objects
      .slice(range.from, range.to, room + then.size)
      .filter((version) => !then.has(sortKey(version)));
    const versions = merge(unchanged, changed.sort(byKey)).slice(0, room);
    return { versions, remaining: total - versions.length };
  }

  /** Throws Compacted when not all of them are remembered. */
  eventsAfter(revision: number): StoredEvent[] {
    if (revision < this.#forgotten) throw new Compacted(this.resource, revision, this.#forgotten);
    let low = 0;
    let high = this.#history.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#history.at(middle)?.revision ?? 0) <= revision) low = middle + 1;
      else high = middle;
    }
    return this.#history.sliceFrom(low);
  }

  #remember(event: StoredEvent): StoredEvent {
    this.#history.push(event);
    return event;
  }
}

function byKey(a: Version, b: Version): number {
  const [left, right] = [sortKey(a), sortKey(b)];
  return left < right ? -1 : left > right ? 1 : 0;
}

function merge(a: readonly Version[], b: readonly Version[]): Version[] {
  const merged: Version[] = [];
  let [i, j] = [0, 0];
  for (;;) {
    const [left, right] = [a[i], b[j]];
    if (left !== undefined && (right === undefined || byKey(left, right) < 0)) {
      merged.push(left);
      i++;
    } else if (right !== undefined) {
      merged.push(right);
      j++;
    } else return merged;
  }
}
