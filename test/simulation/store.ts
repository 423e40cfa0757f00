import { equalJson, isJsonObject, type JsonObject } from '../../src/api/json.ts';
import { expired } from '../../src/api/status.ts';
import { deepFreeze } from '../../src/runtime/freeze.ts';
import { FieldOwners } from './field-owners.ts';

/** The objects of a simulated server, by resource (`plural.group`) and then by `namespace/name`, and what happened to them. */
export class Store {
  readonly #resources = new Map<string, Map<string, JsonObject>>();
  readonly #owners = new Map<string, FieldOwners>();
  readonly #listeners = new Set<(change: StoredChange) => void>();
  #history: StoredChange[] = [];
  #version = 1;
  /** In whose name things are stored from now on. */
  writer = 'somebody';
  #oldest = 1;

  get version(): number {
    return this.#version;
  }

  get(resource: string, key: string): JsonObject | undefined {
    return this.#resources.get(resource)?.get(key);
  }

  resources(): string[] {
    return [...this.#resources.keys()];
  }

  all(resource: string): JsonObject[] {
    return this.at(resource, this.#version).map(([, object]) => object);
  }

  /** The objects as they were at a version, in the order of their keys. */
  at(resource: string, version: number): [key: string, object: JsonObject][] {
    this.#refuseForgotten(version);
    const objects = new Map(this.#resources.get(resource));
    for (let i = this.#history.length - 1; i >= 0; i -= 1) {
      const change = this.#history[i];
      if (change === undefined || change.version <= version) break;
      if (change.resource !== resource) continue;
      if (change.before === undefined) objects.delete(change.key);
      else objects.set(change.key, change.before);
    }
    return [...objects].sort(([a], [b]) => (a < b ? -1 : 1));
  }

  since(version: number): StoredChange[] {
    this.#refuseForgotten(version);
    return this.#history.filter((change) => change.version > version);
  }

  /** Stores an object as it shall be, or removes it. What changes nothing does not happen. */
  put(resource: string, key: string, object: JsonObject | undefined): JsonObject {
    const before = this.get(resource, key);
    if (before !== undefined && object !== undefined && equalJson(content(before), content(object))) return before;
    this.#version += 1;
    const after = withVersion(object ?? before ?? {}, this.#version);
    // Everybody is shown the same one: who changes it shall hear of it.
    deepFreeze(after);
    let objects = this.#resources.get(resource);
    if (objects === undefined) {
      objects = new Map();
      this.#resources.set(resource, objects);
    }
    if (object === undefined) objects.delete(key);
    else objects.set(key, after);
    const deleted = object === undefined;
    const change = { version: this.#version, resource, key, before, after, deleted, by: this.writer };
    this.#history.push(change);
    for (const listener of this.#listeners) listener(change);
    return after;
  }

  onChange(listener: (change: StoredChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  ownersOf(uid: string): FieldOwners {
    let owners = this.#owners.get(uid);
    if (owners === undefined) {
      owners = new FieldOwners();
      this.#owners.set(uid, owners);
    }
    return owners;
  }

  /** Forgets what happened up to now: watches from before are too old. */
  compact(): void {
    this.#history = [];
    this.#oldest = this.#version;
  }

  #refuseForgotten(version: number): void {
    if (version < this.#oldest) throw expired(`too old resource version: ${version} (${this.#oldest})`);
  }
}

export interface StoredChange {
  version: number;
  resource: string;
  key: string;
  before: JsonObject | undefined;
  /** What it is now, or what it was last. */
  after: JsonObject;
  deleted: boolean;
  by: string;
}

function withVersion(object: JsonObject, version: number): JsonObject {
  const metadata = isJsonObject(object['metadata']) ? object['metadata'] : {};
  return { ...object, metadata: { ...metadata, resourceVersion: String(version) } };
}

/** Without what differs although nothing has changed. */
function content(object: JsonObject): JsonObject {
  const metadata = isJsonObject(object['metadata']) ? object['metadata'] : {};
  const { resourceVersion: _, managedFields: __, ...rest } = metadata;
  return { ...object, metadata: rest };
}
