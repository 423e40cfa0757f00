/**
 * Counts the work of the rule that is being evaluated, so that a hostile rule, or a hostile object under an innocent rule,
 * cannot hold the server up. One unit is about one step of the evaluator. Evaluation is synchronous and never nested, so
 * there is one meter.
 */
class Meter {
  #left = 0;

  /** Begins an evaluation that may do so much work. */
  start(limit: number): void {
    this.#left = limit;
  }

  charge(work: number): void {
    this.#left -= work;
    // Boolean operators and macros swallow errors of their operands; whatever they do next is charged too, and fails again.
    if (this.#left < 0) throw EXHAUSTED;
  }

  get isExhausted(): boolean {
    return this.#left < 0;
  }

  /** How much of `limit` was used. */
  used(limit: number): number {
    return limit - this.#left;
  }
}

export const meter = new Meter();

/** Thrown a million times in the worst case: one error without a trace of its own. */
const EXHAUSTED = new Error('operation cancelled: actual cost limit exceeded');

/** Of strings, a step reads ten characters. */
export const textCost = (text: string): number => text.length / 10;
