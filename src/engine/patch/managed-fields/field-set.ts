/**
 * A set of fields of an object: a tree whose steps are path elements in the spelling of FieldsV1 (`f:spec`, `k:{"port":80}`, see
 * path-element.ts). A node is `owned` when the path that leads to it is in the set. Sets are values: nothing changes one, the
 * algebra shares what it can, and no node is empty except the root.
 */
export interface FieldSet {
  readonly owned: boolean;
  readonly below: ReadonlyMap<string, FieldSet>;
}

const none: ReadonlyMap<string, FieldSet> = new Map();

export const noFields: FieldSet = { owned: false, below: none };
/** One owned field with nothing below it. */
export const leaf: FieldSet = { owned: true, below: none };

export const isEmpty = (set: FieldSet): boolean => !set.owned && set.below.size === 0;

export function node(owned: boolean, below: ReadonlyMap<string, FieldSet>): FieldSet {
  if (below.size > 0) return { owned, below };
  return owned ? leaf : noFields;
}

/** The set of the given paths. */
export function fieldSet(...paths: readonly (readonly string[])[]): FieldSet {
  return paths.reduce((set, path) => union(set, chain(path)), noFields);
}

function chain([first, ...rest]: readonly string[]): FieldSet {
  return first === undefined ? leaf : { owned: false, below: new Map([[first, chain(rest)]]) };
}

export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b || isEmpty(b)) return a;
  if (isEmpty(a)) return b;
  const owned = a.owned || b.owned;
  const below = changed(a.below, b.below, (mine, theirs) => (mine === undefined ? theirs : union(mine, theirs)));
  return owned === a.owned && below === a.below ? a : { owned, below };
}

/** What is in `a` and not in `b`. Fields below a field of `b` stay: owning a parent is not owning its children. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b) return noFields;
  const owned = a.owned && !b.owned;
  const below = changed(a.below, b.below, (mine, theirs) => mine && difference(mine, theirs));
  return owned === a.owned && below === a.below ? a : node(owned, below);
}

/** What is in `a` and neither in `b` nor below anything in `b`. */
export function outside(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b) return noFields;
  const owned = a.owned && !b.owned;
  const below = changed(a.below, b.below, (mine, theirs) =>
    mine === undefined || theirs.owned ? undefined : outside(mine, theirs),
  );
  return owned === a.owned && below === a.below ? a : node(owned, below);
}

export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b) return a;
  const [small, large] = a.below.size <= b.below.size ? [a, b] : [b, a];
  const below = new Map<string, FieldSet>();
  for (const [element, set] of small.below) {
    const other = large.below.get(element);
    const both = other === undefined ? noFields : intersection(set, other);
    if (!isEmpty(both)) below.set(element, both);
  }
  return node(a.owned && b.owned, below);
}

export function equalSets(a: FieldSet, b: FieldSet): boolean {
  if (a === b) return true;
  if (a.owned !== b.owned || a.below.size !== b.below.size) return false;
  for (const [element, set] of a.below) {
    const other = b.below.get(element);
    if (other === undefined || !equalSets(set, other)) return false;
  }
  return true;
}

/** Every path in the set, parents before children, siblings in the order of their spelling. */
export function* pathsOf(set: FieldSet, prefix: readonly string[] = []): Generator<readonly string[]> {
  const sorted = [...set.below].sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [element, { owned }] of sorted) if (owned) yield [...prefix, element];
  for (const [element, child] of sorted) yield* pathsOf(child, [...prefix, element]);
}

/** `mine` with every element that `theirs` has passed through `combine`; itself when that changes nothing. */
function changed(
  mine: ReadonlyMap<string, FieldSet>,
  theirs: ReadonlyMap<string, FieldSet>,
  combine: (mine: FieldSet | undefined, theirs: FieldSet) => FieldSet | undefined,
): ReadonlyMap<string, FieldSet> {
  let result: Map<string, FieldSet> | undefined;
  for (const [element, other] of theirs) {
    const before = mine.get(element);
    const after = combine(before, other);
    if (after === before) continue;
    result ??= new Map(mine);
    if (after === undefined || isEmpty(after)) result.delete(element);
    else result.set(element, after);
  }
  return result ?? mine;
}
