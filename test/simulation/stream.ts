import type { JsonObject } from '../../src/api/json.ts';
import type { Cancel, Clock } from '../../src/runtime/clock.ts';

/** Lines that travel from the simulated server to one client, each for a while of its own, but in their order. */
export class Stream implements AsyncIterable<JsonObject> {
  readonly #clock: Clock;
  readonly #arrived: Arrival[] = [];
  readonly #travelling = new Set<Cancel>();
  readonly #closed: () => void;
  #lastArrival = 0;
  #wake: (() => void) | undefined;
  #over = false;

  constructor(clock: Clock, closed: () => void) {
    this.#clock = clock;
    this.#closed = closed;
  }

  send(line: JsonObject, delay: number): void {
    this.#travel({ line }, delay);
  }

  /** The server ends the stream in good order. */
  end(delay: number): void {
    this.#travel('end', delay);
  }

  /** The connection breaks: what has not arrived never will. */
  break(error: Error): void {
    if (this.#over) return;
    this.#cancelTravelling();
    this.#arrive({ error });
  }

  /** The client does not listen any more. */
  close(): void {
    if (this.#over) return;
    this.#over = true;
    this.#cancelTravelling();
    this.#closed();
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<JsonObject, void, undefined> {
    try {
      for (;;) {
        const next = this.#arrived.shift();
        if (this.#over || next === 'end') return;
        if (next === undefined) await new Promise<void>((resolve) => (this.#wake = resolve));
        else if ('error' in next) throw next.error;
        else yield next.line;
      }
    } finally {
      this.close();
    }
  }

  #travel(what: Arrival, delay: number): void {
    if (this.#over) return;
    this.#lastArrival = Math.max(this.#lastArrival, this.#clock.uptime() + delay);
    const cancel = this.#clock.timer(this.#lastArrival - this.#clock.uptime(), () => {
      this.#travelling.delete(cancel);
      this.#arrive(what);
    });
    this.#travelling.add(cancel);
  }

  #arrive(what: Arrival): void {
    this.#arrived.push(what);
    this.#wake?.();
    this.#wake = undefined;
  }

  #cancelTravelling(): void {
    for (const cancel of this.#travelling) cancel();
    this.#travelling.clear();
  }
}

type Arrival = { line: JsonObject } | { error: Error } | 'end';
