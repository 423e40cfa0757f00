import { type System, sleep } from '../../runtime/clock.ts';

export interface EndingOptions {
  readonly system: System;
  readonly graceMs: number;
  /** Rejects when the container could not be reached. */
  readonly send: (signal: NodeJS.Signals) => Promise<void>;
  /** What the container wants done before it is asked to end; it gives up when told to. */
  readonly before?: ((giveUp: AbortSignal) => Promise<void>) | undefined;
}

/** After the hook everybody gets a moment, however much of the grace the hook has used. */
const SHORT = 2_000;
const AGAIN = 1_000;

/** The end of a container: its preStop hook, TERM, and when its grace is over, KILL until it has ended. */
export class Ending {
  readonly #options: EndingOptions;
  readonly #over = new AbortController();
  #deadline: number;
  /** Rings when the deadline is another one. */
  #moved = new AbortController();
  readonly done: Promise<void>;

  constructor(options: EndingOptions) {
    this.#options = options;
    this.#deadline = options.system.uptime() + options.graceMs;
    this.done = this.#run();
  }

  /** Somebody does not want to wait that long any more. */
  hurry(graceMs: number): void {
    const deadline = this.#options.system.uptime() + graceMs;
    if (deadline >= this.#deadline) return;
    this.#deadline = deadline;
    this.#moved.abort();
  }

  /** The container has ended, or nobody is left to end it. */
  stop(): void {
    this.#over.abort();
    this.#moved.abort();
  }

  async #run(): Promise<void> {
    await this.#hook();
    await this.#send('SIGTERM');
    const { system } = this.#options;
    this.#deadline = Math.max(this.#deadline, system.uptime() + Math.min(SHORT, this.#options.graceMs));
    await this.#untilDeadline(this.#over.signal);
    while (!this.#over.signal.aborted) {
      await this.#send('SIGKILL');
      await sleep(system, AGAIN, this.#over.signal);
    }
  }

  async #hook(): Promise<void> {
    const { before } = this.#options;
    if (before === undefined) return;
    const giveUp = new AbortController();
    const hook = before(giveUp.signal).finally(() => giveUp.abort());
    await Promise.race([hook, this.#untilDeadline(giveUp.signal)]);
    giveUp.abort();
    await hook;
  }

  async #untilDeadline(enough: AbortSignal): Promise<void> {
    const { system } = this.#options;
    while (!this.#over.signal.aborted && !enough.aborted) {
      const left = this.#deadline - system.uptime();
      if (left <= 0) return;
      this.#moved = new AbortController();
      await sleep(system, left, AbortSignal.any([this.#moved.signal, this.#over.signal, enough]));
    }
  }

  async #send(signal: NodeJS.Signals): Promise<void> {
    const { system, send } = this.#options;
    while (!this.#over.signal.aborted) {
      try {
        await send(signal);
        return;
      } catch {
        // Whoever runs the containers is away for a moment.
        await sleep(system, AGAIN, this.#over.signal);
      }
    }
  }
}
