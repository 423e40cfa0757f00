import type { ApiObject } from '../api/object.ts';
import { ApiError } from '../api/status.ts';
import { backoff } from './backoff.ts';
import { Event } from './builtin.ts';
import { type Client, isMissing } from './client.ts';
import { type System, sleep } from './clock.ts';
import { asError, type Log } from './log.ts';
import { timestamp } from './timestamp.ts';

/** Tells people what happened to an object, beside it: `kubectl describe` shows it for an hour. */
export interface Events {
  normal(object: ApiObject, reason: string, message: string): void;
  warning(object: ApiObject, reason: string, message: string): void;
}

export interface EventRecorderOptions {
  client: Client;
  system: System;
  log: Log;
  /** Which part of the program speaks. */
  component: string;
  /** Which process or host. */
  instance: string;
}

/** The same words about the same object within this time are one event with a count. */
const SERIES_MS = 600_000;
/** Per object: so many at once, then one every five minutes. */
const BURST = 25;
const REFILL_MS = 300_000;
const REMEMBERED = 4096;
const WAITING = 1000;
/** How long it is tried to write what nobody has refused: servers come back, and what was said once is not said again. */
const PATIENCE_MS = 1_800_000;
const RETRY = { first: 1_000, max: 30_000 };
const LONGEST_MESSAGE = 1024;

/** Writes events in the background, a bounded number of them, and gives up rather than hold anything up. */
export class EventRecorder implements Events {
  readonly #client: Client;
  readonly #system: System;
  readonly #log: Log;
  readonly #component: string;
  readonly #instance: string;
  readonly #series = new Map<string, Series>();
  readonly #budgets = new Map<string, Budget>();
  readonly #unsent = new Set<Series>();
  readonly #stop = new AbortController();
  #sending: Promise<void> | undefined;
  #dropped = 0;

  constructor({ client, system, log, component, instance }: EventRecorderOptions) {
    this.#client = client;
    this.#system = system;
    this.#log = log;
    this.#component = component;
    this.#instance = instance;
  }

  get dropped(): number {
    return this.#dropped;
  }

  normal(object: ApiObject, reason: string, message: string): void {
    this.#record(object, 'Normal', reason, message);
  }

  warning(object: ApiObject, reason: string, message: string): void {
    this.#record(object, 'Warning', reason, message);
  }

  /** Resolves when everything recorded so far is written or given up. */
  async flushed(): Promise<void> {
    await this.#sending;
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#sending;
  }

  #record(object: ApiObject, type: Event['type'], reason: string, message: string): void {
    if (this.#stop.signal.aborted || this.#unsent.size >= WAITING || !this.#affords(object.metadata.uid)) {
      this.#dropped += 1;
      return;
    }
    const now = this.#system.now();
    const key = JSON.stringify([object.metadata.uid, type, reason, message]);
    let series = this.#series.get(key);
    if (series === undefined || now - series.last > SERIES_MS) {
      series = { object, type, reason, message, count: 0, first: now, last: now, written: undefined };
    }
    series.count += 1;
    series.last = now;
    remember(this.#series, key, series);
    this.#unsent.add(series);
    this.#sending ??= this.#send();
  }

  #affords(uid: string): boolean {
    const now = this.#system.uptime();
    const { tokens, at } = this.#budgets.get(uid) ?? { tokens: BURST, at: now };
    const left = Math.min(BURST, tokens + (now - at) / REFILL_MS);
    remember(this.#budgets, uid, { tokens: left >= 1 ? left - 1 : left, at: now });
    return left >= 1;
  }

  async #send(): Promise<void> {
    // Words that are repeated in one go are counted before the first of them is sent.
    await Promise.resolve();
    for (const series of this.#unsent) {
      this.#unsent.delete(series);
      await this.#write(series);
    }
    this.#sending = undefined;
  }

  async #write(series: Series): Promise<void> {
    const { signal } = this.#stop;
    for (let attempt = 1; !signal.aborted; attempt += 1) {
      try {
        await this.#createOrCount(series);
        return;
      } catch (error) {
        const hopeless = error instanceof ApiError && error.code < 500 && error.code !== 429;
        const isLate = this.#system.now() - series.last > PATIENCE_MS;
        if (hopeless || isLate || signal.aborted) {
          this.#dropped += 1;
          this.#log.debug('an event could not be written', { reason: series.reason, error: asError(error) });
          return;
        }
        await sleep(this.#system, backoff(attempt, RETRY, this.#system), signal);
      }
    }
  }

  async #createOrCount(series: Series): Promise<void> {
    const { written, count, last } = series;
    if (written !== undefined) {
      try {
        await this.#client.patch(Event, written, { merge: { count, lastTimestamp: timestamp(last) } });
        return;
      } catch (error) {
        // Servers forget events after an hour.
        if (!isMissing(error)) throw error;
      }
    }
    const event = this.#eventOf(series);
    await this.#client.create(Event, event);
    series.written = { namespace: event.metadata.namespace, name: event.metadata.name };
  }

  #eventOf({ object, type, reason, message, count, first, last }: Series) {
    const { name, namespace, uid, resourceVersion } = object.metadata;
    const suffix = this.#system.uuid().replaceAll('-', '').slice(0, 16);
    return {
      metadata: { name: `${name.slice(0, 230)}.${suffix}`, namespace: namespace ?? 'default' },
      involvedObject: {
        apiVersion: object.apiVersion,
        kind: object.kind,
        ...(namespace === undefined ? {} : { namespace }),
        name,
        uid,
        resourceVersion,
      },
      type,
      reason,
      message: message.slice(0, LONGEST_MESSAGE),
      count,
      firstTimestamp: timestamp(first),
      lastTimestamp: timestamp(last),
      source: { component: this.#component, host: this.#instance },
      reportingComponent: this.#component,
      reportingInstance: this.#instance,
    };
  }
}

interface Series {
  object: ApiObject;
  type: Event['type'];
  reason: string;
  message: string;
  count: number;
  first: number;
  last: number;
  /** The event that stands for the series, once there is one. */
  written: { namespace: string; name: string } | undefined;
}

interface Budget {
  tokens: number;
  at: number;
}

/** Puts the entry last, and forgets the one that nobody touched for the longest time when there are too many. */
function remember<V>(map: Map<string, V>, key: string, value: V): void {
  map.delete(key);
  map.set(key, value);
  if (map.size <= REMEMBERED) return;
  const [oldest] = map.keys();
  if (oldest !== undefined) map.delete(oldest);
}
