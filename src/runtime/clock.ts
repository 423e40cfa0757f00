/** Time as the runtime sees it. The real one is `system`; tests and simulations hand in `SimulatedClock`. */
export interface Clock {
  /** Wall clock in milliseconds since 1970. For what people read: it may jump, and differ between machines. */
  now(): number;
  /** Milliseconds since some moment in the past. Never jumps: durations and deadlines are measured with it. */
  uptime(): number;
  /** Calls `ring` once, `ms` from now, unless cancelled before. */
  timer(ms: number, ring: () => void): Cancel;
}

/** What differs from run to run; a simulation derives it from its seed. */
export interface Chance {
  /** At least 0, less than 1. */
  random(): number;
  /** A version 4 UUID. */
  uuid(): string;
}

export interface System extends Clock, Chance {}

export type Cancel = () => void;

/** Resolves after `ms`, or at once when `signal` aborts: whoever waits looks at the signal afterwards. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) return resolve();
    const wake = (): void => {
      cancel();
      signal?.removeEventListener('abort', wake);
      resolve();
    };
    const cancel = clock.timer(ms, wake);
    signal?.addEventListener('abort', wake);
  });
}
