/** What JSON can say. Bytes from outside are `unknown` until something has looked at them. */
export type Json = null | boolean | number | string | Json[] | JsonObject;
export type JsonObject = { [key: string]: Json };

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A copy that shares nothing. Several times faster than structuredClone, which is made for more than JSON. */
export function cloneJson<T extends Json>(value: T): T;
export function cloneJson(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(cloneJson);
  // Spreading copies the layout in one go, and a key that is called `__proto__` as well.
  const copy = { ...value };
  for (const key in copy) {
    const child = copy[key];
    if (typeof child === 'object' && child !== null) copy[key] = cloneJson(child);
  }
  return copy;
}

/** Equality by value; the order of keys does not matter, the order of array items does. */
export function equalJson(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, i) => equalJson(item, b[i]));
  }
  if (!isJsonObject(a) || !isJsonObject(b)) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && equalJson(a[key], b[key]));
}
