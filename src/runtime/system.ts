import type { Cancel, System } from './clock.ts';

/** The real clock and the real dice: the only file of the runtime that asks the machine for either. */
export const system: System = {
  now: () => Date.now(),
  uptime: () => performance.now(),
  timer: realTimer,
  random: () => Math.random(),
  uuid: () => crypto.randomUUID(),
};

/** A longer delay makes setTimeout ring at once, so long waits are made of several. */
const LONGEST = 2 ** 31 - 1;

function realTimer(ms: number, ring: () => void): Cancel {
  let handle: NodeJS.Timeout;
  const arm = (left: number): void => {
    handle = left <= LONGEST ? setTimeout(ring, left) : setTimeout(() => arm(left - LONGEST), LONGEST);
  };
  // What was due a moment ago is due now; of less than nothing setTimeout complains in the log.
  arm(Math.max(ms, 0));
  return () => clearTimeout(handle);
}
