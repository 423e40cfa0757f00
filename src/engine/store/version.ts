/** Where an object lives: `resource` is `plural.group` or `plural`; the namespace of cluster-scoped objects is ''. */
export interface Key {
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
}

/** An object as it was from one revision on. The bytes are its JSON; they are shared by everyone and never changed. */
export interface Version extends Key {
  readonly revision: number;
  readonly bytes: Buffer;
}

export interface StoredEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly revision: number;
  /** The new state; of a deleted object its last state, encoded with the revision of the deletion. */
  readonly current: Version;
  readonly previous: Version | undefined;
}

/**
 * Key of an object within its resource. NUL sorts before every other character and occurs in no stored name, so the
 * order of these strings is the order by namespace, then by name.
 */
export function sortKey({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `${namespace}\0${name}`;
}

export interface KeyRange {
  readonly from: string;
  /** The first key behind the range; none when it is open. */
  readonly to: string | undefined;
}

/** The keys of one namespace, or of all, behind `after`. */
export function keyRange(
  namespace: string | undefined,
  after: { readonly namespace: string; readonly name: string } | undefined,
): KeyRange {
  const resume = after === undefined ? '' : `${sortKey(after)}\0`;
  if (namespace === undefined) return { from: resume, to: undefined };
  const start = `${namespace}\0`;
  if (resume > start) return { from: resume, to: `${namespace}\u0001` };
  return { from: start, to: `${namespace}\u0001` };
}

export function inRange(key: string, { from, to }: KeyRange): boolean {
  return key >= from && (to === undefined || key < to);
}
