import { at, grown } from './columns.ts';
import type { Stake } from './participant.ts';

/**
 * One virtual network: its routes in the order of their last change. Who has been told up to some place in this list
 * only needs what stands behind it; a route that changes again moves to the end. So a slow reader costs no memory of its
 * own, gets the newest state only, and never makes others wait.
 */
export class VirtualNetwork {
  readonly vni: number;
  /** slot, or -1 where a route has moved away or is gone */
  #changes = new Int32Array(16);
  #length = 0;
  #holes = 0;
  /** No reader is beyond this place. */
  #furthest = 0;
  readonly subscribers = new Set<Stake>();
  /** Subscribers who asked, in contrast to those who hear all. */
  askedFor = 0;
  /** Of these, those whose interest is worth asking other servers for. */
  interested = 0;
  /** Who has been told everything. */
  readonly idle = new Set<Stake>();
  pendingCount = 0;
  changingSince = 0;
  routeCount = 0;

  constructor(vni: number) {
    this.vni = vni;
  }

  /** How many places the list has; some may be empty. */
  get length(): number {
    return this.#length;
  }

  /** Routes in the list, including those that are gone while somebody has not been told yet. */
  get listed(): number {
    return this.#length - this.#holes;
  }

  slotAt(place: number): number {
    return at(this.#changes, place);
  }

  passed(place: number): void {
    if (place > this.#furthest) this.#furthest = place;
  }

  /** Moves a route, now at `place` or nowhere (-1), to the end; returns its new place. */
  changed(slot: number, place: number): number {
    // Nobody has read it where it stands, so that everybody will find its newest state there.
    if (place >= this.#furthest) return place;
    if (place >= 0) this.clear(place);
    if (this.#length === this.#changes.length) this.#changes = grown(this.#changes, this.#length * 2);
    this.#changes[this.#length] = slot;
    this.#length += 1;
    return this.#length - 1;
  }

  clear(place: number): void {
    this.#changes[place] = hole;
    this.#holes += 1;
  }

  /** Often enough to keep the list short, seldom enough to cost each change little: there is a hole for every step of the work. */
  get wantsCompaction(): boolean {
    return this.#holes > 8 + this.subscribers.size && this.#holes * 2 > this.#length;
  }

  /** Closes the holes. `moved` learns each route's new place; readers keep theirs between the same routes. */
  compact(moved: (slot: number, place: number) => void): void {
    const readers = [...this.subscribers].sort((a, b) => b.cursor - a.cursor);
    let reader = readers.pop();
    let kept = 0;
    for (let place = 0; place < this.#length; place += 1) {
      for (; reader !== undefined && reader.cursor <= place; reader = readers.pop()) reader.cursor = kept;
      const slot = this.slotAt(place);
      if (slot === hole) continue;
      this.#changes[kept] = slot;
      moved(slot, kept);
      kept += 1;
    }
    for (; reader !== undefined; reader = readers.pop()) reader.cursor = kept;
    this.#length = kept;
    this.#holes = 0;
    this.#furthest = 0;
    for (const subscriber of this.subscribers) this.passed(subscriber.cursor);
    if (this.#changes.length > 64 && kept * 4 < this.#changes.length)
      this.#changes = this.#changes.slice(0, 16 + kept * 2);
  }
}

const hole = -1;
