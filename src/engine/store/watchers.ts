import type { StoredEvent } from './version.ts';

/** Gets all events of one group commit in one call. It must not throw: one that does is told nothing any more. */
export type Listener = (events: readonly StoredEvent[]) => void;

interface Watcher {
  readonly listener: Listener;
  /** Events up to this revision are known to the watcher. */
  readonly known: number;
  readonly close: () => void;
}

/** Who watches one resource: all of it, or one namespace. An event costs nothing for those who watch another namespace. */
export class Watchers {
  readonly #everywhere = new Set<Watcher>();
  readonly #byNamespace = new Map<string, Set<Watcher>>();
  readonly #log: (line: string) => void;

  constructor(log: (line: string) => void) {
    this.#log = log;
  }

  add({ namespace, known, listener }: { namespace: string | undefined; known: number; listener: Listener }): {
    close(): void;
  } {
    const group = namespace === undefined ? this.#everywhere : this.#groupOf(namespace);
    const close = () => {
      group.delete(watcher);
      if (namespace !== undefined && group.size === 0 && this.#byNamespace.get(namespace) === group) {
        this.#byNamespace.delete(namespace);
      }
    };
    const watcher: Watcher = { listener, known, close };
    group.add(watcher);
    return { close };
  }

  dispatch(events: readonly StoredEvent[]): void {
    for (const watcher of this.#everywhere) this.#tell(watcher, events);
    if (this.#byNamespace.size === 0) return;
    for (const [namespace, own] of Map.groupBy(events, (event) => event.current.namespace)) {
      for (const watcher of this.#byNamespace.get(namespace) ?? []) this.#tell(watcher, own);
    }
  }

  closeAll(): void {
    this.#everywhere.clear();
    this.#byNamespace.clear();
  }

  #groupOf(namespace: string): Set<Watcher> {
    const group = this.#byNamespace.get(namespace) ?? new Set();
    this.#byNamespace.set(namespace, group);
    return group;
  }

  #tell(watcher: Watcher, events: readonly StoredEvent[]): void {
    const first = events[0];
    // A listener that begins to watch while events are handed out has got these already, as history.
    const news = first !== undefined && first.revision > watcher.known ? events : events.filter(isNews(watcher));
    if (news.length === 0) return;
    try {
      watcher.listener(news);
    } catch (error) {
      watcher.close();
      this.#log(`a watch of ${first?.current.resource} was ended because its listener failed: ${String(error)}`);
    }
  }
}

function isNews({ known }: Watcher): (event: StoredEvent) => boolean {
  return (event) => event.revision > known;
}
