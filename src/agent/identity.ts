import type { Client } from '../runtime/client.ts';
import { type System, sleep } from '../runtime/clock.ts';
import { asError, type Log } from '../runtime/log.ts';
import { lifeLeft, NODES, nodeUser } from './enrol.ts';
import { holderOf, type IdentityFiles } from './identity-files.ts';
import { type KeyPair, obtain } from './signing.ts';

export interface IdentityOptions {
  readonly name: string;
  /** As the host itself. */
  readonly client: Client;
  readonly files: IdentityFiles;
  readonly addresses: readonly string[];
  readonly system: System;
  readonly log: Log;
  /** Told of every new certificate, at once. */
  changed(which: 'client' | 'serving', pair: KeyPair): void;
  /** Told what is wrong with a certificate, and when it is well again. */
  trouble(which: 'client' | 'serving', message: string | undefined): void;
}

/** Certificates are renewed when so much of their life is left; not all hosts at once. */
const RENEWAL = { earliest: 0.3, latest: 0.2 };
const LOOK_EVERY = 60_000;
const LOOKS_A_LIFE = 20;
const PATIENCE = 30_000;

/** Renews the certificates of a host in time. Connections that there are go on with the old ones. */
export class Identity {
  readonly #options: IdentityOptions;
  readonly #end = new AbortController();
  readonly #running: Promise<unknown>;

  constructor(options: IdentityOptions) {
    this.#options = options;
    this.#running = Promise.all([this.#keep('client'), this.#keep('serving')]);
  }

  async stop(): Promise<void> {
    this.#end.abort();
    await this.#running;
  }

  async #keep(which: 'client' | 'serving'): Promise<void> {
    const { system, log, trouble } = this.#options;
    const { signal } = this.#end;
    const renewAt = RENEWAL.latest + (RENEWAL.earliest - RENEWAL.latest) * system.random();
    while (!signal.aborted) {
      const there = await this.#options.files.read(which).catch(() => undefined);
      const holder = there === undefined ? undefined : holderOf(there.certificate);
      try {
        if (holder === undefined || lifeLeft(holder, system.now()) < renewAt) await this.#renew(which, there);
        trouble(which, undefined);
      } catch (error) {
        if (signal.aborted) return;
        const until =
          holder === undefined ? 'there is none' : `the one that there is ends ${holder.until.toISOString()}`;
        trouble(which, `${asError(error).message} (${until})`);
        log.warn(`the ${which} certificate could not be renewed; it is tried again`, { error: asError(error) });
      }
      const life = holder === undefined ? 0 : holder.until.getTime() - holder.from.getTime();
      await sleep(system, Math.min(LOOK_EVERY, Math.max(1_000, life / LOOKS_A_LIFE)), signal);
    }
  }

  async #renew(which: 'client' | 'serving', old: KeyPair | undefined): Promise<void> {
    const { client, name, addresses, system, files, log, changed } = this.#options;
    const wish = {
      ...{ commonName: nodeUser(name), organization: NODES, purpose: which },
      hosts: which === 'client' ? [] : addresses,
      // By the old one the engine sees that nothing new is asked for.
      ...(which === 'client' || old === undefined ? {} : { annotations: { 'netloom.io/renews': old.certificate } }),
    };
    const asking = { client, system, approve: false, patience: PATIENCE, signal: this.#end.signal };
    const pair = await obtain(wish, asking);
    await files.write(which, pair);
    changed(which, pair);
    log.info(`renewed the ${which} certificate`, { until: holderOf(pair.certificate)?.until.toISOString() });
  }
}
