import type { Ref } from '../../runtime/ref.ts';
import { keyOf, refOfKey } from '../../runtime/ref.ts';
import type { Obstacle } from './choose.ts';

/** Pods that fit nowhere, and what would have to change before it is worth another look. */
export class Waiting {
  readonly #obstacles = new Map<string, ReadonlySet<Obstacle>>();
  #woken: Ref[] = [];

  add(ref: Ref, obstacles: ReadonlySet<Obstacle>): void {
    this.#obstacles.set(keyOf(ref), obstacles);
  }

  remove(ref: Ref): void {
    this.#obstacles.delete(keyOf(ref));
  }

  /** Something of one of these sorts has changed. */
  wake(...changed: readonly Obstacle[]): void {
    for (const [key, obstacles] of this.#obstacles) {
      if (!changed.some((obstacle) => obstacles.has(obstacle))) continue;
      this.#obstacles.delete(key);
      this.#woken.push(refOfKey(key));
    }
  }

  takeWoken(): Ref[] {
    const woken = this.#woken;
    this.#woken = [];
    return woken;
  }
}
