import { backoff } from '../runtime/backoff.ts';
import { type System, sleep } from '../runtime/clock.ts';
import { asError, type Log } from '../runtime/log.ts';
import type { Troubles } from './troubles.ts';

export interface Trying {
  readonly system: System;
  readonly log: Log;
  readonly troubles: Troubles;
  readonly signal: AbortSignal;
}

const RETRY = { first: 500, max: 15_000 };

/** Starts a part of the agent, again and again until it works, and says meanwhile on the Node why it does not. Never rejects. */
export async function keepTrying(
  part: { readonly name: string; readonly reason: string; readonly isFatal: boolean },
  start: () => Promise<void>,
  { system, log, troubles, signal }: Trying,
): Promise<void> {
  const { name, reason, isFatal } = part;
  for (let failures = 0; !signal.aborted; ) {
    try {
      await start();
      troubles.set(name, undefined);
      return;
    } catch (error) {
      if (signal.aborted) return;
      failures += 1;
      troubles.set(name, { reason, message: asError(error).message, isFatal });
      log.warn('a part of the agent does not start; it is tried again', { part: name, error: asError(error) });
      await sleep(system, backoff(failures, RETRY, system), signal);
    }
  }
}
