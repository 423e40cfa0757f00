import { Lease } from '../runtime/builtin.ts';
import { type Client, isConflict, isMissing } from '../runtime/client.ts';
import { type System, sleep } from '../runtime/clock.ts';
import { asError, type Log } from '../runtime/log.ts';
import { microTimestamp } from '../runtime/timestamp.ts';
import type { Registration } from './registration.ts';

const LEASES = 'kube-node-lease';
const EVERY = 2_000;
/** After a shorter one, what was sent into it arrives soon enough by itself. */
const INTERRUPTION = 4_000;
/** What others should wait for, in seconds, if they have no opinion of their own. */
const DURATION = 10;

export interface HeartbeatOptions {
  /** With connections of its own and little patience: a beat that comes late is worth nothing. */
  readonly client: Client;
  readonly name: string;
  readonly registration: Registration;
  /** Called when the API is heard again after a silence in which connections cannot have stayed what they were. */
  heardAgain(): void;
  readonly system: System;
  readonly log: Log;
}

/** Shows every two seconds that the host is alive, by renewing its Lease. Whoever has deleted the Node gets it back. */
export class Heartbeat {
  readonly #options: HeartbeatOptions;
  readonly #end = new AbortController();
  readonly #beating: Promise<void>;
  readonly #first = Promise.withResolvers<void>();
  #lease: Lease | undefined;
  #silentSince: number | undefined;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
    this.#beating = this.#beat();
  }

  /** Resolves when the host has been heard of for the first time. */
  get first(): Promise<void> {
    return this.#first.promise;
  }

  /** For how many milliseconds nobody has heard of this host; 0 when all is well. */
  get silence(): number {
    return this.#silentSince === undefined ? 0 : this.#options.system.uptime() - this.#silentSince;
  }

  async stop(): Promise<void> {
    this.#end.abort();
    await this.#beating;
  }

  async #beat(): Promise<void> {
    const { system } = this.#options;
    const { signal } = this.#end;
    while (!signal.aborted) {
      const began = system.uptime();
      try {
        await this.#renew(await this.#options.registration.ensure());
        this.#heard();
      } catch (error) {
        if (!signal.aborted) this.#unheard(asError(error));
      }
      await sleep(system, Math.max(EVERY / 4, EVERY - (system.uptime() - began)), signal);
    }
  }

  async #renew(nodeUid: string): Promise<void> {
    const { client, name, system } = this.#options;
    const ref = { namespace: LEASES, name };
    this.#lease ??= await client.get(Lease, name, LEASES);
    const spec = { holderIdentity: name, leaseDurationSeconds: DURATION, renewTime: microTimestamp(system.now()) };
    // Who deletes the Node deletes its Lease.
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name, uid: nodeUid }];
    try {
      this.#lease =
        this.#lease === undefined
          ? await client.create(Lease, { metadata: { ...ref, ownerReferences }, spec })
          : await client.update(Lease, {
              ...this.#lease,
              metadata: { ...this.#lease.metadata, ownerReferences },
              spec,
            });
    } catch (error) {
      this.#lease = undefined;
      // Somebody else wrote it or deleted it: the next beat sees what is there.
      if (!(isConflict(error) || isMissing(error))) throw error;
    }
  }

  #heard(): void {
    this.#first.resolve();
    if (this.#silentSince === undefined) return;
    const { silence } = this;
    this.#options.log.info('the API is heard again', { after: `${Math.round(silence / 1000)} s` });
    this.#silentSince = undefined;
    if (silence > INTERRUPTION) this.#options.heardAgain();
  }

  #unheard(error: Error): void {
    if (this.#silentSince !== undefined) return;
    this.#silentSince = this.#options.system.uptime();
    this.#options.log.warn('the API does not hear this host: what runs here goes on', { error });
  }
}
