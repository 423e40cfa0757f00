import { isJsonObject, type Json, type JsonObject } from '../../api/json.ts';

/**
 * Reads objects as Go reads them into its types: what is absent or null is the zero value. What has another type is taken
 * for absent too; the schema has told its sender already.
 */
export const textAt = (object: JsonObject | undefined, key: string): string => {
  const value = object?.[key];
  return typeof value === 'string' ? value : '';
};

export const numberAt = (object: JsonObject | undefined, key: string): number => optionalNumberAt(object, key) ?? 0;

export const optionalNumberAt = (object: JsonObject | undefined, key: string): number | undefined => {
  const value = object?.[key];
  return typeof value === 'number' ? value : undefined;
};

export const flagAt = (object: JsonObject | undefined, key: string): boolean => object?.[key] === true;

export const objectAt = (object: JsonObject | undefined, key: string): JsonObject | undefined => {
  const value = object?.[key];
  return isJsonObject(value) ? value : undefined;
};

/** The items of a list of objects, at their places: an item that is no object reads as an empty one. */
export const objectsAt = (object: JsonObject | undefined, key: string): JsonObject[] => {
  const value = object?.[key];
  return Array.isArray(value) ? value.map((item) => (isJsonObject(item) ? item : {})) : [];
};

/** The objects in a list, to change them where they are. */
export const membersAt = (object: JsonObject | undefined, key: string): JsonObject[] => {
  const value = object?.[key];
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
};

export const textsAt = (object: JsonObject | undefined, key: string): string[] => {
  const value = object?.[key];
  return Array.isArray(value) ? value.map((item) => (typeof item === 'string' ? item : '')) : [];
};

/** A map of texts. Its keys are the sender's choice, hence a Map. */
export const textMapAt = (object: JsonObject | undefined, key: string): Map<string, string> =>
  new Map(entriesAt(object, key).map(([name, value]) => [name, typeof value === 'string' ? value : '']));

export const entriesAt = (object: JsonObject | undefined, key: string): [string, Json][] =>
  Object.entries(objectAt(object, key) ?? {});

export const isAbsent = (object: JsonObject | undefined, key: string): boolean => {
  const value = object?.[key];
  return value === undefined || value === null;
};

export const metadataOf = (object: JsonObject): JsonObject => objectAt(object, 'metadata') ?? {};
export const nameOf = (object: JsonObject): string => textAt(metadataOf(object), 'name');
export const specOf = (object: JsonObject): JsonObject => objectAt(object, 'spec') ?? {};
export const statusOf = (object: JsonObject): JsonObject => objectAt(object, 'status') ?? {};

/** The object under a key, made if it is not there. */
export function objectMadeAt(object: JsonObject, key: string): JsonObject {
  const found = objectAt(object, key);
  if (found !== undefined) return found;
  const made: JsonObject = {};
  object[key] = made;
  return made;
}

/** Gives a field its default, if it has no value: Go takes null and the empty text for none. */
export function fill(object: JsonObject, key: string, value: Json): void {
  if (isAbsent(object, key) || object[key] === '') object[key] = value;
}

/** As `fill`, where null is no value but the empty text is one: optional fields, which Go keeps behind a pointer. */
export function fillAbsent(object: JsonObject, key: string, value: Json): void {
  if (isAbsent(object, key)) object[key] = value;
}

/** Sets a key that is the sender's choice: assigning to `__proto__` would change the object's prototype instead. */
export function setKey(holder: JsonObject | Json[], key: string, value: Json): void {
  Object.defineProperty(holder, key, { value, enumerable: true, configurable: true, writable: true });
}
