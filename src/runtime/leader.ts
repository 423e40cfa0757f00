import { ApiError } from '../api/status.ts';
import { Lease } from './builtin.ts';
import { type Client, isConflict, isMissing } from './client.ts';
import { type System, sleep } from './clock.ts';
import { asError, type Log } from './log.ts';
import { describeRef, type Ref } from './ref.ts';
import { microTimestamp } from './timestamp.ts';

export interface LeadershipOptions {
  client: Client;
  /** The lease that all candidates share. */
  lease: Ref;
  /** Of this process and no other, not even of one before it on the same host. */
  identity: string;
  system: System;
  log: Log;
  times?: LeaderTimes;
}

/** In milliseconds. */
export interface LeaderTimes {
  /** How long the others leave a lease alone after the last sign of its holder. */
  lease: number;
  /** How long the holder leads on without having reached the server; so much less that a clock may run half as fast again. */
  renewWithin: number;
  /** Between two tries. */
  retry: number;
}

export const usualTimes: LeaderTimes = { lease: 15_000, renewWithin: 10_000, retry: 2_000 };

/**
 * One leader among several candidates, by a lease at the API server. Clocks are never compared: a candidate takes the
 * lease over when its own clock has seen no change of it for as long as it lasts. Even so two may believe that they
 * lead, for a moment; what must not happen twice is guarded by versions of objects, not by this.
 */
export class Leadership {
  readonly #client: Client;
  readonly #ref: Ref;
  readonly #identity: string;
  readonly #system: System;
  readonly #log: Log;
  readonly #times: LeaderTimes;
  #seen: { resourceVersion: string; at: number } | undefined;
  #leading = false;

  constructor({ client, lease, identity, system, log, times = usualTimes }: LeadershipOptions) {
    this.#client = client;
    this.#ref = lease;
    this.#identity = identity;
    this.#system = system;
    this.#log = log.with({ lease: describeRef(Lease, lease), identity });
    this.#times = times;
  }

  get leading(): boolean {
    return this.#leading;
  }

  /**
   * Calls `lead` whenever the lease is ours. Its signal aborts when the lease is lost or `signal` aborts; it must come
   * to an end then. Resolves when `lead` has ended and the lease is given back.
   */
  async run(lead: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const held = await this.#inTime(this.#tryToTake(), this.#times.renewWithin, undefined, signal);
      if (held === undefined) {
        await sleep(this.#system, this.#times.retry * (1 + this.#system.random() / 5), signal);
      } else if ((await this.#hold(held, lead, signal)) === 'ended') {
        return;
      }
    }
  }

  /** Renews the lease until `lead` has ended: while it cleans up, nobody else shall begin. */
  async #hold(
    first: Held,
    lead: (signal: AbortSignal) => Promise<void>,
    signal: AbortSignal,
  ): Promise<'lost' | 'ended'> {
    const lost = new AbortController();
    const over = new AbortController();
    this.#leading = true;
    this.#log.info('leading now');
    const ended = lead(AbortSignal.any([lost.signal, signal])).finally(() => over.abort());
    // Whoever waits for it comes later; until then a failure is not an unhandled one.
    ended.catch(() => {});
    let held: Held | 'lost' = first;
    while (held !== 'lost' && !over.signal.aborted) {
      await sleep(this.#system, Math.min(this.#times.retry, this.#left(held)), over.signal);
      if (!over.signal.aborted) held = await this.#renewInTime(held);
    }
    this.#leading = false;
    if (held === 'lost') {
      this.#log.warn('no longer leading: the lease is lost');
      lost.abort();
      await ended;
      return 'lost';
    }
    await this.#giveBack(held);
    await ended;
    return 'ended';
  }

  async #tryToTake(): Promise<Held | undefined> {
    const since = this.#system.uptime();
    try {
      const { name, namespace } = this.#ref;
      const found = await this.#client.get(Lease, name, namespace);
      if (found === undefined) {
        const metadata = namespace === '' ? { name } : { name, namespace };
        return { lease: await this.#client.create(Lease, { metadata, spec: this.#taken({}) }), since };
      }
      if (!this.#isFree(found)) return undefined;
      return { lease: await this.#client.update(Lease, { ...found, spec: this.#taken(found.spec ?? {}) }), since };
    } catch (error) {
      if (!(error instanceof ApiError && error.code === 409)) {
        this.#log.warn('cannot ask for the lease; will try again', { error: asError(error) });
      }
      return undefined;
    }
  }

  #isFree({ metadata: { resourceVersion }, spec = {} }: Lease): boolean {
    const { holderIdentity = '', leaseDurationSeconds } = spec;
    if (holderIdentity === '' || holderIdentity === this.#identity) return true;
    const now = this.#system.uptime();
    if (this.#seen?.resourceVersion !== resourceVersion) this.#seen = { resourceVersion, at: now };
    const lasts = leaseDurationSeconds === undefined ? this.#times.lease : leaseDurationSeconds * 1000;
    return now - this.#seen.at >= lasts;
  }

  #taken({ holderIdentity, acquireTime, leaseTransitions = 0 }: Spec): Spec {
    const now = microTimestamp(this.#system.now());
    const ours = holderIdentity === this.#identity;
    const change = holderIdentity === undefined || ours ? 0 : 1;
    return {
      holderIdentity: this.#identity,
      leaseDurationSeconds: Math.ceil(this.#times.lease / 1000),
      acquireTime: ours ? (acquireTime ?? now) : now,
      renewTime: now,
      leaseTransitions: leaseTransitions + change,
    };
  }

  #left({ since }: Held): number {
    return since + this.#times.renewWithin - this.#system.uptime();
  }

  /** Lost when somebody else has it, or when the server has not confirmed it for too long. */
  async #renewInTime(held: Held): Promise<Held | 'lost'> {
    const left = this.#left(held);
    if (left <= 0) return 'lost';
    return this.#inTime<Held | 'lost'>(this.#renew(held), left, held);
  }

  async #renew(held: Held): Promise<Held | 'lost'> {
    const since = this.#system.uptime();
    const { name, namespace } = this.#ref;
    const update = (lease: Lease): Promise<Lease> =>
      this.#client.update(Lease, { ...lease, spec: this.#taken(lease.spec ?? {}) });
    try {
      try {
        return { lease: await update(held.lease), since };
      } catch (error) {
        if (isMissing(error)) return 'lost';
        if (!isConflict(error)) throw error;
        // Perhaps our own: a renewal whose answer did not reach us.
        const found = await this.#client.get(Lease, name, namespace);
        if (found?.spec?.holderIdentity !== this.#identity) return 'lost';
        return { lease: await update(found), since };
      }
    } catch (error) {
      this.#log.warn('cannot renew the lease; will try again', { error: asError(error) });
      return held;
    }
  }

  /** So that the next one need not wait. Not worth holding up our end for long. */
  async #giveBack({ lease }: Held): Promise<void> {
    const spec = { ...lease.spec, holderIdentity: '', renewTime: microTimestamp(this.#system.now()) };
    const given = this.#client.update(Lease, { ...lease, spec }).then(
      () => this.#log.info('gave the lease back'),
      (error) => this.#log.warn('could not give the lease back; it runs out by itself', { error: asError(error) }),
    );
    await this.#inTime(given, this.#times.retry, undefined);
  }

  /** What comes of asking the server, or `otherwise` when that takes too long or `signal` aborts. */
  async #inTime<V>(asking: Promise<V>, ms: number, otherwise: V, signal?: AbortSignal): Promise<V> {
    const answered = new AbortController();
    const enough = signal === undefined ? answered.signal : AbortSignal.any([answered.signal, signal]);
    try {
      return await Promise.race([asking, sleep(this.#system, ms, enough).then(() => otherwise)]);
    } finally {
      answered.abort();
    }
  }
}

type Spec = NonNullable<Lease['spec']>;

interface Held {
  readonly lease: Lease;
  /** Our clock when the request was sent that took or last renewed it. */
  readonly since: number;
}
