import { equalJson, isJsonObject, type Json, type JsonObject } from '../../../api/json.ts';
import { fieldOf } from '../own-fields.ts';
import { allBelow, allFields } from './extract.ts';
import { type FieldSet, leaf, node, noFields, outside, union } from './field-set.ts';
import { itemsOf } from './list-items.ts';
import { fieldElement } from './path-element.ts';
import type { Shape } from './shape.ts';

/** How one object differs from another, by the fields that somebody can own. */
export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

export function compare(before: JsonObject, after: JsonObject, shape: Shape): Comparison {
  return differ(before, after, shape) ?? same;
}

/** The comparison without some fields and all below them. */
export function ignoring({ added, modified, removed }: Comparison, ignored: FieldSet): Comparison {
  return {
    added: outside(added, ignored),
    modified: outside(modified, ignored),
    removed: outside(removed, ignored),
  };
}

const same: Comparison = { added: noFields, modified: noFields, removed: noFields };
const modified: Comparison = { ...same, modified: leaf };

/** Undefined where nothing differs, which is nearly everywhere. */
function differ(before: Json | undefined, after: Json | undefined, shape: Shape): Comparison | undefined {
  if (before === after) return undefined;
  if (before === undefined) return after === undefined ? undefined : { ...same, added: allFields(after, shape) };
  if (after === undefined) return { ...same, removed: allFields(before, shape) };
  if (isObjectOrNull(before) && isObjectOrNull(after)) {
    const isLeaf = shape.isAtomicObject || (isVoid(before) && isVoid(after));
    return isLeaf ? differAsWhole(before, after) : differInFields(before ?? {}, after ?? {}, shape);
  }
  if (isListOrNull(before) && isListOrNull(after)) return differInItems(before, after, shape);
  if (typeof before !== 'object' && typeof after !== 'object') return modified;
  // Another kind of value: the old content goes, the new comes, and the field itself has changed.
  return {
    added: node(false, allBelow(after, shape)),
    modified: leaf,
    removed: node(false, allBelow(before, shape)),
  };
}

const differAsWhole = (before: Json, after: Json): Comparison | undefined =>
  equalJson(before, after) ? undefined : modified;

function differInFields(before: JsonObject, after: JsonObject, shape: Shape): Comparison | undefined {
  const differences = new Differences();
  for (const name of Object.keys(before)) {
    const old = before[name];
    const now = fieldOf(after, name);
    if (old === now) continue;
    const field = shape.field(name);
    const difference = differ(old, now ?? field?.absent, field?.shape ?? shape.others);
    if (difference !== undefined) differences.add(field?.element ?? fieldElement(name), difference);
  }
  for (const name of Object.keys(after)) {
    if (Object.hasOwn(before, name)) continue;
    const field = shape.field(name);
    const difference = differ(field?.absent, after[name], field?.shape ?? shape.others);
    if (difference !== undefined) differences.add(field?.element ?? fieldElement(name), difference);
  }
  return differences.result();
}

function differInItems(before: Json[] | null, after: Json[] | null, shape: Shape): Comparison | undefined {
  const old = itemsOf(before ?? [], shape);
  const now = itemsOf(after ?? [], shape);
  const isLeaf = old === undefined || now === undefined || (old.first.size === 0 && now.first.size === 0);
  if (isLeaf) return differAsWhole(before, after);
  const differences = new Differences();
  for (const [element, item] of old.first) {
    const twins = old.repeated.get(element);
    const newTwins = now.repeated.get(element);
    if (twins === undefined && newTwins === undefined) {
      const difference = differ(item, now.first.get(element), shape.item);
      if (difference !== undefined) differences.add(element, difference);
    } else if (twins !== undefined && newTwins !== undefined) {
      if (!equalJson([...twins], [...newTwins])) differences.add(element, modified);
    } else if (twins !== undefined) {
      // Items that shared one name become one: the name itself was all that could be owned of them.
      differences.add(element, { ...(differ(undefined, now.first.get(element), shape.item) ?? same), removed: leaf });
    } else {
      differences.add(element, { ...same, removed: allFields(item, shape.item), added: leaf });
    }
  }
  for (const [element, item] of now.first) {
    if (old.first.has(element)) continue;
    const added = now.repeated.has(element) ? leaf : allFields(item, shape.item);
    differences.add(element, { ...same, added });
  }
  return differences.result();
}

/** Collects what differs below one value. */
class Differences {
  #added: Map<string, FieldSet> | undefined;
  #modified: Map<string, FieldSet> | undefined;
  #removed: Map<string, FieldSet> | undefined;

  add(element: string, { added, modified, removed }: Comparison): void {
    if (added !== noFields) this.#added = (this.#added ?? new Map()).set(element, added);
    if (modified !== noFields) this.#modified = (this.#modified ?? new Map()).set(element, modified);
    if (removed !== noFields) this.#removed = (this.#removed ?? new Map()).set(element, removed);
  }

  result(): Comparison | undefined {
    if (this.#added === undefined && this.#modified === undefined && this.#removed === undefined) return undefined;
    return {
      added: this.#added === undefined ? noFields : node(false, this.#added),
      modified: this.#modified === undefined ? noFields : node(false, this.#modified),
      removed: this.#removed === undefined ? noFields : node(false, this.#removed),
    };
  }
}

/** What the changed fields of a comparison are, whether they came or took another value. */
export const changedFields = ({ added, modified }: Comparison): FieldSet => union(modified, added);

const isObjectOrNull = (value: Json): value is JsonObject | null => value === null || isJsonObject(value);
const isListOrNull = (value: Json): value is Json[] | null => value === null || Array.isArray(value);
const isVoid = (value: JsonObject | null): boolean => value === null || Object.keys(value).length === 0;
