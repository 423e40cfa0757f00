import { isJsonObject, type Json, type JsonObject } from '../../api/json.ts';
import { MAX_DEPTH } from '../schema/depth.ts';
import { arrayIndex } from './json-pointer.ts';
import { fieldOf, setField } from './own-fields.ts';

/** Why an operation cannot be applied to the document as it stands; the message is the second half of a sentence. */
export class CannotApply extends Error {}

/**
 * A document under change that leaves the original as it was. Containers are copied once, on the first change inside them, so
 * that many operations on one long array cost one copy and not one each.
 */
export class WorkingCopy {
  /** Bytes of JSON that copies may add: without a bound, thirty copies of a document into itself make it a billion times larger. */
  static readonly copyBudget = 3 * 1024 * 1024;
  /** Array items that insertions and removals may push aside in total. */
  static readonly shiftBudget = 100_000_000;

  #root: Json;
  #mine = new Set<Json[] | JsonObject>();
  #copied = 0;
  #shifted = 0;

  constructor(document: Json) {
    this.#root = document;
  }

  get document(): Json {
    return this.#root;
  }

  read(path: readonly string[]): Json {
    let value = this.#root;
    for (const token of path) value = childOf(value, token);
    return value;
  }

  add(path: readonly string[], value: Json): void {
    const last = path.at(-1);
    if (last === undefined) {
      this.#root = value;
      return;
    }
    const parent = this.#writable(path);
    if (!Array.isArray(parent)) {
      setField(parent, last, value);
      return;
    }
    const index = last === '-' ? parent.length : arrayIndex(last);
    if (index === undefined) throw new CannotApply(`${quoted(last)} is not an array position`);
    if (index > parent.length)
      throw new CannotApply(`position ${index} is beyond the end of an array of ${parent.length}`);
    this.#shift(parent.length - index);
    parent.splice(index, 0, value);
  }

  remove(path: readonly string[]): Json {
    const last = path.at(-1);
    if (last === undefined) throw new CannotApply('the whole document cannot be removed');
    const removed = this.read(path);
    const parent = this.#writable(path);
    if (Array.isArray(parent)) {
      const index = Number(last);
      this.#shift(parent.length - index);
      parent.splice(index, 1);
    } else {
      delete parent[last];
    }
    return removed;
  }

  replace(path: readonly string[], value: Json): void {
    this.read(path);
    const last = path.at(-1);
    if (last === undefined) {
      this.#root = value;
      return;
    }
    const parent = this.#writable(path);
    if (Array.isArray(parent)) parent[Number(last)] = value;
    else setField(parent, last, value);
  }

  /** A second, independent instance of what is at `path`. */
  duplicate(path: readonly string[]): Json {
    return this.#duplicate(this.read(path), 0);
  }

  #duplicate(value: Json, depth: number): Json {
    if (depth > MAX_DEPTH) throw new CannotApply(`the copy would nest deeper than ${MAX_DEPTH} levels`);
    this.#copied += sizeOf(value);
    if (this.#copied > WorkingCopy.copyBudget) {
      throw new CannotApply(`the copies of this patch add up to more than ${WorkingCopy.copyBudget} bytes`);
    }
    if (Array.isArray(value)) return value.map((item) => this.#duplicate(item, depth + 1));
    if (!isJsonObject(value)) return value;
    const copy: JsonObject = {};
    for (const key of Object.keys(value)) {
      this.#copied += key.length + 4;
      setField(copy, key, this.#duplicate(value[key] ?? null, depth + 1));
    }
    return copy;
  }

  #shift(items: number): void {
    this.#shifted += items;
    if (this.#shifted > WorkingCopy.shiftBudget) {
      throw new CannotApply('the patch moves too many array items; send the changed array whole with "replace"');
    }
  }

  /** The container that holds the last token, with everything on the way to it made ours. */
  #writable(path: readonly string[]): Json[] | JsonObject {
    let container = this.#own(this.#root, undefined, '');
    for (let i = 0; i < path.length - 1; i++) {
      const token = path[i] ?? '';
      container = this.#own(childOf(container, token), container, token);
    }
    return container;
  }

  #own(value: Json, parent: Json[] | JsonObject | undefined, token: string): Json[] | JsonObject {
    if (typeof value !== 'object' || value === null) throw new CannotApply(notAContainer(value));
    if (this.#mine.has(value)) return value;
    const copy = Array.isArray(value) ? value.slice() : { ...value };
    this.#mine.add(copy);
    if (parent === undefined) this.#root = copy;
    else if (Array.isArray(parent)) parent[Number(token)] = copy;
    else setField(parent, token, copy);
    return copy;
  }
}

function childOf(value: Json, token: string): Json {
  if (Array.isArray(value)) {
    const index = arrayIndex(token);
    if (index === undefined) throw new CannotApply(`${quoted(token)} is not the position of an item in an array`);
    const item = value[index];
    if (item === undefined) throw new CannotApply(`there is no item ${index} in an array of ${value.length}`);
    return item;
  }
  if (!isJsonObject(value)) throw new CannotApply(notAContainer(value));
  const child = fieldOf(value, token);
  if (child === undefined) throw new CannotApply(`there is no field ${quoted(token)}`);
  return child;
}

function sizeOf(value: Json): number {
  if (typeof value === 'string') return value.length + 3;
  return typeof value === 'object' && value !== null ? 3 : 5;
}

const notAContainer = (value: Json): string =>
  `the path leads through ${value === null ? 'null' : `a ${typeof value}`}, which has no fields`;

const quoted = (token: string): string => JSON.stringify(token.length <= 100 ? token : `${token.slice(0, 100)}…`);
