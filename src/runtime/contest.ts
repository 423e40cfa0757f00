import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Condition } from '../api/condition.ts';
import type { ApiObject } from '../api/object.ts';

/** What most of our statuses have. */
export interface Said {
  readonly conditions?: readonly Condition[];
  readonly observedGeneration?: number;
}

/**
 * Notices that somebody keeps undoing what we write. Two controllers that both believe to be the only one, one of them
 * with an old view of things, would otherwise correct each other as fast as the network carries it. Who finds its words replaced
 * waits, longer each time, until it has caught up or the other one is gone.
 */
export class Contest {
  /** UID of an object → what we wrote last over the words of somebody. */
  readonly #written = new Map<string, Written>();

  /** For how many milliseconds not to write this status. `now`: uptime. */
  delay(object: ApiObject & { readonly status?: Said }, status: Said, now: number): number {
    const { uid, generation } = object.metadata;
    if (object.status?.observedGeneration !== generation) return 0;
    if (isDeepStrictEqual(wordsOf(status), wordsOf(object.status))) return 0;
    const words = createHash('sha256')
      .update(JSON.stringify(wordsOf(status)))
      .digest('base64');
    const last = this.#written.get(uid);
    const times = last?.words === words && now - last.at <= FORGOTTEN ? last.times + 1 : 0;
    const due = last === undefined || times === 0 ? now : last.at + Math.min(FIRST * 2 ** (times - 1), LONGEST);
    if (now < due) return due - now;
    this.#note(uid, { words, times, at: now });
    return 0;
  }

  /** Those who wrote last are at the end; those at the beginning are forgotten in time. */
  #note(uid: string, written: Written): void {
    this.#written.delete(uid);
    this.#written.set(uid, written);
    for (const [other, { at }] of this.#written) {
      if (written.at - at <= FORGOTTEN) return;
      this.#written.delete(other);
    }
  }
}

interface Written {
  readonly words: string;
  /** How often before in a row. */
  readonly times: number;
  readonly at: number;
}

const FIRST = 1_000;
const LONGEST = 60_000;
const FORGOTTEN = 600_000;

/** What a status says, but for when it came to say so. */
const wordsOf = ({ conditions = [], ...rest }: Said = {}) => ({
  ...rest,
  conditions: conditions.map(({ lastTransitionTime: _, ...statement }) => statement),
});
