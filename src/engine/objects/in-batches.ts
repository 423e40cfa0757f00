/**
 * Does the same to many things, so many at once that their writes share a sync of the disk, and so few that other requests
 * get their turn.
 */
export async function inBatches<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  for (let i = 0; i < items.length; i += AT_ONCE) await Promise.all(items.slice(i, i + AT_ONCE).map(work));
}

const AT_ONCE = 128;
