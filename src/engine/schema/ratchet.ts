import type { Json, JsonObject } from '../../api/json.ts';
import { equalJson, isJsonObject } from '../../api/json.ts';
import type { JsonSchema } from '../../api/json-schema.ts';
import { memberSchema } from './member-schema.ts';

/** Finds, for an item of a list, the item of an older list that it was; of lists of type `map`, that with the same keys. */
export function itemsBefore(schema: JsonSchema, old: Json | undefined): (item: Json) => Json | undefined {
  const keys = schema['x-kubernetes-list-map-keys'];
  if (!Array.isArray(old) || schema['x-kubernetes-list-type'] !== 'map' || keys === undefined || keys.length === 0) {
    return () => undefined;
  }
  let byKey: Map<string, Json> | undefined;
  return (item) => {
    byKey ??= indexed(old, keys);
    const key = keyOf(item, keys);
    return key === undefined ? undefined : byKey.get(key);
  };
}

function indexed(items: readonly Json[], keys: readonly string[]): Map<string, Json> {
  const byKey = new Map<string, Json>();
  for (const item of items) {
    const key = keyOf(item, keys);
    if (key !== undefined && !byKey.has(key)) byKey.set(key, item);
  }
  return byKey;
}

/** Undefined where a key is missing or no scalar: such an item corresponds to none. */
function keyOf(item: Json, keys: readonly string[]): string | undefined {
  if (!isJsonObject(item)) return undefined;
  const values: Json[] = [];
  for (const key of keys) {
    const value = Object.hasOwn(item, key) ? item[key] : undefined;
    if (value === undefined || typeof value === 'object') return undefined;
    values.push(value);
  }
  return JSON.stringify(values);
}

export const memberBefore = (old: Json | undefined, key: string): Json | undefined =>
  isJsonObject(old) && Object.hasOwn(old, key) ? old[key] : undefined;

/** Whether a value is what it was; the order of a list of type `map` does not matter. */
export function isUnchanged(value: Json, old: Json | undefined, schema: JsonSchema | undefined): boolean {
  if (schema === undefined || typeof value !== 'object' || value === null) return equalJson(value, old);
  if (Array.isArray(value)) {
    if (!Array.isArray(old) || old.length !== value.length) return false;
    if (equalJson(value, old)) return true;
    if (schema['x-kubernetes-list-type'] !== 'map') return false;
    const before = itemsBefore(schema, old);
    return value.every((item) => {
      const was = before(item);
      return was !== undefined && isUnchanged(item, was, schema.items);
    });
  }
  return isJsonObject(old) && sameMembers(value, old, schema);
}

function sameMembers(value: JsonObject, old: JsonObject, schema: JsonSchema): boolean {
  const keys = Object.keys(value);
  if (keys.length !== Object.keys(old).length) return false;
  return keys.every(
    (key) => Object.hasOwn(old, key) && isUnchanged(value[key] ?? null, old[key], memberSchema(schema, key)),
  );
}
