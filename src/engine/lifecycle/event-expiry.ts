import type { JsonObject } from '../../api/json.ts';
import { metadataOf } from '../../api/object.ts';
import type { Log } from '../../runtime/log.ts';
import type { Context } from '../objects/context.ts';
import { remove } from '../objects/delete.ts';
import { decode } from '../objects/encoding.ts';

import { storageEndpoint } from './garbage-collector.ts';
import { internalOptions } from './internal-options.ts';

const LIFETIME = 60 * 60 * 1000;
const EVERY = 5 * 60 * 1000;

/** Events are news: an hour after the last time that one was written, it goes. */
export class EventExpiry {
  readonly #context: Context;
  readonly #log: Log;
  readonly #timer: NodeJS.Timeout;

  constructor(context: Context, log: Log) {
    this.#context = context;
    this.#log = log;
    this.#timer = setInterval(() => void this.sweep(), EVERY);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async sweep(): Promise<void> {
    const endpoint = storageEndpoint(this.#context, 'events');
    if (endpoint === undefined) return;
    const before = this.#context.now().getTime() - LIFETIME;
    for (const version of this.#context.store.list({ resource: 'events' }).versions) {
      if (lastSeen(decode(version.bytes)) > before) continue;
      const target = { endpoint, namespace: version.namespace, name: version.name, subresource: '' };
      const wishes = { preconditions: { resourceVersion: String(version.revision) } };
      try {
        await remove(this.#context, target, wishes, internalOptions('netloom'));
      } catch (error) {
        this.#log.debug('an event stays for now', { event: version.name, error: String(error) });
      }
    }
  }
}

function lastSeen(event: JsonObject): number {
  const times = [event['lastTimestamp'], event['eventTime'], metadataOf(event)['creationTimestamp']];
  return Math.max(
    0,
    ...times.map((time) => (typeof time === 'string' ? Date.parse(time) : 0)).filter((time) => !Number.isNaN(time)),
  );
}
