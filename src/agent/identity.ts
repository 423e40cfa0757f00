import type { Client } from '../runtime/client.ts';
import { type System, sleep } from '../runtime/clock.ts';
import { asError, type Log } from '../runtime/log.ts';
import { lifeLeft, NODES, nodeUser } from './enrol.ts';
import { type Holder, holderOf, type IdentityFiles } from './identity-files.ts';
import { type Asked, answerTo, ask, type KeyPair, Refused, type Wish } from './signing.ts';

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
  /** What has been asked for, and may wait for a person: whoever decides about it later must not do so in vain. */
  readonly #asked = new Map<'client' | 'serving', Asked>();
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
        if (!this.#serves(which, holder) || lifeLeft(holder, system.now()) < renewAt) await this.#renew(which, there);
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

  /** A host may come back under another address. */
  #serves(which: 'client' | 'serving', holder: Holder | undefined): holder is Holder {
    return holder !== undefined && (which === 'client' || this.#options.addresses.every((each) => holder.serves(each)));
  }

  async #renew(which: 'client' | 'serving', old: KeyPair | undefined): Promise<void> {
    const { client, system, files, log, changed } = this.#options;
    const asked = this.#asked.get(which) ?? (await ask(this.#wish(which, old), client));
    this.#asked.set(which, asked);
    try {
      const pair = await answerTo(asked, { client, system, patience: PATIENCE, signal: this.#end.signal });
      await files.write(which, pair);
      changed(which, pair);
      this.#asked.delete(which);
      log.info(`renewed the ${which} certificate`, { until: holderOf(pair.certificate)?.until.toISOString() });
    } catch (error) {
      if (error instanceof Refused) this.#asked.delete(which);
      throw error;
    }
  }

  #wish(which: 'client' | 'serving', old: KeyPair | undefined): Wish {
    const { name, addresses } = this.#options;
    return {
      ...{ commonName: nodeUser(name), organization: NODES, purpose: which },
      hosts: which === 'client' ? [] : addresses,
      // By the old one the engine sees that nothing new is asked for.
      ...(which === 'client' || old === undefined ? {} : { annotations: { 'netloom.io/renews': old.certificate } }),
    };
  }
}
