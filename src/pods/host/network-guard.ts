import { type System, sleep } from '../../runtime/clock.ts';
import { asError, type Log } from '../../runtime/log.ts';
import type { PodNetwork } from './pod-network.ts';

/** In milliseconds. */
const EVERY = 1_000;

/** Whoever loads a firewall of his own often sweeps away all that there is, also what keeps pods to their own names. */
export async function guardNetwork(
  { network, system, log }: { network: Pick<PodNetwork, 'guard'>; system: System; log: Log },
  signal: AbortSignal,
): Promise<void> {
  for (let isFirst = true; !signal.aborted; isFirst = false) {
    try {
      const wasMissing = await network.guard();
      if (wasMissing && !isFirst) log.warn('somebody else has changed the table of pods; it is written anew');
    } catch (error) {
      log.warn('pods may speak in the name of others: that cannot be looked after', { error: asError(error) });
    }
    await sleep(system, EVERY, signal);
  }
}
