import { isJsonObject, type Json } from '../../../api/json.ts';
import { fieldOf } from '../own-fields.ts';
import { keyElement, valueElement } from './path-element.ts';
import type { Shape } from './shape.ts';

/** The items of a list by the path element that names them. */
export interface ListItems {
  /** Each element once, with its first item, in the order of the list. */
  readonly first: ReadonlyMap<string, Json>;
  /** Elements that name several items, which such lists should not have, with all of these. */
  readonly repeated: ReadonlyMap<string, readonly Json[]>;
}

const noneRepeated: ReadonlyMap<string, readonly Json[]> = new Map();

/**
 * Undefined where the list has one owner as a whole: it is atomic, or holds something that its keys do not name (validation
 * will refuse that list, but ownership is worked out first).
 */
export function itemsOf(list: readonly Json[], shape: Shape): ListItems | undefined {
  if (shape.list === 'atomic') return undefined;
  const first = new Map<string, Json>();
  let repeated: Map<string, Json[]> | undefined;
  for (const item of list) {
    const element = itemElement(item, shape);
    if (element === undefined) return undefined;
    const twin = first.get(element);
    if (twin === undefined) {
      first.set(element, item);
      continue;
    }
    repeated ??= new Map();
    const twins = repeated.get(element);
    if (twins === undefined) repeated.set(element, [twin, item]);
    else twins.push(item);
  }
  return { first, repeated: repeated ?? noneRepeated };
}

/** The path element that names an item of a set or a keyed list; undefined when there is none. */
export function itemElement(item: Json, shape: Shape): string | undefined {
  if (shape.list === 'set') return typeof item === 'object' ? undefined : valueElement(item);
  if (!isJsonObject(item)) return undefined;
  const keys: [string, Json][] = [];
  for (const key of shape.keys) {
    const value = fieldOf(item, key.name) ?? key.default;
    if (value === undefined) return undefined;
    keys.push([key.name, value]);
  }
  return keyElement(keys);
}
