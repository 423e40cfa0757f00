import type { Kind } from '../api/kind.ts';
import type { ApiObject } from '../api/object.ts';
import { keyOf, keyOfObject, type Ref } from './ref.ts';

/** What is known of the objects of a kind. They are shared by everybody: read them, never change them. */
export interface Cache<T extends ApiObject> {
  get(ref: Ref): T | undefined;
  /** All, or those of a namespace. */
  list(namespace?: string): T[];
  /** Those that the index has under this key. The first use of an index builds it. */
  by(index: Index<T>, key: string): T[];
  readonly size: number;
}

/** The caches that a controller has asked for, by kind. */
export interface Caches {
  of<T extends ApiObject>(kind: Kind<T>): Cache<T>;
}

/** A way to find objects: declare it once, at the top of a module, and hand it to `by`. */
export interface Index<T extends ApiObject> {
  readonly kind: Kind<T>;
  /** The keys under which an object is found; depends on nothing but the object. */
  readonly keys: (object: T) => readonly string[];
}

export const index = <T extends ApiObject>(kind: Kind<T>, keys: Index<T>['keys']): Index<T> => ({ kind, keys });

/** Costs of a change grow with the number of indexes, never with the number of objects. */
export class ObjectCache<T extends ApiObject> implements Cache<T> {
  readonly #objects = new Map<string, T>();
  readonly #byNamespace = new Buckets<T>((object) => [object.metadata.namespace ?? '']);
  readonly #byIndex = new Map<Index<T>, Buckets<T>>();

  get size(): number {
    return this.#objects.size;
  }

  get(ref: Ref): T | undefined {
    return this.#objects.get(keyOf(ref));
  }

  list(namespace?: string): T[] {
    return namespace === undefined ? [...this.#objects.values()] : this.#byNamespace.get(namespace);
  }

  by(index: Index<T>, key: string): T[] {
    let buckets = this.#byIndex.get(index);
    if (buckets === undefined) {
      buckets = new Buckets(index.keys);
      for (const [name, object] of this.#objects) buckets.put(name, undefined, object);
      this.#byIndex.set(index, buckets);
    }
    return buckets.get(key);
  }

  keys(): IterableIterator<string> {
    return this.#objects.keys();
  }

  find(key: string): T | undefined {
    return this.#objects.get(key);
  }

  set(object: T): void {
    const key = keyOfObject(object);
    const before = this.#objects.get(key);
    this.#objects.set(key, object);
    for (const buckets of this.#all()) buckets.put(key, before, object);
  }

  delete(key: string): void {
    const before = this.#objects.get(key);
    if (before === undefined) return;
    this.#objects.delete(key);
    for (const buckets of this.#all()) buckets.put(key, before, undefined);
  }

  *#all(): Generator<Buckets<T>> {
    yield this.#byNamespace;
    yield* this.#byIndex.values();
  }
}

/** Index key → the objects under it, by their own key. Most buckets hold one object, which then stands for itself. */
class Buckets<T extends ApiObject> {
  readonly #keys: Index<T>['keys'];
  readonly #buckets = new Map<string, T | Map<string, T>>();

  constructor(keys: Index<T>['keys']) {
    this.#keys = keys;
  }

  get(indexKey: string): T[] {
    const bucket = this.#buckets.get(indexKey);
    if (bucket === undefined) return [];
    return bucket instanceof Map ? [...bucket.values()] : [bucket];
  }

  put(key: string, before: T | undefined, now: T | undefined): void {
    const kept = new Set(now === undefined ? [] : this.#keys(now));
    if (before !== undefined) {
      for (const indexKey of new Set(this.#keys(before))) if (!kept.has(indexKey)) this.#remove(indexKey, key);
    }
    if (now !== undefined) for (const indexKey of kept) this.#add(indexKey, key, now);
  }

  #add(indexKey: string, key: string, object: T): void {
    const bucket = this.#buckets.get(indexKey);
    if (bucket instanceof Map) bucket.set(key, object);
    else if (bucket === undefined || keyOfObject(bucket) === key) this.#buckets.set(indexKey, object);
    else
      this.#buckets.set(
        indexKey,
        new Map([
          [keyOfObject(bucket), bucket],
          [key, object],
        ]),
      );
  }

  #remove(indexKey: string, key: string): void {
    const bucket = this.#buckets.get(indexKey);
    if (bucket instanceof Map) bucket.delete(key);
    if (!(bucket instanceof Map) || bucket.size === 0) this.#buckets.delete(indexKey);
  }
}
