import type { Json, JsonObject } from '../../../api/json.ts';
import { type FieldSet, leaf, node, noFields } from './field-set.ts';
import { itemsOf } from './list-items.ts';
import { fieldElement } from './path-element.ts';
import type { Shape } from './shape.ts';

/**
 * What a manager owns that applies `object`: the values and list items it names. An object field that the schema declares is
 * not owned for being on the way to something; an entry of a map is.
 */
export const appliedFields = (object: JsonObject, shape: Shape): FieldSet =>
  node(false, appliedBelow(object, shape) ?? leaf.below);

/** Undefined where ownership ends at the value instead of going on inside it. */
function appliedBelow(value: Json, shape: Shape): ReadonlyMap<string, FieldSet> | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const below = new Map<string, FieldSet>();
  if (Array.isArray(value)) {
    const items = itemsOf(value, shape);
    if (items === undefined) return undefined;
    for (const [element, item] of items.first) {
      const isRepeated = items.repeated.has(element);
      below.set(element, node(true, (isRepeated ? undefined : appliedBelow(item, shape.item)) ?? leaf.below));
    }
    return below;
  }
  const names = Object.keys(value);
  if (shape.isAtomicObject || names.length === 0) return undefined;
  for (const name of names) {
    const field = shape.field(name);
    const inner = appliedBelow(value[name] ?? null, field?.shape ?? shape.others);
    const set = inner === undefined ? leaf : node(field === undefined, inner);
    // An empty keyed list of a declared field leaves nothing to own.
    if (set !== noFields) below.set(field?.element ?? fieldElement(name), set);
  }
  return below;
}

/** Every path in a value, the parents included: what comes with it, or goes. */
export const allFields = (value: Json, shape: Shape): FieldSet => node(true, allBelow(value, shape));

export function allBelow(value: Json, shape: Shape): ReadonlyMap<string, FieldSet> {
  if (typeof value !== 'object' || value === null) return leaf.below;
  const below = new Map<string, FieldSet>();
  if (Array.isArray(value)) {
    const items = itemsOf(value, shape);
    if (items === undefined) return leaf.below;
    for (const [element, item] of items.first) {
      below.set(element, items.repeated.has(element) ? leaf : allFields(item, shape.item));
    }
    return below;
  }
  if (shape.isAtomicObject) return leaf.below;
  for (const name of Object.keys(value)) {
    const field = shape.field(name);
    const content = value[name] ?? null;
    const inner = field?.shape ?? shape.others;
    below.set(field?.element ?? fieldElement(name), allFields(content, inner));
  }
  return below;
}
