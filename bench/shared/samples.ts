/** What was measured several times. */
export class Samples {
  readonly #sorted: readonly number[];

  constructor(values: readonly number[]) {
    this.#sorted = values.toSorted((a, b) => a - b);
  }

  get median(): number {
    return this.#sorted[Math.floor(this.#sorted.length / 2)] ?? Number.NaN;
  }

  /** The value that so many of a hundred are not above. */
  percentile(hundredths: number): number {
    return this.#sorted[Math.ceil((this.#sorted.length * hundredths) / 100) - 1] ?? Number.NaN;
  }

  get most(): number {
    return this.#sorted.at(-1) ?? Number.NaN;
  }

  /** The median, and from where to where the values go. */
  text(digits = 0): string {
    const figures = [this.median, this.#sorted[0] ?? Number.NaN, this.most].map((value) => value.toFixed(digits));
    return this.#sorted.length < 2 ? `${figures[0]}` : `${figures[0]} (${figures[1]} to ${figures[2]})`;
  }
}
