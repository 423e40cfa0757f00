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
 * to be served meanwhile, and there must never be a million objects. Up to some twenty thousand routes are sorted as a
 * whole, more only in parts. A route that changes meanwhile may be there or not.
 */
export async function* destinations(
  speaker: Speaker,
  vni: number,
  { limit = Infinity, prefix = '' }: Filter = {},
): AsyncGenerator<Destination> {
  const parts = await part(speaker, vni);
  const names = speaker.names();
  let left = limit;
  for (const [number, slots] of parts.entries()) {
    if (left <= 0) return;
    const found = group(speaker, slots, (slot) => isStillIn(speaker, slot, { vni, number, count: parts.length }));
    for (const [text, routes] of [...found].sort(([a], [b]) => collator.compare(a, b))) {
      if (!text.startsWith(prefix) || left <= 0) continue;
      left -= 1;
      const hops = routes.map(({ route, slot }) => ({ route, announcedBy: announcers(speaker, slot, names) }));
      yield { family: routes[0]?.route.family ?? 4, prefix: text, hops: hops.sort(byNextHop) };
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

const routesInAPart = 20_000;

/** Numeric, so that 10.0.0.9 comes before 10.0.0.10. */
const collator = new Intl.Collator('en', { numeric: true });

/** Lets everything else that waits have its turn. */
const others = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function partOf(words: Words, slot: number, count: number): number {
  const from = slot * routeWords + wordOf.prefix;
  let sum = shape.prefixLength(at(words, slot * routeWords + wordOf.shape));
  for (let i = 0; i < 4; i += 1) sum = (Math.imul(sum, 31) + at(words, from + i)) >>> 0;
  return sum % count;
}

/** Between two looks the slot may have been given to another route. */
function isStillIn({ table }: Speaker, slot: number, part: { vni: number; number: number; count: number }): boolean {
  const { words } = table.routes;
  const sameNetwork = at(words, slot * routeWords + wordOf.vni) === part.vni;
  return sameNetwork && partOf(words, slot, part.count) === part.number && !table.claimants(slot).next().done;
}

function group({ table }: Speaker, slots: readonly number[], isStillIn: (slot: number) => boolean) {
  const found = new Map<string, { route: Route; slot: number }[]>();
  for (const slot of slots) {
    if (!isStillIn(slot)) continue;
    const route = new Route(table.routes.words, slot * routeWords);
    const known = found.get(route.prefix);
    if (known === undefined) found.set(route.prefix, [{ route, slot }]);
    else known.push({ route, slot });
  }
  return found;
}

const announcers = ({ table }: Speaker, slot: number, names: ReturnType<Speaker['names']>): string[] =>
  [...table.claimants(slot)].map((participant) => names.get(participant) ?? 'a peer that has gone');

const byNextHop = (a: Hop, b: Hop): number => collator.compare(String(a.route), String(b.route));
