import type { Kind } from '../api/kind.ts';
import type { ApiObject } from '../api/object.ts';
import type { Cache, Caches } from './cache.ts';
import type { Informer } from './informer.ts';
import type { Informers } from './informers.ts';
import type { Scope } from './paths.ts';

/** What one controller reads: the kinds that it declared, each in one scope. */
export class Sources implements Caches {
  readonly #controller: string;
  readonly #informers: Informers;
  readonly #scopes = new Map<string, Scope>();
  /** What was found before: caches are asked for with every object. */
  readonly #found = new Map<Kind, Cache<ApiObject>>();
  readonly #synced: Promise<void>[] = [];

  constructor(controller: string, informers: Informers) {
    this.#controller = controller;
    this.#informers = informers;
  }

  add<T extends ApiObject>(kind: Kind<T>, scope: Scope = {}): Informer<T> {
    const before = this.#scopes.get(nameOf(kind));
    if (before !== undefined && JSON.stringify(before) !== JSON.stringify(scope)) {
      throw new Error(
        `controller ${this.#controller} declares ${nameOf(kind)} in two scopes; it would not know which one is meant`,
      );
    }
    this.#scopes.set(nameOf(kind), scope);
    const informer = this.#informers.of(kind, scope);
    this.#synced.push(informer.whenSynced());
    return informer;
  }

  of<T extends ApiObject>(kind: Kind<T>): Cache<T> {
    const found = this.#found.get(kind) ?? this.#find(kind);
    // Whoever asks with the same kind has put it there; a map cannot say that.
    return found as unknown as Cache<T>;
  }

  #find(kind: Kind): Cache<ApiObject> {
    const scope = this.#scopes.get(nameOf(kind));
    if (scope === undefined) {
      throw new Error(
        `controller ${this.#controller} reads ${nameOf(kind)}: it must declare it under for, owns or watches`,
      );
    }
    const { cache } = this.#informers.of<ApiObject>(kind, scope);
    this.#found.set(kind, cache);
    return cache;
  }

  async whenSynced(): Promise<void> {
    await Promise.all(this.#synced);
  }
}

const nameOf = ({ group, plural }: Kind): string => (group === '' ? plural : `${plural}.${group}`);
