import { type Hello, helloFrame } from './codec.ts';
import type { Cancel, Surroundings } from './surroundings.ts';

/** The names that metalbond uses. RETRY is a state of whoever dials, between two sessions. */
export type SessionState = 'CONNECTING' | 'HELLO_SENT' | 'HELLO_RECEIVED' | 'ESTABLISHED' | 'RETRY' | 'CLOSED';
export type Direction = 'incoming' | 'outgoing';

export interface SessionOptions {
  readonly direction: Direction;
  readonly keepaliveSeconds: number;
  readonly isServer: boolean;
  readonly surroundings: Pick<Surroundings, 'uptime' | 'timer' | 'soon'>;
  readonly events: SessionEvents;
}

export interface SessionEvents {
  sendHello(frame: Uint8Array): void;
  sendKeepalive(): void;
  /** From now on routes and subscriptions may be sent. */
  established(): void;
  /** A KEEPALIVE was answered: the other side has read everything that was sent before it. */
  answered(): void;
  /** The connection has to be closed. Nothing is called after this. */
  failed(reason: string): void;
}

/**
 * One session of metalbond, without its connection: who greets whom, and whether the other side is alive.
 * Whoever dialled sends HELLO first, and a KEEPALIVE now and then that the other side answers.
 */
export class Session {
  readonly #options: SessionOptions;
  #state: SessionState = 'CONNECTING';
  #keepaliveSeconds: number;
  #peer: Hello | undefined;
  #lastSign = 0;
  #timeout: Cancel = () => {};
  #ticker: Cancel = () => {};

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#keepaliveSeconds = options.keepaliveSeconds;
  }

  get state(): SessionState {
    return this.#state;
  }

  /** As negotiated: the shorter of the two. */
  get keepaliveSeconds(): number {
    return this.#keepaliveSeconds;
  }

  /** What the other side has said about itself. */
  get peer(): Hello | undefined {
    return this.#peer;
  }

  /** The connection is there. */
  start(): void {
    this.#lastSign = this.#options.surroundings.uptime();
    this.#watch();
    if (this.#options.direction === 'incoming') return;
    this.#state = 'HELLO_SENT';
    this.#sendHello();
  }

  receiveHello(hello: Hello): void {
    const expected = this.#options.direction === 'incoming' ? 'CONNECTING' : 'HELLO_SENT';
    if (this.#state !== expected) this.#fail(`HELLO in state ${this.#state}`);
    else if (hello.keepaliveSeconds < 1) this.#fail('HELLO with a keepalive interval of 0 seconds');
    else this.#greeted(hello);
  }

  #greeted(hello: Hello): void {
    this.#peer = hello;
    this.#keepaliveSeconds = Math.min(this.#keepaliveSeconds, hello.keepaliveSeconds);
    this.#state = 'HELLO_RECEIVED';
    this.#seen();
    this.#watch();
    if (this.#options.direction === 'outgoing') this.#tick();
    else {
      this.#sendHello();
      this.#state = 'HELLO_SENT';
    }
  }

  receiveKeepalive(): void {
    const { direction, events } = this.#options;
    const ready = direction === 'incoming' ? 'HELLO_SENT' : 'HELLO_RECEIVED';
    if (this.#peer !== undefined && this.#state === ready) {
      this.#state = 'ESTABLISHED';
      this.#seen();
      events.established();
    } else if (this.#state === 'ESTABLISHED') this.#seen();
    else this.#fail(`KEEPALIVE in state ${this.#state}`);
    if (this.#state !== 'ESTABLISHED') return;
    if (direction === 'incoming') events.sendKeepalive();
    else events.answered();
  }

  /** A subscription or a route: only after the greeting. Returns whether it may be worked on. */
  receiveOther(): boolean {
    if (this.#peer === undefined) this.#fail(`a message before HELLO, in state ${this.#state}`);
    return this.#state !== 'CLOSED';
  }

  /**
   * Bytes have come, whatever they are. For metalbond only a KEEPALIVE is a sign of life. Between two Netlooms every byte
   * is one: a KEEPALIVE may stand behind megabytes of routes.
   */
  receiveBytes(): void {
    if (this.#peer?.readsAnySplit === true) this.#seen();
  }

  /** Sends a KEEPALIVE beside the regular ones, to learn from the answer what has been read. Only for whoever dialled. */
  probe(): void {
    this.#options.events.sendKeepalive();
  }

  /** The connection is gone, or about to be closed. */
  end(): void {
    this.#state = 'CLOSED';
    this.#timeout();
    this.#ticker();
  }

  #sendHello(): void {
    const { isServer, events } = this.#options;
    events.sendHello(helloFrame({ keepaliveSeconds: this.#keepaliveSeconds, isServer, readsAnySplit: true }));
  }

  #fail(reason: string): void {
    if (this.#state === 'CLOSED') return;
    this.end();
    this.#options.events.failed(reason);
  }

  #tick(): void {
    this.#options.events.sendKeepalive();
    this.#ticker = this.#options.surroundings.timer(this.#keepaliveSeconds * 1000, () => this.#tick());
  }

  #seen(): void {
    this.#lastSign = this.#options.surroundings.uptime();
  }

  /** Rings when the silence has lasted too long. Signs of life are many, so they do not touch the timer. */
  #watch(): void {
    this.#timeout();
    const { surroundings } = this.#options;
    this.#timeout = surroundings.timer(Math.max(1, Math.ceil(this.#patienceLeft)), () => {
      // This program may have been busy for so long that signs of life lie unread.
      if (this.#patienceLeft <= 0) surroundings.soon(() => this.#giveUpOrWatch());
      else this.#watch();
    });
  }

  #giveUpOrWatch(): void {
    if (this.#state === 'CLOSED') return;
    if (this.#patienceLeft > 0) this.#watch();
    else this.#fail(`nothing was heard for ${this.#keepaliveSeconds * 2.5} seconds`);
  }

  /** In milliseconds, until the silence has lasted two and a half intervals. */
  get #patienceLeft(): number {
    return this.#lastSign + this.#keepaliveSeconds * 2500 - this.#options.surroundings.uptime();
  }
}
