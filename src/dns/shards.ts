/**
 * Spreads items over as few shards as keep each below `limit`. An item's shard follows from its place alone, so a change
 * of one item changes one shard; only when the number of shards doubles, all of them change.
 */
export function shards<T>(
  items: readonly T[],
  { placeOf, sizeOf, limit }: { placeOf: (item: T) => number; sizeOf: (item: T) => number; limit: number },
): T[][] {
  const total = items.reduce((sum, item) => sum + sizeOf(item), 0);
  // Shards are not equally full: at half of the limit on average none is above it.
  let count = 1;
  while (total > (count === 1 ? limit : (limit / 2) * count)) count *= 2;
  const result: T[][] = Array.from({ length: count }, () => []);
  for (const item of items) result[count === 1 ? 0 : placeOf(item) % count]?.push(item);
  return result;
}

/**
 * In which order shards are written, so that nobody who reads meanwhile misses a line that goes from one to another: those that
 * only gain lines come first.
 */
export function losersLast(before: readonly string[], after: readonly string[]): number[] {
  const loses = after.map((text, i) => text !== before[i] && losesLines(before[i] ?? '', text));
  return [...after.keys()].sort((a, b) => Number(loses[a]) - Number(loses[b]));
}

function losesLines(before: string, after: string): boolean {
  const kept = new Set(after.split('\n'));
  return before.split('\n').some((line) => !kept.has(line));
}
