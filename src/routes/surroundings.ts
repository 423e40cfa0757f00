/** What the route service takes from the machine it runs on. Handed in, so that a test can own time and chance. */
export interface Surroundings {
  /** Wall clock in milliseconds since 1970, for what people read. */
  now(): number;
  /** Milliseconds since some moment in the past; never jumps. */
  uptime(): number;
  /** Calls `ring` once, `ms` from now, unless cancelled before. */
  timer(ms: number, ring: () => void): Cancel;
  /** Calls `task` when everything that is waiting to be read has been read. */
  soon(task: () => void): void;
  /** At least 0, less than 1. */
  random(): number;
}

export type Cancel = () => void;

export const realSurroundings: Surroundings = {
  now: () => Date.now(),
  uptime: () => performance.now(),
  timer(ms, ring) {
    const timer = setTimeout(ring, ms);
    return () => clearTimeout(timer);
  },
  soon: (task) => setImmediate(task),
  random: () => Math.random(),
};
