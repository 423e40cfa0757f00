import { isJsonObject, type Json, type JsonObject } from '../../api/json.ts';
import { badRequest } from '../../api/status.ts';
import { fieldOf } from './own-fields.ts';
import { shownPath, unknownDirective } from './strategic-refusals.ts';

type Scalar = string | number | boolean;

export interface ScalarLists {
  original: Json[];
  patch: Json[];
  /** `$setElementOrder`: the order of the items that the author of the patch knows. */
  order: Json[] | undefined;
  at: string;
}

export interface KeyedLists extends ScalarLists {
  key: string;
  /** Merges a change into an item, or makes a new one of it. */
  merge(item: JsonObject | undefined, change: JsonObject): JsonObject;
}

export function removeScalars(list: Json[], removed: readonly Json[]): Json[] {
  const gone = new Set(removed);
  return list.some((item) => gone.has(item)) ? list.filter((item) => !gone.has(item)) : list;
}

export function mergeScalarList({ original, patch, order, at }: ScalarLists): Json[] {
  const known = unique(original.map((item) => scalar(item, at)));
  const wanted = unique(patch.map((item) => scalar(item, at)));
  const items = new Map([...known, ...wanted].map((item) => [item, item]));
  requireOrder(wanted, order, (item) => item, at);
  const arranged = arrange({
    items,
    server: known,
    author: authorsOrder(
      order?.map((item) => scalar(item, at)),
      wanted,
    ),
  });
  return sameItems(original, arranged) ? original : arranged;
}

export function mergeKeyedList({ original, patch, order, key, at, merge }: KeyedLists): Json[] {
  const { changes, deleted, replaces } = readChanges(patch, key, at);
  const kept: [id: Scalar | symbol, item: Json][] = [];
  for (const item of replaces ? [] : original) {
    const id = keyOf(item, key);
    // Items without a key cannot be addressed: nothing touches them, each stands for itself.
    if (id === undefined || !deleted.has(id)) kept.push([id ?? Symbol(), item]);
  }
  const items = new Map<Scalar | symbol, Json>();
  const server: (Scalar | symbol)[] = [];
  for (const [id, item] of kept) {
    // A second item under a key that occurs already is out of reach as well.
    const name = items.has(id) ? Symbol() : id;
    items.set(name, item);
    server.push(name);
  }
  for (const [id, change] of changes) {
    const item = items.get(id);
    items.set(id, merge(isJsonObject(item) ? item : undefined, change));
  }
  const wanted = changes.map(([id]) => id);
  const ordered = order?.map((item) => requiredKey(item, key, at));
  requireOrder(wanted, ordered, (id) => id, at);
  const arranged = arrange({ items, server, author: authorsOrder(ordered, unique(wanted)) });
  return sameItems(original, arranged) ? original : arranged;
}

interface Changes {
  changes: [id: Scalar, change: JsonObject][];
  deleted: Set<Scalar>;
  /** One item of the patch says that the list is to be replaced by the others. */
  replaces: boolean;
}

function readChanges(patch: readonly Json[], key: string, at: string): Changes {
  const result: Changes = { changes: [], deleted: new Set(), replaces: false };
  for (const item of patch) {
    const directive = isJsonObject(item) ? fieldOf(item, '$patch') : undefined;
    if (directive === 'replace') {
      result.replaces = true;
      continue;
    }
    const id = requiredKey(item, key, at);
    if (!isJsonObject(item)) continue;
    if (directive === 'delete') result.deleted.add(id);
    else if (directive === undefined || directive === 'merge') result.changes.push([id, item]);
    else throw unknownDirective(directive, at);
  }
  return result;
}

/**
 * What the author of the patch orders keeps that order; what only the server has keeps the server's; where the two meet, an
 * item of the server goes first only if it stood before on the server.
 */
function arrange<Id>({
  items,
  server,
  author,
}: {
  items: ReadonlyMap<Id, Json>;
  server: readonly Id[];
  author: readonly Id[];
}): Json[] {
  const position = new Map(server.map((id, index) => [id, index]));
  const ordered = new Set(author);
  const mine = author.filter((id) => items.has(id));
  const theirs = server.filter((id) => !ordered.has(id));
  const arranged: Json[] = [];
  const take = (id: Id) => {
    const item = items.get(id);
    if (item !== undefined) arranged.push(item);
  };
  let next = 0;
  for (const id of mine) {
    const place = position.get(id);
    for (; place !== undefined && next < theirs.length; next++) {
      const other = theirs[next];
      if (other === undefined || (position.get(other) ?? 0) > place) break;
      take(other);
    }
    take(id);
  }
  for (const id of theirs.slice(next)) take(id);
  return arranged;
}

const authorsOrder = <Id>(order: readonly Id[] | undefined, wanted: readonly Id[]): Id[] =>
  order === undefined ? [...wanted] : unique([...order, ...wanted]);

/** The items of the patch must come in the order that `$setElementOrder` gives, and all be in it. */
function requireOrder<Item, Id>(
  wanted: readonly Item[],
  order: readonly Id[] | undefined,
  idOf: (item: Item) => Id,
  at: string,
): void {
  if (order === undefined || order.length === 0) return;
  let place = 0;
  for (const item of wanted) {
    const id = idOf(item);
    while (place < order.length && order[place] !== id) place++;
    if (place === order.length) {
      throw badRequest(
        `${shownPath(at)} changes the item ${JSON.stringify(id)}, which its $setElementOrder does not list in that place; both must name the items in the same order`,
      );
    }
    place++;
  }
}

function requiredKey(item: Json, key: string, at: string): Scalar {
  if (!isJsonObject(item)) throw badRequest(`${shownPath(at)} must be a list of objects: its items merge by ${key}`);
  const id = keyOf(item, key);
  if (id === undefined) throw badRequest(`${shownPath(at)} has an item without ${key}; items of this list merge by it`);
  return id;
}

function keyOf(item: Json, key: string): Scalar | undefined {
  const id = isJsonObject(item) ? fieldOf(item, key) : undefined;
  return typeof id === 'object' ? undefined : id;
}

function scalar(item: Json, at: string): Scalar {
  if (typeof item !== 'object') return item;
  throw badRequest(`${shownPath(at)} must be a list of plain values: its items merge by value`);
}

const unique = <Item>(items: readonly Item[]): Item[] => [...new Set(items)];

const sameItems = (a: readonly Json[], b: readonly Json[]): boolean =>
  a.length === b.length && a.every((item, index) => item === b[index]);
