import type { Cancel, Clock, System } from './clock.ts';
import { Schedule } from './schedule.ts';
import { SeededChance } from './seeded-chance.ts';

/**
 * Virtual time and seeded chance. Nothing happens until `advance` is called; then timers ring one by one in the order
 * of their moments, and everything that a timer set off through promises is finished before the next one rings.
 * The same seed and the same calls give the same run, to the last step.
 */
export class SimulatedClock implements System {
  readonly #timers = new Schedule<() => void>();
  readonly #start: number;
  #now: number;
  readonly #chance: SeededChance;

  constructor({ seed = 1, start = Date.UTC(2026, 0, 1) }: { seed?: number; start?: number } = {}) {
    this.#start = start;
    this.#now = start;
    this.#chance = new SeededChance(seed);
  }

  now(): number {
    return this.#now;
  }

  uptime(): number {
    return this.#now - this.#start;
  }

  timer(ms: number, ring: () => void): Cancel {
    // Whole milliseconds, as on a machine: with fractions, a short enough wait would not move the time at all.
    const entry = this.#timers.add(this.#now + Math.max(0, Math.ceil(ms)), ring);
    return () => this.#timers.remove(entry);
  }

  /** How many timers are set: a part that has stopped leaves none behind. */
  get pending(): number {
    return this.#timers.size;
  }

  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    await settled();
    while (await this.#ringNext(end));
    this.#now = end;
  }

  /** Advances, at most by `within`, up to the moment in which `condition` holds. */
  async until(condition: () => boolean, { within = 3_600_000 }: { within?: number } = {}): Promise<void> {
    const end = this.#now + within;
    await settled();
    while (!condition()) {
      if (!(await this.#ringNext(end))) {
        throw new Error(`still not so after ${within} ms of simulated time: ${condition}`);
      }
    }
  }

  /** Advances until the promise is settled, and gives its value. */
  async run<T>(promise: Promise<T>, options: { within?: number } = {}): Promise<T> {
    let over = false;
    const note = (): void => {
      over = true;
    };
    promise.then(note, note);
    await this.until(() => over, options);
    return promise;
  }

  async #ringNext(end: number): Promise<boolean> {
    const due = this.#timers.takeDue(end);
    if (due === undefined) return false;
    this.#now = due.due;
    due.item();
    await settled();
    return true;
  }

  random(): number {
    return this.#chance.random();
  }

  uuid(): string {
    return this.#chance.uuid();
  }
}

/** The same time as a machine sees it whose clock is wrong (`ahead`, in ms) or runs too fast (`rate` above 1). */
export function skewed(clock: System, { ahead = 0, rate = 1 }: { ahead?: number; rate?: number }): System {
  const began = clock.now();
  const seen: Clock = {
    now: () => began + (clock.now() - began) * rate + ahead,
    uptime: () => clock.uptime() * rate,
    timer: (ms, ring) => clock.timer(ms / rate, ring),
  };
  return { ...seen, random: () => clock.random(), uuid: () => clock.uuid() };
}

/** One turn of the event loop: every promise that can go on has gone on. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
