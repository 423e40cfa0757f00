import { equalJson, isJsonObject, type JsonObject } from '../api/json.ts';

/** The merge patch (RFC 7386) that turns `before` into `after`, or undefined when they are equal. */
export function mergePatch(before: JsonObject, after: JsonObject): JsonObject | undefined {
  const changes: JsonObject = Object.create(null);
  for (const key of Object.keys(before)) if (!Object.hasOwn(after, key)) changes[key] = null;
  for (const [key, wanted] of Object.entries(after)) {
    const found = Object.hasOwn(before, key) ? before[key] : undefined;
    if (equalJson(found, wanted)) continue;
    changes[key] = isJsonObject(found) && isJsonObject(wanted) ? (mergePatch(found, wanted) ?? wanted) : wanted;
  }
  return Object.keys(changes).length === 0 ? undefined : changes;
}
