import type { Link } from './link.ts';
import type { Participant } from './participant.ts';
import type { SessionState } from './session.ts';
import type { Cancel, Surroundings } from './surroundings.ts';
import type { RouteTable } from './table.ts';
import type { Dial, Wire } from './wire.ts';

/** How patient a client is with a server that is gone. */
export interface Patience {
  /** So long routes are kept while the server cannot be reached. */
  readonly keepLostSeconds: number;
  /** So long after the server is back it may repeat them; what it has not repeated then is withdrawn. */
  readonly settleSeconds: number;
}

export interface UpstreamOptions {
  readonly address: string;
  readonly dial: Dial;
  readonly table: RouteTable;
  readonly surroundings: Surroundings;
  readonly patience: Patience;
  /** A link over a new connection, on behalf of the participant. */
  readonly link: (wire: Wire, upstream: Upstream) => Link;
  /** What is wanted from every server. */
  readonly wanted: () => Iterable<number>;
  readonly log: (line: string) => void;
}

/**
 * A server that is dialled, again and again. It takes part in the table for as long as it is configured: when a session
 * is lost its routes stay for a while, and those that the next session repeats are never withdrawn.
 */
export class Upstream {
  readonly participant: Participant;
  link: Link | undefined;
  readonly #options: UpstreamOptions;
  #attempt = 0;
  #establishedAt: number | undefined;
  /** When the first session was lost that has not been made good yet. */
  #lostAt: number | undefined;
  #stopped = false;
  #isWaiting = false;
  #cancelDial: Cancel = () => {};
  #cancelExpiry: Cancel = () => {};
  #cancelSettling: Cancel = () => {};

  constructor(options: UpstreamOptions) {
    this.#options = options;
    this.participant = options.table.join('server', { hearsAll: true });
  }

  get address(): string {
    return this.#options.address;
  }

  get state(): SessionState {
    if (this.#stopped) return 'CLOSED';
    return this.link?.session.state ?? (this.#isWaiting ? 'RETRY' : 'CONNECTING');
  }

  start(): void {
    this.#isWaiting = false;
    this.#cancelDial = this.#options.dial({
      opened: (wire) => this.#opened(wire),
      failed: (reason) => this.#retry(reason),
    });
  }

  stop(): void {
    this.#stopped = true;
    this.#cancelDial();
    this.#cancelExpiry();
    this.#cancelSettling();
    this.link?.end('stopped');
    this.#options.table.leave(this.participant);
  }

  request(vni: number, wanted: boolean): void {
    this.link?.request(vni, wanted);
    if (!wanted) this.#options.table.withdrawNetwork(this.participant, vni);
  }

  established(): void {
    this.#establishedAt = this.#options.surroundings.uptime();
    this.#options.log(`server ${this.address}: session established`);
    this.#cancelSettling = this.#options.surroundings.timer(this.#options.patience.settleSeconds * 1000, () => {
      this.#settle(this.participant.staleCount);
    });
  }

  ended(reason: string): void {
    const { table, surroundings } = this.#options;
    this.link = undefined;
    if (this.#stopped) return;
    table.detach(this.participant);
    this.#cancelSettling();
    this.#lostAt ??= surroundings.uptime();
    this.#expire();
    // Whoever ends sessions as soon as they begin is not asked more often for that.
    if (surroundings.uptime() - (this.#establishedAt ?? Number.POSITIVE_INFINITY) > steadyMs) this.#attempt = 0;
    this.#establishedAt = undefined;
    this.#retry(reason);
  }

  #opened(wire: Wire): Link {
    const link = this.#options.link(wire, this);
    this.link = link;
    for (const vni of this.#options.wanted()) link.request(vni, true);
    link.start();
    return link;
  }

  #retry(reason: string): void {
    const { surroundings, log } = this.#options;
    const delay = retryDelay(this.#attempt, surroundings.random());
    this.#attempt += 1;
    this.#isWaiting = true;
    log(`server ${this.address}: ${reason}; next attempt in ${(delay / 1000).toFixed(1)} s`);
    this.#cancelDial = surroundings.timer(delay, () => this.start());
  }

  /** Withdraws what a lost session has left behind, now or when its time has come. */
  #expire(): void {
    const { table, surroundings, patience, log } = this.#options;
    this.#cancelExpiry();
    if (this.#lostAt === undefined || this.link?.session.state === 'ESTABLISHED') return;
    const left = this.#lostAt + patience.keepLostSeconds * 1000 - surroundings.uptime();
    if (left > 0) this.#cancelExpiry = surroundings.timer(left, () => this.#expire());
    else {
      const count = table.withdrawStale(this.participant);
      if (count > 0) log(`server ${this.address}: ${count} routes withdrawn, it was away too long`);
    }
  }

  /** Waits on while stale routes are being repeated; there are only so many of them. */
  #settle(staleBefore: number): void {
    if (staleBefore === 0) this.#settled();
    else {
      this.#cancelSettling = this.#options.surroundings.timer(1000, () => {
        const stale = this.participant.staleCount;
        if (stale < staleBefore) this.#settle(stale);
        else this.#withdrawStale();
      });
    }
  }

  #withdrawStale(): void {
    const { table, log } = this.#options;
    const count = table.withdrawStale(this.participant);
    log(`server ${this.address}: ${count} routes withdrawn, they were not repeated`);
    this.#settled();
  }

  #settled(): void {
    this.#cancelExpiry();
    this.#lostAt = undefined;
  }
}

/** A session that lasted so long was a good one. */
const steadyMs = 10_000;

/**
 * From a quarter of a second up to nine, the range of the original: soon after a restart, so that routes are complete
 * again within seconds, and never all clients at the same moment.
 */
export function retryDelay(attempt: number, random: number): number {
  const longest = Math.min(9000, 500 * 2 ** Math.min(attempt, 10));
  return longest * (0.5 + random / 2);
}
