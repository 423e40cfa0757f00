import type { Json, JsonObject } from '../../api/json.ts';

/** The value of a field the object itself has. `object[key]` alone would find `constructor` and its like in every object. */
export function fieldOf(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Sets a field whatever it is called: plain assignment to `__proto__` would change the prototype instead. */
export function setField(object: JsonObject, key: string, value: Json): void {
  if (key === '__proto__') {
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  } else {
    object[key] = value;
  }
}
