import type { Json, JsonObject } from '../../api/json.ts';
import { isJsonObject } from '../../api/json.ts';
import type { JsonSchema } from '../../api/json-schema.ts';
import type { FieldError } from '../../api/status.ts';
import type { Place } from './place.ts';

/** A list of type `set` has every item once, one of type `map` every combination of keys. Tells the first repetition of each. */
export function duplicateItems(items: readonly Json[], schema: JsonSchema, place: Place): FieldError[] {
  if (items.length < 2) return [];
  switch (schema['x-kubernetes-list-type']) {
    case 'set':
      return repetitions(items).map((i) => duplicate(place, i, items[i] ?? null));
    case 'map': {
      const keys = schema['x-kubernetes-list-map-keys'] ?? [];
      const [onlyKey] = keys;
      const identify =
        keys.length === 1 && onlyKey !== undefined ? valueAt(onlyKey) : (item: Json) => identityOf(item, keys);
      return repetitions(items, identify).map((i) => duplicate(place, i, identityOf(items[i] ?? null, keys)));
    }
    default:
      return [];
  }
}

export const hasRepeats = (items: readonly Json[]): boolean => repetitions(items).length > 0;

function duplicate(place: Place, index: number, value: Json): FieldError {
  place.enterItem(index);
  const fault: FieldError = { type: 'Duplicate', field: place.bracketed(), value, detail: '' };
  place.leave();
  return fault;
}

function identityOf(item: Json, keys: readonly string[]): JsonObject {
  const given = isJsonObject(item) ? item : {};
  return Object.fromEntries(keys.filter((key) => Object.hasOwn(given, key)).map((key) => [key, given[key] ?? null]));
}

/** Of items without the key, all are the same. */
const NO_KEY = {};
const valueAt = (key: string) => (item: Json) =>
  isJsonObject(item) && Object.hasOwn(item, key) ? (item[key] ?? null) : NO_KEY;

/** Where something appears for the second time; the third and later ones are not told. */
function repetitions(items: readonly Json[], identify: (item: Json) => Json = (item) => item): number[] {
  const scalars = new Map<Json, number>();
  const compounds = new Map<Json, number>();
  const repeated: number[] = [];
  items.forEach((each, i) => {
    const item = identify(each);
    const isCompound = typeof item === 'object' && item !== null;
    const seen = isCompound ? compounds : scalars;
    const key = isCompound ? canonical(item) : item;
    const times = seen.get(key) ?? 0;
    seen.set(key, times + 1);
    if (times === 1) repeated.push(i);
  });
  return repeated;
}

/** Text that is the same for values that are equal, whatever the order of their fields. */
function canonical(value: Json): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonical(value[key] ?? null)}`);
  return `{${members.join()}}`;
}
