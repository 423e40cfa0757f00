/** Makes a value and everything in it unchangeable. Goes by a list of its own: nesting may be deeper than the stack. */
export function deepFreeze(value: unknown): void {
  const left = [value];
  for (let item = left.pop(); item !== undefined; item = left.pop()) {
    if (typeof item !== 'object' || item === null || Object.isFrozen(item)) continue;
    Object.freeze(item);
    for (const inner of Object.values(item)) if (typeof inner === 'object') left.push(inner);
  }
}
