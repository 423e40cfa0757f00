import type { Log } from '../../runtime/log.ts';
import { system } from '../../runtime/system.ts';

/** Resolves at the first SIGINT or SIGTERM; one that comes later ends the process as it is. */
export function signalled(log: Log): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let first: number | undefined;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      const now = system.uptime();
      if (first === undefined) {
        first = now;
        log.info('stopping', { signal });
        resolve();
      } else if (now - first > SAME_KEYSTROKE) {
        process.exit(130);
      }
    });
  }
  return promise;
}

/** npm hands on what the terminal has already told everybody: one Ctrl-C comes twice within these milliseconds. */
const SAME_KEYSTROKE = 500;
