import type { Kind } from '../api/kind.ts';
import type { ApiObject } from '../api/object.ts';
import type { Client } from './client.ts';
import type { System } from './clock.ts';
import { Informer, type InformerCounters } from './informer.ts';
import type { Log } from './log.ts';
import type { Scope } from './paths.ts';

export interface InformersOptions {
  client: Client;
  system: System;
  log: Log;
  /** See Informer. */
  freeze?: boolean;
}

/** One informer for each kind and scope, however many ask for it. */
export class Informers {
  readonly #options: InformersOptions;
  readonly #informers = new Map<string, Informer<ApiObject>>();

  constructor(options: InformersOptions) {
    this.#options = options;
  }

  /** The informer, started now or earlier. */
  of<T extends ApiObject>(kind: Kind<T>, scope: Scope = {}): Informer<T> {
    const { group, version, plural } = kind;
    const { namespace, labelSelector, fieldSelector } = scope;
    const key = JSON.stringify([group, version, plural, namespace, labelSelector, fieldSelector]);
    let informer = this.#informers.get(key);
    if (informer === undefined) {
      informer = new Informer<ApiObject>({ ...this.#options, kind, scope });
      this.#informers.set(key, informer);
      informer.start();
    }
    // Whoever asks with the same kind has put it there; a map cannot say that.
    return informer as unknown as Informer<T>;
  }

  get synced(): boolean {
    return [...this.#informers.values()].every((informer) => informer.synced);
  }

  counters(): (InformerCounters & { kind: string })[] {
    return [...this.#informers.values()].map((informer) => ({ kind: informer.kind.plural, ...informer.counters }));
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#informers.values()].map((informer) => informer.stop()));
  }
}
