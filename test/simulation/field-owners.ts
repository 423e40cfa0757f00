import { equalJson, isJsonObject, type Json, type JsonObject } from '../../src/api/json.ts';
import { at } from './selectors.ts';

/** Who set which field of one object, well enough for controllers: lists are set as a whole. */
export class FieldOwners {
  /** Manager → the fields that it holds, each a path written as JSON. */
  readonly #known = new Map<string, Set<string>>();
  #entries: JsonObject[] | undefined;
  /** Writes that nobody has asked about yet: most never are. */
  #unread: { manager: string; before: JsonObject; after: JsonObject }[] = [];

  /** After a write that was no apply: what changed belongs to who changed it. */
  updated(manager: string, before: JsonObject, after: JsonObject): void {
    this.#unread.push({ manager, before, after });
  }

  /** The result of applying `wanted` to `live`, or the fields that others hold with other values. */
  apply(
    manager: string,
    live: JsonObject,
    wanted: JsonObject,
    force: boolean,
  ): { result: JsonObject } | { conflicts: { field: string; manager: string }[] } {
    this.#entries = undefined;
    const paths = leaves(wanted);
    const conflicts = paths.flatMap((path) =>
      equalJson(at(live, path), at(wanted, path))
        ? []
        : this.#othersWith(manager, path).map((other) => ({ field: `.${path.join('.')}`, manager: other })),
    );
    if (conflicts.length > 0 && !force) return { conflicts };

    const result = structuredClone(live);
    const kept = new Set(paths.map((path) => JSON.stringify(path)));
    for (const text of this.#fields.get(manager) ?? []) {
      if (kept.has(text)) continue;
      this.#fields.get(manager)?.delete(text);
      const path: string[] = JSON.parse(text);
      if (this.#othersWith(manager, path).length === 0) remove(result, path);
    }
    for (const path of paths) {
      const differs = !equalJson(at(live, path), at(wanted, path));
      set(result, path, at(wanted, path) ?? null);
      if (differs) this.#take(manager, path);
      else this.#of(manager).add(JSON.stringify(path));
    }
    return { result };
  }

  /** As `metadata.managedFields` tells it. */
  get entries(): JsonObject[] {
    if (this.#entries === undefined || this.#unread.length > 0) this.#entries = this.#told();
    return this.#entries;
  }

  #told(): JsonObject[] {
    return [...this.#fields].map(([manager, fields]) => ({
      manager: manager.replace(' (update)', ''),
      operation: manager.endsWith(' (update)') ? 'Update' : 'Apply',
      fieldsType: 'FieldsV1',
      fieldsV1: tree([...fields].map((text): string[] => JSON.parse(text))),
    }));
  }

  get #fields(): Map<string, Set<string>> {
    const unread = this.#unread;
    this.#unread = [];
    for (const { manager, before, after } of unread) {
      const changed = leaves(after).filter((path) => !equalJson(at(before, path), at(after, path)));
      for (const path of changed) this.#take(manager, path);
    }
    return this.#known;
  }

  #take(manager: string, path: readonly string[]): void {
    const text = JSON.stringify(path);
    for (const [other, fields] of this.#fields) if (other !== manager) fields.delete(text);
    this.#of(manager).add(text);
  }

  #of(manager: string): Set<string> {
    let fields = this.#fields.get(manager);
    if (fields === undefined) {
      fields = new Set();
      this.#fields.set(manager, fields);
    }
    return fields;
  }

  #othersWith(manager: string, path: readonly string[]): string[] {
    const text = JSON.stringify(path);
    return [...this.#fields].filter(([other, fields]) => other !== manager && fields.has(text)).map(([other]) => other);
  }
}

const UNTRACKED = new Set(['apiVersion', 'kind']);
const UNTRACKED_METADATA = new Set(
  'name namespace uid resourceVersion generation creationTimestamp deletionTimestamp managedFields'.split(' '),
);

function leaves(value: JsonObject, path: readonly string[] = []): string[][] {
  return Object.entries(value).flatMap(([key, inner]) => {
    if (path.length === 0 && UNTRACKED.has(key)) return [];
    if (path.length === 1 && path[0] === 'metadata' && UNTRACKED_METADATA.has(key)) return [];
    const here = [...path, key];
    return isJsonObject(inner) && Object.keys(inner).length > 0 ? leaves(inner, here) : [here];
  });
}

function set(target: JsonObject, path: readonly string[], value: Json): void {
  const [key, ...rest] = path;
  if (key === undefined) return;
  let next = value;
  if (rest.length > 0) {
    const inner = at(target, [key]);
    next = isJsonObject(inner) ? inner : {};
    set(next, rest, value);
  } else if (isJsonObject(value) && isJsonObject(at(target, [key]))) {
    return;
  }
  Object.defineProperty(target, key, { value: next, writable: true, enumerable: true, configurable: true });
}

function remove(target: JsonObject, [key, ...rest]: readonly string[]): void {
  if (key === undefined) return;
  const inner = at(target, [key]);
  if (rest.length > 0 && isJsonObject(inner)) {
    remove(inner, rest);
    if (Object.keys(inner).length > 0) return;
  }
  delete target[key];
}

function tree(paths: readonly string[][]): JsonObject {
  const root: JsonObject = {};
  for (const path of paths) {
    let node = root;
    for (const key of path) {
      const inner = at(node, [`f:${key}`]);
      const next: JsonObject = isJsonObject(inner) ? inner : {};
      node[`f:${key}`] = next;
      node = next;
    }
  }
  return root;
}
