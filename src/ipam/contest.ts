import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { IPSet, IPSetStatus } from '../api/network.openstack.org/ipset.ts';

/**
 * Notices that somebody keeps undoing what we write. Two controllers that both believe to be the only one, one of them
 * with an old view of things, would otherwise correct each other as fast as the network carries it. Who finds its words replaced
 * waits, longer each time, until it has caught up or the other one is gone.
 */
export class Contest {
  /** UID of an IPSet → what we wrote last over the words of somebody. */
  readonly #written = new Map<string, { words: string; times: number; at: number }>();

  /** For how many milliseconds not to write this status. `now`: uptime. */
  delay(ipSet: IPSet, status: IPSetStatus, now: number): number {
    const { uid, generation } = ipSet.metadata;
    if (ipSet.status?.observedGeneration !== generation) return 0;
    if (isDeepStrictEqual(wordsOf(status), wordsOf(ipSet.status))) return 0;
    const words = createHash('sha256')
      .update(JSON.stringify(wordsOf(status)))
      .digest('base64');
    const last = this.#written.get(uid);
    if (last === undefined || last.words !== words || now - last.at > FORGOTTEN) {
      this.#written.set(uid, { words, times: 0, at: now });
      return 0;
    }
    const due = last.at + Math.min(FIRST * 2 ** last.times, LONGEST);
    if (now < due) return due - now;
    this.#written.set(uid, { words, times: last.times + 1, at: now });
    return 0;
  }

  forget(uid: string): void {
    this.#written.delete(uid);
  }
}

const FIRST = 1_000;
const LONGEST = 60_000;
const FORGOTTEN = 600_000;

/** What a status says, but for when it came to say so. */
const wordsOf = ({ conditions = [], ...rest }: IPSetStatus = {}) => ({
  ...rest,
  conditions: conditions.map(({ lastTransitionTime: _, ...statement }) => statement),
});
