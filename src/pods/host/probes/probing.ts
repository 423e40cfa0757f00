import type { Probe } from '../../../api/core/pod.ts';
import { type System, sleep } from '../../../runtime/clock.ts';
import type { Outcome } from '../checks/outcome.ts';
import { Tally } from './tally.ts';

export interface ProbingOptions {
  readonly system: System;
  readonly probe: Probe;
  /** When the container was started, in milliseconds since 1970. */
  readonly startedAt: number;
  readonly ask: (timeoutMs: number, giveUp: AbortSignal) => Promise<Outcome>;
  /** One answer, of many. */
  readonly answered: (outcome: Outcome) => void;
  /** What is true from now on, as far as the thresholds say so. */
  readonly concluded: (ok: boolean) => void;
}

/** Asks one probe of one run of a container again and again, until it is stopped. */
export class Probing {
  readonly #stop = new AbortController();

  constructor(options: ProbingOptions) {
    void this.#run(options);
  }

  stop(): void {
    this.#stop.abort();
  }

  async #run({ system, probe, startedAt, ask, answered, concluded }: ProbingOptions): Promise<void> {
    const { signal } = this.#stop;
    const { initialDelaySeconds = 0, periodSeconds = 10, timeoutSeconds = 1 } = probe;
    const period = periodSeconds * 1000;
    const age = system.now() - startedAt;
    // Whoever takes over many pods at once does not ask them all at once.
    const pause = age > period ? system.random() * Math.min(period, 1_000) : 0;
    await sleep(system, Math.max(initialDelaySeconds * 1000 - age, pause), signal);
    const tally = new Tally(probe);
    while (!signal.aborted) {
      const begin = system.uptime();
      const outcome = await ask(timeoutSeconds * 1000, signal);
      if (signal.aborted) return;
      const conclusion = tally.count(outcome.ok);
      answered(outcome);
      if (conclusion !== undefined) concluded(conclusion);
      await sleep(system, Math.max(0, begin + period - system.uptime()), signal);
    }
  }
}
