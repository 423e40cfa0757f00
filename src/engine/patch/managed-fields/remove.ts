import { isJsonObject, type Json, type JsonObject } from '../../../api/json.ts';
import { setField } from '../own-fields.ts';
import { type FieldSet, node } from './field-set.ts';
import { itemElement, itemsOf } from './list-items.ts';
import { fieldElement } from './path-element.ts';
import type { Shape } from './shape.ts';

/**
 * The object without the given fields and list items. A container that loses its last content stays, empty: it is in the set
 * itself when it is to go.
 */
export function removeFields(object: JsonObject, { below }: FieldSet, shape: Shape): JsonObject {
  if (below.size === 0 || shape.isAtomicObject) return object;
  const rest: JsonObject = {};
  let isChanged = false;
  for (const name of Object.keys(object)) {
    const field = shape.field(name);
    const content = object[name] ?? null;
    const gone = below.get(field?.element ?? fieldElement(name));
    const left = withoutFields(content, gone, field?.shape ?? shape.others);
    if (left !== content) isChanged = true;
    if (left !== undefined) setField(rest, name, left);
  }
  return isChanged ? rest : object;
}

/** Undefined when the value itself goes. */
function withoutFields(value: Json, gone: FieldSet | undefined, shape: Shape): Json | undefined {
  if (gone === undefined) return value;
  if (gone.owned) return undefined;
  if (Array.isArray(value)) return withoutItems(value, gone, shape);
  return isJsonObject(value) ? removeFields(value, gone, shape) : value;
}

function withoutItems(list: Json[], { below }: FieldSet, shape: Shape): Json[] {
  if (itemsOf(list, shape) === undefined) return list;
  const rest: Json[] = [];
  let isChanged = false;
  for (const item of list) {
    const left = withoutFields(item, below.get(itemElement(item, shape) ?? ''), shape.item);
    if (left !== item) isChanged = true;
    // Without its keys an item cannot stay.
    if (left !== undefined && (left === item || itemElement(left, shape) !== undefined)) rest.push(left);
  }
  return isChanged ? rest : list;
}

/**
 * The set with every declared field that leads to one of its fields. Such fields are left out of what managers own, but whoever
 * owns something in `spec` needs `spec` to exist.
 */
export function withDeclaredParents(set: FieldSet, shape: Shape): FieldSet {
  if (set.below.size === 0) return set;
  let below: Map<string, FieldSet> | undefined;
  for (const [element, child] of set.below) {
    const isField = element.startsWith('f:');
    const field = isField ? shape.field(element.slice(2)) : undefined;
    const inner = withDeclaredParents(child, isField ? (field?.shape ?? shape.others) : shape.item);
    const parent = field === undefined || inner.owned ? inner : node(true, inner.below);
    if (parent === child) continue;
    below ??= new Map(set.below);
    below.set(element, parent);
  }
  return below === undefined ? set : { owned: set.owned, below };
}
