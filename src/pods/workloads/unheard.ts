import type { ApiObject } from '../../api/object.ts';
import { ApiError } from '../../api/status.ts';
import type { Client } from '../../runtime/client.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Change, Informer } from '../../runtime/informer.ts';
import { keyOf, keyOfObject, type Ref, refOf, refOfKey } from '../../runtime/ref.ts';

/** News that take longer than this, in milliseconds, are asked for. */
const LATE = 10_000;

/**
 * What was written and has not been heard of yet. Caches are always a little late: whoever went on without news of his own
 * writes would make, or delete, the same things twice.
 */
export class Unheard<T extends ApiObject> {
  readonly #informer: Informer<T>;
  readonly #clock: Clock;
  /** UID of the owner → key of a child → what must be heard of it. */
  readonly #expected = new Map<string, Map<string, Expected>>();
  /** Key of a child → UID of the owner that waits for news of it. */
  readonly #owners = new Map<string, string>();

  constructor(informer: Informer<T>, clock: Clock) {
    this.#informer = informer;
    this.#clock = clock;
    informer.onChange((change) => this.#hear(change));
  }

  /** Before something is created: news may be faster than the answer. */
  expectNew(owner: string, ref: Ref): void {
    this.#expect(owner, keyOf(ref), { news: 'that it is there', since: this.#clock.uptime() });
  }

  /** Before something is deleted. */
  expectEnd(owner: string, { metadata }: T): void {
    this.#expect(owner, keyOf(refOf({ metadata })), {
      news: 'that it ends',
      uid: metadata.uid,
      since: this.#clock.uptime(),
    });
  }

  /** After a change: the version that it led to. */
  expectVersion(owner: string, { metadata }: T): void {
    const ref = refOf({ metadata });
    const known = this.#informer.cache.get(ref);
    const expected: Expected = {
      news: 'of this version',
      uid: metadata.uid,
      version: metadata.resourceVersion,
      since: this.#clock.uptime(),
    };
    if (known === undefined || !says(known, expected)) this.#expect(owner, keyOf(ref), expected);
  }

  /** After the write: the news may have come before the answer did. */
  check(owner: string, ref: Ref): void {
    const expected = this.#expected.get(owner)?.get(keyOf(ref));
    if (expected === undefined) return;
    const known = this.#informer.cache.get(ref);
    const isHeard = known === undefined ? expected.news === 'that it ends' : says(known, expected);
    if (isHeard) this.#forget(owner, keyOf(ref));
  }

  /** Whether its end was asked for, though it looks as if nothing had happened. */
  isEnding(owner: string, { metadata }: T): boolean {
    const expected = this.#expected.get(owner)?.get(keyOf(refOf({ metadata })));
    return expected?.news === 'that it ends' && expected.uid === metadata.uid;
  }

  /** Whether there is something of this name, as far as was heard. */
  knows(ref: Ref): boolean {
    return this.#informer.cache.get(ref) !== undefined;
  }

  /** How many were made that nobody has heard of yet. */
  coming(owner: string): number {
    return [...(this.#expected.get(owner)?.values() ?? [])].filter(({ news }) => news === 'that it is there').length;
  }

  /** There will be no news. */
  forget(owner: string, ref: Ref): void {
    this.#forget(owner, keyOf(ref));
  }

  /** After a write that failed: the server has refused and there will be no news, or nobody answered, and it is asked soon. */
  failed(owner: string, ref: Ref, error: unknown): void {
    if (error instanceof ApiError) this.#forget(owner, keyOf(ref));
    else this.#doubt(owner, keyOf(ref));
  }

  /** Whether something is still to be heard. */
  async isBehind(owner: string, client: Client): Promise<boolean> {
    for (const [key, expected] of this.#expected.get(owner) ?? []) {
      if (this.#clock.uptime() - expected.since < LATE) continue;
      const { name, namespace } = refOfKey(key);
      const found = await client.get(this.#informer.kind, name, namespace);
      if (found === undefined || (expected.news === 'that it ends' && !says(found, expected))) this.#forget(owner, key);
    }
    return this.#expected.has(owner);
  }

  #hear({ before, now }: Change<T>): void {
    const object = now ?? before;
    if (object === undefined) return;
    const key = keyOfObject(object);
    const owner = this.#owners.get(key);
    if (owner === undefined) return;
    const expected = this.#expected.get(owner)?.get(key);
    if (expected === undefined || now === undefined || says(now, expected)) this.#forget(owner, key);
  }

  #expect(owner: string, key: string, expected: Expected): void {
    const children = this.#expected.get(owner) ?? new Map<string, Expected>();
    children.set(key, expected);
    this.#expected.set(owner, children);
    this.#owners.set(key, owner);
  }

  #doubt(owner: string, key: string): void {
    const children = this.#expected.get(owner);
    const expected = children?.get(key);
    if (expected !== undefined) children?.set(key, { ...expected, since: Number.NEGATIVE_INFINITY });
  }

  #forget(owner: string, key: string): void {
    const children = this.#expected.get(owner);
    children?.delete(key);
    if (children?.size === 0) this.#expected.delete(owner);
    if (this.#owners.get(key) === owner) this.#owners.delete(key);
  }
}

type Expected = { readonly since: number } & (
  | { readonly news: 'that it is there' }
  | { readonly news: 'that it ends'; readonly uid: string }
  | { readonly news: 'of this version'; readonly uid: string; readonly version: string }
);

/** Whether an object, as it was heard of, is the news that were expected. */
function says({ metadata }: ApiObject, expected: Expected): boolean {
  if (expected.news === 'that it is there') return true;
  if (metadata.uid !== expected.uid) return true;
  if (expected.news === 'that it ends') return metadata.deletionTimestamp !== undefined;
  return isAtLeast(metadata.resourceVersion, expected.version);
}

/** Versions of one kind are numbers that rise, on every server there is; on another one only the very version counts. */
function isAtLeast(version: string, expected: string): boolean {
  const areNumbers = /^\d+$/.test(version) && /^\d+$/.test(expected);
  return areNumbers ? BigInt(version) >= BigInt(expected) : version === expected;
}
