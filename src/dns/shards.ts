import { createHash } from 'node:crypto';

/**
 * Spreads items over as few shards as keep each below `limit`. An item's shard follows from its key alone, so a change
 * of one item changes one shard; only when the number of shards doubles, all of them change.
 */
export function shards<T>(
  items: readonly T[],
  { keyOf, sizeOf, limit }: { keyOf: (item: T) => string; sizeOf: (item: T) => number; limit: number },
): T[][] {
  const total = items.reduce((sum, item) => sum + sizeOf(item), 0);
  // Shards are not equally full: at half of the limit on average none is above it.
  let count = 1;
  while (total > (count === 1 ? limit : (limit / 2) * count)) count *= 2;
  const result: T[][] = Array.from({ length: count }, () => []);
  for (const item of items) result[count === 1 ? 0 : shardOf(keyOf(item), count)]?.push(item);
  return result;
}

const shardOf = (key: string, count: number): number => createHash('sha1').update(key).digest().readUInt32BE() % count;
