/**
 * Who of many spoils what all do together: halves are tried until single ones are left, so that one among a thousand is found in a
 * few tries.
 * @param works whether these do, without any of the others; of none it says whether anything works at all
 * @returns nobody when it works with all of them, or with none
 */
export async function findCulprits<T>(
  all: readonly T[],
  works: (some: readonly T[]) => Promise<boolean>,
): Promise<T[]> {
  return (await works([])) ? among(all, works) : [];
}

async function among<T>(some: readonly T[], works: (some: readonly T[]) => Promise<boolean>): Promise<T[]> {
  if (some.length === 0 || (await works(some))) return [];
  if (some.length === 1) return [...some];
  const middle = Math.ceil(some.length / 2);
  return [...(await among(some.slice(0, middle), works)), ...(await among(some.slice(middle), works))];
}
