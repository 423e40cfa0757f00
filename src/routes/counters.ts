/** Counts things by name. */
export class Counters {
  readonly #counts = new Map<string, number>();

  add(name: string, count = 1): void {
    this.#counts.set(name, this.get(name) + count);
  }

  get(name: string): number {
    return this.#counts.get(name) ?? 0;
  }

  [Symbol.iterator](): IterableIterator<[string, number]> {
    return this.#counts.entries();
  }

  toJSON(): Record<string, number> {
    return Object.fromEntries(this.#counts);
  }
}

/** What one peer has done, or all of them together. */
export class Traffic {
  bytesReceived = 0;
  bytesSent = 0;
  addsReceived = 0;
  removesReceived = 0;
  addsSent = 0;
  removesSent = 0;
  /** What was received and not taken over, by reason. */
  readonly ignored = new Counters();

  add(other: Traffic): void {
    this.bytesReceived += other.bytesReceived;
    this.bytesSent += other.bytesSent;
    this.addsReceived += other.addsReceived;
    this.removesReceived += other.removesReceived;
    this.addsSent += other.addsSent;
    this.removesSent += other.removesSent;
    for (const [reason, count] of other.ignored) this.ignored.add(reason, count);
  }
}

/** How long things took, in the cumulative buckets that Prometheus wants. */
export class Histogram {
  /** In seconds. */
  readonly bounds = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30];
  readonly #counts = this.bounds.map(() => 0);
  count = 0;
  sum = 0;

  observe(seconds: number): void {
    this.count += 1;
    this.sum += seconds;
    const bucket = this.bounds.findIndex((bound) => seconds <= bound);
    if (bucket >= 0) this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
  }

  /** Of each bound, how many took at most that long. */
  *cumulative(): Generator<[number, number]> {
    let sum = 0;
    for (const [i, bound] of this.bounds.entries()) {
      sum += this.#counts[i] ?? 0;
      yield [bound, sum];
    }
  }
}
