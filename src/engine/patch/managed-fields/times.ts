import { equalJson, isJsonObject, type Json, type JsonObject } from '../../../api/json.ts';
import { managedFieldsOf, withManagedFields } from './metadata.ts';

/**
 * `updated` with the managedFields of `live` when all that differs between the two objects is the time of an entry: a write that
 * says again what is so already must not make a new version.
 */
export function keepIdleTimes(live: JsonObject, updated: JsonObject): JsonObject {
  const before = managedFieldsOf(live);
  const after = managedFieldsOf(updated);
  if (!Array.isArray(before) || !Array.isArray(after) || before.length !== after.length) return updated;
  if (!after.every((entry, index) => equalJson(withoutTime(entry), withoutTime(before[index] ?? null)))) return updated;
  const settled = withManagedFields(updated, before);
  return equalJson(withManagedFields(live, before), settled) ? settled : updated;
}

function withoutTime(entry: Json): Json {
  if (!isJsonObject(entry)) return entry;
  const { time: _, ...rest } = entry;
  return rest;
}
