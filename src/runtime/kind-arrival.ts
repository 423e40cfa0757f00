import type { Kind } from '../api/kind.ts';
import { backoff } from './backoff.ts';
import { CustomResourceDefinition } from './builtin.ts';
import type { Client } from './client.ts';
import { type System, sleep } from './clock.ts';

export interface KindArrival {
  client: Client;
  kind: Kind;
  system: System;
  signal: AbortSignal;
}

const POLL = { first: 1_000, max: 60_000 };
const SOON = { first: 50, max: 2_000 };

/**
 * Resolves when the server has the kind, or `signal` aborts. Asks from time to time, ever less often, and at once when
 * the definition of the kind turns up: who may not see definitions learns of it by asking alone.
 */
export async function kindIsServed({ client, kind, system, signal }: KindArrival): Promise<void> {
  let soon = 0;
  for (let round = 1; !signal.aborted; round += 1) {
    const over = new AbortController();
    const end = (): void => over.abort();
    signal.addEventListener('abort', end);
    const delay = backoff(round, POLL, system);
    const established = definitionEstablished(client, kind, Math.ceil(delay / 1000), over.signal).then((seen) => {
      if (seen) soon += 1;
      // Servers publish a kind a moment after its definition says so.
      return seen ? sleep(system, soon === 1 ? 0 : backoff(soon, SOON, system), over.signal) : aborted(over.signal);
    });
    await Promise.race([sleep(system, delay, over.signal), established]);
    end();
    signal.removeEventListener('abort', end);
    try {
      if (await client.serves(kind, signal)) return;
    } catch {
      // A server that cannot say so now is asked again in the next round.
    }
  }
}

/** False when the watch ended without having seen it. */
async function definitionEstablished(
  client: Client,
  { plural, group, version }: Kind,
  timeoutSeconds: number,
  signal: AbortSignal,
): Promise<boolean> {
  const scope = { fieldSelector: `metadata.name=${plural}.${group}` };
  try {
    const events = client.watch(CustomResourceDefinition, scope, { resourceVersion: '', timeoutSeconds, signal });
    for await (const event of events) {
      if (event.type === 'BOOKMARK' || event.type === 'DELETED') continue;
      const { spec, status } = event.object;
      const established = status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True');
      if (established === true && spec.versions.some(({ name, served }) => name === version && served)) return true;
    }
  } catch {
    // Not allowed, or unreachable: asking from time to time is what is left.
  }
  return false;
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
