import { randomInt } from 'node:crypto';

/**
 * A free number below `size`, at random, so that what one Service gave back is not at once that of another. The first
 * `reserved` ones come last: people ask for those by name.
 */
export const draw = (size: number, reserved: number, isFree: (candidate: number) => boolean): number | undefined =>
  drawBetween(reserved, size, isFree) ?? drawBetween(0, reserved, isFree);

function drawBetween(from: number, to: number, isFree: (candidate: number) => boolean): number | undefined {
  const count = to - from;
  if (count <= 0) return undefined;
  const start = randomInt(count);
  for (let i = 0; i < count; i += 1) {
    const candidate = from + ((start + i) % count);
    if (isFree(candidate)) return candidate;
  }
  return undefined;
}

/** How many of so many Kubernetes keeps for those who ask by name: a part of them, but at least 16, if there are so many. */
export const reservedOf = (size: number, { part, most }: { part: number; most: number }): number =>
  size < 16 ? 0 : Math.min(Math.max(16, Math.floor(size / part)), most);
