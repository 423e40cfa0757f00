import type { Json } from '../../api/json.ts';

/** The value with everything in it frozen: whoever changes it throws. */
export function frozen<T extends Json>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const child of Object.values(value)) frozen(child);
    Object.freeze(value);
  }
  return value;
}

/** An object in an object in an object … */
export function nested(levels: number): Json {
  let value: Json = 'bottom';
  for (let i = 0; i < levels; i++) value = { a: value };
  return value;
}
