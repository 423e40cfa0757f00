import { type Allowance, AnsweredAllowance, PacedAllowance, unlimited } from './allowance.ts';
import { decodeHello, decodeSubscription, type Hello, keepaliveFrame, longestFrame, writeUpdate } from './codec.ts';
import { Traffic } from './counters.ts';
import { FrameReader, frameType } from './frames.ts';
import type { Participant } from './participant.ts';
import { Reception } from './reception.ts';
import { routeWords } from './route.ts';
import type { PeerRules } from './rules.ts';
import { type Direction, Session } from './session.ts';
import { SubscriptionRequests } from './subscription-requests.ts';
import type { Cancel, Surroundings } from './surroundings.ts';
import type { RouteTable } from './table.ts';
import type { Wire, WireHandler } from './wire.ts';

/** `netloom`: reads any split, at any speed. `metalbond`: has to be spared. `auto`: it says so in its HELLO. */
export type PeerKind = 'auto' | 'netloom' | 'metalbond';

export interface LinkOptions {
  readonly wire: Wire;
  readonly direction: Direction;
  readonly table: RouteTable;
  readonly rules: PeerRules;
  readonly surroundings: Surroundings;
  readonly keepaliveSeconds: number;
  readonly isServer: boolean;
  readonly kind: PeerKind;
  readonly events: LinkEvents;
}

export interface LinkEvents {
  /** The peer has said who it is: as whom does it take part in the table? */
  greeted(link: Link, hello: Hello): Participant;
  established(link: Link): void;
  /** `pump` may find something to send. */
  wake(link: Link): void;
  /** The connection is gone. The link is of no use any more; its participant still is in the table. */
  ended(link: Link, reason: string): void;
}

/** Between one connection and the table: reads what the peer says, and writes what it should know when it can take it. */
export class Link implements WireHandler {
  readonly traffic = new Traffic();
  readonly session: Session;
  participant: Participant | undefined;
  readonly since: number;
  readonly #options: LinkOptions;
  readonly #reader: FrameReader;
  readonly #reception: Reception;
  readonly #requests = new SubscriptionRequests();
  #allowance: Allowance = unlimited;
  #hello: Uint8Array | undefined;
  /** KEEPALIVEs: to be sent, sent, and (for whoever dialled) answered. */
  #owed = 0;
  #asked = 0;
  #answers = 0;
  #blocked = false;
  #ended = false;
  #cancelWait: Cancel = () => {};

  constructor(options: LinkOptions) {
    const { direction, keepaliveSeconds, isServer, surroundings, table, rules } = options;
    this.#options = options;
    this.since = surroundings.now();
    this.#reader = new FrameReader({
      frame: (type, bytes, start, end) => this.#receive(type, bytes, start, end),
      foreignVersion: (version) => this.end(`the peer speaks version ${version} of the protocol; 1 is known here`),
    });
    this.#reception = new Reception({
      table,
      rules,
      traffic: this.traffic,
      ignores: (vni) => this.#requests.ignores(vni),
    });
    this.session = new Session({
      direction,
      keepaliveSeconds,
      isServer,
      surroundings,
      events: {
        sendHello: (frame) => this.#queueHello(frame),
        sendKeepalive: () => this.#queueKeepalive(),
        established: () => this.#establish(),
        answered: () => this.#answered(),
        failed: (reason) => this.end(reason),
      },
    });
  }

  start(): void {
    this.session.start();
  }

  get wire(): Wire {
    return this.#options.wire;
  }

  get direction(): Direction {
    return this.#options.direction;
  }

  /** Asks the peer for the routes of a virtual network, or asks it to stop. Only for whoever dialled. */
  request(vni: number, wanted: boolean): void {
    this.#requests.want(vni, wanted);
    this.#wake();
  }

  received(bytes: Uint8Array): void {
    this.traffic.bytesReceived += bytes.length;
    this.#reader.push(bytes);
    this.session.receiveBytes();
  }

  ready(): void {
    this.#blocked = false;
    this.#wake();
  }

  closed(reason: string): void {
    this.end(reason);
  }

  end(reason: string): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#reader.stop();
    this.#cancelWait();
    this.session.end();
    this.wire.close();
    this.#options.events.ended(this, reason);
  }

  /** Sends what there is to send and may be sent now. Returns whether it should be called again soon. */
  pump(scratch: Uint8Array): boolean {
    this.#cancelWait();
    for (let pieces = 0; pieces < piecesInATurn && !this.#blocked && !this.#ended; pieces += 1) {
      const { length, isFull } = this.#fill(scratch);
      if (length > 0) this.#send(scratch.subarray(0, length));
      if (!isFull) return this.#owed > 0 && !this.#blocked;
      if (length === 0) return this.#waitForRoom();
      // Large pieces one at a time: others want to be read and written, too.
      if (this.#allowance === unlimited) break;
    }
    return !this.#blocked && !this.#ended;
  }

  /** Writes as much as one piece may hold. `isFull`: there was more. */
  #fill(scratch: Uint8Array): { length: number; isFull: boolean } {
    const limit = Math.min(scratch.length, this.#allowance.piece, this.#allowance.room());
    const start = this.#fillControl(scratch);
    if (this.session.state !== 'ESTABLISHED' || this.participant === undefined) return { length: start, isFull: false };
    const barrier = this.#asked + this.#owed + 1;
    const { end, left, isFull } = this.#requests.write(scratch, start, { limit, barrier });
    // With the subscription the server drops what was announced there; it is told again when that is certain to be over.
    for (const vni of left) this.#options.table.mute(this.participant, vni);
    if (left.length > 0) this.#owed += 1;
    if (isFull) return { length: end, isFull };
    return this.#fillUpdates(this.participant, scratch, end, limit);
  }

  /** What is sent even if there is no room otherwise: it is little, and without it the session ends. */
  #fillControl(scratch: Uint8Array): number {
    let length = this.#hello?.length ?? 0;
    if (this.#hello !== undefined) scratch.set(this.#hello);
    this.#hello = undefined;
    for (; this.#owed > 0 && length + keepalive.length <= largestControl; this.#owed -= 1) {
      scratch.set(keepalive, length);
      length += keepalive.length;
      this.#asked += 1;
      this.#allowance.asked();
    }
    return length;
  }

  #fillUpdates(
    to: Participant,
    scratch: Uint8Array,
    start: number,
    limit: number,
  ): { length: number; isFull: boolean } {
    const { table } = this.#options;
    const { traffic } = this;
    const { words } = table.routes;
    let length = start;
    const isFull = table.drain(to, (add, slot) => {
      if (length + longestFrame > limit) return false;
      length = writeUpdate(scratch, length, add, words, slot * routeWords);
      if (add) traffic.addsSent += 1;
      else traffic.removesSent += 1;
      return true;
    });
    return { length, isFull };
  }

  #send(bytes: Uint8Array): void {
    this.traffic.bytesSent += bytes.length;
    this.#allowance.sent(bytes.length);
    this.#blocked = !this.wire.send(Buffer.from(bytes));
    if (this.#allowance.wantsAnswer) this.session.probe();
  }

  #waitForRoom(): false {
    const wait = this.#allowance.wait();
    if (wait !== undefined) this.#cancelWait = this.#options.surroundings.timer(wait, () => this.#wake());
    return false;
  }

  #wake(): void {
    if (!this.#ended) this.#options.events.wake(this);
  }

  #queueHello(frame: Uint8Array): void {
    this.#hello = frame;
    this.#wake();
  }

  /** Whoever asks more often than it reads gets fewer answers, not a longer queue. */
  #queueKeepalive(): void {
    this.#owed = Math.min(this.#owed + 1, 1000);
    this.#wake();
  }

  #establish(): void {
    if (this.participant !== undefined) this.#options.table.attach(this.participant);
    this.#options.events.established(this);
    this.#wake();
  }

  #chooseAllowance(hello: Hello): Allowance {
    const { kind, direction, surroundings } = this.#options;
    if (kind === 'netloom' || (kind === 'auto' && hello.readsAnySplit)) return unlimited;
    return direction === 'outgoing' ? new AnsweredAllowance() : new PacedAllowance(surroundings);
  }

  #answered(): void {
    this.#answers += 1;
    this.#allowance.answered();
    for (const vni of this.#requests.answered(this.#answers)) {
      if (this.participant !== undefined) this.#options.table.unmute(this.participant, vni);
    }
    this.#wake();
  }

  #receive(type: number, bytes: Uint8Array, start: number, end: number): void {
    if (type === frameType.update) this.#receiveUpdate(bytes, start, end);
    else if (type === frameType.keepalive) this.session.receiveKeepalive();
    else if (type === frameType.hello) this.#receiveHello(decodeHello(bytes, start, end));
    else if (type === frameType.subscribe) this.#receiveSubscription(true, decodeSubscription(bytes, start, end));
    else if (type === frameType.unsubscribe) this.#receiveSubscription(false, decodeSubscription(bytes, start, end));
    else this.traffic.ignored.add('unknown message');
  }

  #receiveHello(hello: Hello | undefined): void {
    if (hello === undefined) this.#garbled('HELLO');
    else this.session.receiveHello(hello);
    if (hello === undefined || this.#ended) return;
    this.#allowance = this.#chooseAllowance(hello);
    this.participant = this.#options.events.greeted(this, hello);
  }

  #receiveSubscription(subscribe: boolean, vni: number | undefined): void {
    if (vni === undefined) this.#garbled('SUBSCRIBE or UNSUBSCRIBE');
    else if (!this.session.receiveOther() || this.participant === undefined) return;
    else if (this.direction === 'outgoing') this.traffic.ignored.add('subscription of a server');
    else if (subscribe) this.#reception.subscribe(this.participant, vni);
    else this.#reception.unsubscribe(this.participant, vni);
  }

  #receiveUpdate(bytes: Uint8Array, start: number, end: number): void {
    if (!this.session.receiveOther() || this.participant === undefined) return;
    if (!this.#reception.update(this.participant, bytes, start, end)) this.#garbled('UPDATE');
  }

  #garbled(what: string): void {
    this.end(`the peer has sent a ${what} that is not protobuf`);
  }
}

const keepalive = keepaliveFrame();
/** How many small pieces are sent before it is somebody else's turn. */
const piecesInATurn = 16;
/** HELLO and KEEPALIVEs at the beginning of a piece. */
const largestControl = 512;
