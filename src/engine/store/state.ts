import { Collection } from './collection.ts';
import { entrySize } from './format.ts';
import { Queue } from './queue.ts';
import type { StoredEvent, Version } from './version.ts';
import { Watchers } from './watchers.ts';

export interface HistoryLimits {
  readonly historyEvents: number;
  readonly historyBytes: number;
}

/** The objects of one resource at one moment, for a snapshot. */
export interface Frozen {
  readonly resource: string;
  readonly revision: number;
  readonly versions: readonly Version[];
}

/** An event as an object in memory; what it keeps alive comes on top. */
const eventOverhead = 256;

/** Everything that is durable, as readers see it; and what history keeps, over all resources oldest first. */
export class State {
  /** The newest revision. */
  revision = 0;
  /** What all objects would take in a snapshot. */
  liveBytes = 0;
  readonly #collections = new Map<string, Collection>();
  readonly #limits: HistoryLimits;
  readonly #log: (line: string) => void;
  /** For every event that is remembered, in order, whose it is. */
  readonly #history = new Queue<Collection>();
  #historyBytes = 0;

  constructor(limits: HistoryLimits, log: (line: string) => void) {
    this.#limits = limits;
    this.#log = log;
  }

  find(resource: string): Collection | undefined {
    return this.#collections.get(resource);
  }

  collection(resource: string, forgotten = 0): Collection {
    const known = this.#collections.get(resource);
    if (known !== undefined) return known;
    const made = new Collection(resource, forgotten, new Watchers(this.#log));
    this.#collections.set(resource, made);
    return made;
  }

  /** Takes an object from a snapshot. */
  load(version: Version): void {
    this.collection(version.resource).load(version);
    this.liveBytes += entrySize(version);
  }

  apply(kind: 'put' | 'remove', version: Version): StoredEvent {
    const collection = this.collection(version.resource);
    const event = kind === 'put' ? collection.put(version) : collection.remove(version);
    this.revision = version.revision;
    if (event.previous !== undefined) this.liveBytes -= entrySize(event.previous);
    if (kind === 'put') this.liveBytes += entrySize(version);
    this.#history.push(collection);
    this.#historyBytes += cost(event);
    this.#forget();
    return event;
  }

  /** A copy of references only: a millisecond for a hundred thousand objects. */
  freeze(): Frozen[] {
    return Array.from(this.#collections.values(), (collection) => ({
      resource: collection.resource,
      revision: collection.revision,
      versions: collection.all(),
    }));
  }

  closeWatchers(): void {
    for (const collection of this.#collections.values()) collection.watchers.closeAll();
  }

  #forget(): void {
    while (this.#history.length > this.#limits.historyEvents || this.#historyBytes > this.#limits.historyBytes) {
      const event = this.#history.shift()?.forgetOldest();
      if (event === undefined) return;
      this.#historyBytes -= cost(event);
    }
  }
}

/** What only history keeps in memory: the state that was replaced, and the last one of what was deleted. */
function cost({ type, current, previous }: StoredEvent): number {
  return eventOverhead + (previous?.bytes.length ?? 0) + (type === 'DELETED' ? current.bytes.length : 0);
}
