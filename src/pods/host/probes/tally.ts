import type { Probe } from '../../../api/core/pod.ts';

/** What counts is what a probe has said several times in a row. */
export class Tally {
  readonly #needed: { readonly ok: number; readonly notOk: number };
  #last: boolean | undefined;
  #inARow = 0;

  constructor({ successThreshold = 1, failureThreshold = 3 }: Probe) {
    this.#needed = { ok: successThreshold, notOk: failureThreshold };
  }

  /** What is taken for true from now on; undefined as long as it was not said often enough. */
  count(ok: boolean): boolean | undefined {
    this.#inARow = ok === this.#last ? this.#inARow + 1 : 1;
    this.#last = ok;
    return this.#inARow >= (ok ? this.#needed.ok : this.#needed.notOk) ? ok : undefined;
  }
}
