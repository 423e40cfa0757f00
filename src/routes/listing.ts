import type { Words } from './address.ts';
import { at } from './columns.ts';
import { Route, routeWords, shape, wordOf } from './route.ts';
import type { Speaker } from './speaker.ts';

/** One destination of a virtual network and how it is reached. */
export interface Destination {
  readonly family: 4 | 6;
  readonly prefix: string;
  readonly hops: readonly Hop[];
}

export interface Hop {
  readonly route: Route;
  readonly announcedBy: readonly string[];
}

export interface Filter {
  /** At most so many destinations. */
  readonly limit?: number | undefined;
  /** Only destinations that begin with this text. */
  readonly prefix?: string | undefined;
}

/**
 * The destinations of a virtual network with all their next hops, a few at a time: with a million routes, sessions have
 * to be served meanwhile, and there must never be a million objects. Up to ten thousand routes are sorted as a whole,
 * more only in parts. A route that changes meanwhile may be there or not.
 */
export async function* destinations(
  speaker: Speaker,
  vni: number,
  { limit = Number.POSITIVE_INFINITY, prefix = '' }: Filter = {},
): AsyncGenerator<Destination> {
  const parts = await part(speaker, vni);
  const names = speaker.names();
  let left = limit;
  for (const [number, slots] of parts.entries()) {
    const isStillIn = (slot: number): boolean => isInPart(speaker, slot, { vni, number, count: parts.length });
    for (const destination of grouped(speaker, slots.filter(isStillIn), names)) {
      if (!destination.prefix.startsWith(prefix)) continue;
      if (left <= 0) return;
      left -= 1;
      yield destination;
    }
    await others();
  }
}

/** Divides the slots into parts so that all routes of a destination are in the same one. */
async function part({ table }: Speaker, vni: number): Promise<number[][]> {
  const count = Math.ceil((table.networks.get(vni)?.routeCount ?? 0) / routesInAPart);
  const parts = Array.from({ length: count }, (): number[] => []);
  let seen = 0;
  for (const slot of table.slotsOf(vni)) {
    parts[partOf(table.routes.words, slot, count)]?.push(slot);
    seen += 1;
    if (seen % routesInAPart === 0) await others();
  }
  return parts;
}

const routesInAPart = 10_000;

/** Lets everything else that waits have its turn. */
const others = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function partOf(words: Words, slot: number, count: number): number {
  const from = slot * routeWords + wordOf.prefix;
  let sum = shape.prefixLength(at(words, slot * routeWords + wordOf.shape));
  for (let i = 0; i < 4; i += 1) sum = (Math.imul(sum, 31) + at(words, from + i)) >>> 0;
  return sum % count;
}

/** Between two looks the slot may have been given to another route. */
function isInPart({ table }: Speaker, slot: number, part: { vni: number; number: number; count: number }): boolean {
  const { words } = table.routes;
  const sameNetwork = at(words, slot * routeWords + wordOf.vni) === part.vni;
  return sameNetwork && partOf(words, slot, part.count) === part.number && !table.claimants(slot).next().done;
}

/** Sorts the slots in place by family, prefix, length and next hop, and puts together those of one destination. */
function grouped({ table }: Speaker, slots: number[], names: ReturnType<Speaker['names']>): Destination[] {
  const { words } = table.routes;
  const found: (Destination & { hops: Hop[] })[] = [];
  for (const slot of slots.sort((a, b) => order(words, a, b))) {
    const route = new Route(words, slot * routeWords);
    const { prefix, family } = route;
    if (found.at(-1)?.prefix !== prefix) found.push({ prefix, family, hops: [] });
    const announcedBy = Array.from(
      table.claimants(slot),
      (participant) => names.get(participant) ?? 'a peer that has just come',
    );
    found.at(-1)?.hops.push({ route, announcedBy });
  }
  return found;
}

function order(words: Words, a: number, b: number): number {
  const [lookOfA, lookOfB] = [at(words, a * routeWords + wordOf.shape), at(words, b * routeWords + wordOf.shape)];
  const byFamily = shape.prefixFamily(lookOfA) - shape.prefixFamily(lookOfB);
  const byPrefix = byFamily !== 0 ? byFamily : orderOfWords(words, a, b, wordOf.prefix, wordOf.hop);
  const byLength = byPrefix !== 0 ? byPrefix : shape.prefixLength(lookOfA) - shape.prefixLength(lookOfB);
  return byLength !== 0 ? byLength : orderOfWords(words, a, b, wordOf.hop, routeWords);
}

function orderOfWords(words: Words, a: number, b: number, from: number, to: number): number {
  for (let i = from; i < to; i += 1) {
    const difference = at(words, a * routeWords + i) - at(words, b * routeWords + i);
    if (difference !== 0) return difference;
  }
  return 0;
}
