import type { Surroundings } from './surroundings.ts';

/**
 * How much may be under way to a peer. Netloom reads whatever comes, so TCP itself is the limit. A metalbond reads at most
 * 64 KiB at once, takes that for whole frames, and drops the session when its buffer was full: it gets small pieces of
 * whole frames, each fit for one packet, and never much that it has not read.
 */
export interface Allowance {
  /** What is sent at once has at most this many bytes. */
  readonly piece: number;
  /** How many bytes may be sent now. */
  room(): number;
  sent(bytes: number): void;
  /** A KEEPALIVE that the peer will answer was sent behind everything else. */
  asked(): void;
  answered(): void;
  /** An answer is needed before much more may be sent. */
  readonly wantsAnswer: boolean;
  /** In how many milliseconds there is room again; undefined: that depends on an answer. */
  wait(): number | undefined;
}

/** Largest frame of metalbond: with its header it fits into the smallest packet of IPv6. */
const packet = 1188;

export const unlimited: Allowance = {
  piece: 65_536,
  room: () => Number.POSITIVE_INFINITY,
  sent() {},
  asked() {},
  answered() {},
  wantsAnswer: false,
  wait: () => undefined,
};

/**
 * For a metalbond that was dialled: it answers every KEEPALIVE, and it reads in order, so an answer says that everything
 * before has been read. Eight packets fit into the first window of every TCP, so that none of them is cut in two.
 */
export class AnsweredAllowance implements Allowance {
  readonly piece = packet;
  readonly #window = 8 * packet;
  /** How much had been sent before each KEEPALIVE that was not answered yet. */
  readonly #marks: number[] = [];
  #sent = 0;
  #read = 0;
  #lastMark = 0;

  room(): number {
    return this.#window - (this.#sent - this.#read);
  }

  sent(bytes: number): void {
    this.#sent += bytes;
  }

  asked(): void {
    this.#marks.push(this.#sent);
    this.#lastMark = this.#sent;
  }

  answered(): void {
    this.#read = Math.max(this.#read, this.#marks.shift() ?? 0);
  }

  get wantsAnswer(): boolean {
    return this.#sent - this.#lastMark > this.#window / 2;
  }

  wait(): undefined {
    return undefined;
  }
}

/**
 * For a metalbond that has dialled: it never answers, so nothing tells what it has read. A steady pace leaves it a fifth of
 * a second of doing something else before 64 KiB have come together.
 */
export class PacedAllowance implements Allowance {
  readonly piece = packet;
  readonly wantsAnswer = false;
  readonly #burst = 8 * packet;
  readonly #bytesPerSecond: number;
  readonly #surroundings: Pick<Surroundings, 'uptime'>;
  #room = this.#burst;
  #updated: number;

  constructor(surroundings: Pick<Surroundings, 'uptime'>, bytesPerSecond = 256 * 1024) {
    this.#surroundings = surroundings;
    this.#bytesPerSecond = bytesPerSecond;
    this.#updated = surroundings.uptime();
  }

  room(): number {
    const now = this.#surroundings.uptime();
    this.#room = Math.min(this.#burst, this.#room + ((now - this.#updated) / 1000) * this.#bytesPerSecond);
    this.#updated = now;
    return this.#room;
  }

  sent(bytes: number): void {
    this.#room -= bytes;
  }

  asked(): void {}

  answered(): void {}

  wait(): number {
    return Math.max(1, Math.ceil(((this.piece - this.room()) / this.#bytesPerSecond) * 1000));
  }
}
