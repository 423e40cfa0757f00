import type { Hello } from './codec.ts';
import { Histogram, Traffic } from './counters.ts';
import { Link, type PeerKind } from './link.ts';
import type { Participant, Role } from './participant.ts';
import { PeerRules, RuleBook } from './rules.ts';
import type { Direction } from './session.ts';
import type { Surroundings } from './surroundings.ts';
import { RouteTable } from './table.ts';
import { type Patience, Upstream } from './upstream.ts';
import type { Dial, Wire, WireHandler } from './wire.ts';

export interface SpeakerOptions {
  readonly surroundings: Surroundings;
  /** Whether other hosts connect to this one. */
  readonly isServer: boolean;
  readonly keepaliveSeconds?: number;
  readonly rules?: RuleBook;
  readonly maxPeers?: number;
  readonly kind?: PeerKind;
  readonly patience?: Partial<Patience>;
  readonly log?: (line: string) => void;
}

export const defaultKeepaliveSeconds = 5;
export const defaultPatience: Patience = { keepLostSeconds: 120, settleSeconds: 20 };

/**
 * A program that speaks the route protocol: a server, a client or both. All of them have one table, in which peers take
 * part over links; the server is one that accepts connections, the client one that has something to say itself.
 */
export class Speaker {
  readonly table: RouteTable;
  /** Links that were accepted; those that were dialled are with their upstreams. */
  readonly accepted = new Set<Link>();
  readonly upstreams = new Set<Upstream>();
  /** How long it took until everybody had been told of a change. */
  readonly convergence = new Histogram();
  /** Of the links that are gone. */
  readonly #past = new Traffic();
  readonly #options: Required<Omit<SpeakerOptions, 'patience'>> & { patience: Patience };
  readonly #linkOf = new Map<Participant, Link>();
  readonly #busy = new Set<Link>();
  readonly #scratch = new Uint8Array(65_536);
  #pumping = false;
  #self: { participant: Participant; pending: () => void } | undefined;
  sessionsEnded = 0;
  peersRefused = 0;

  constructor({ patience, ...options }: SpeakerOptions) {
    this.#options = {
      keepaliveSeconds: defaultKeepaliveSeconds,
      rules: new RuleBook(),
      maxPeers: 10_000,
      kind: 'auto',
      log: () => {},
      ...options,
      patience: { ...defaultPatience, ...patience },
    };
    const { surroundings } = this.#options;
    this.table = new RouteTable({
      seed: Math.floor(surroundings.random() * 2 ** 32) | 0,
      uptime: () => surroundings.uptime(),
      events: {
        pending: (participant) => this.#pending(participant),
        interest: (vni, wanted) => {
          for (const upstream of this.upstreams) upstream.request(vni, wanted);
        },
        settled: (ms) => this.convergence.observe(ms / 1000),
      },
    });
  }

  get surroundings(): Surroundings {
    return this.#options.surroundings;
  }

  /** Makes this program take part in the table itself. `pending` is called when there is something to `drain`. */
  join(pending: () => void): Participant {
    const participant = this.table.join('self');
    this.#self = { participant, pending };
    this.table.attach(participant);
    return participant;
  }

  /** A peer has connected. */
  accept(wire: Wire): WireHandler {
    const { rules, maxPeers, log } = this.#options;
    const peerRules = rules.rulesFor(wire);
    if (peerRules === undefined || this.accepted.size >= maxPeers) {
      this.peersRefused += 1;
      log(
        `peer ${wire.remote} refused: ${peerRules === undefined ? 'no rule allows it' : `there are ${maxPeers} already`}`,
      );
      wire.close();
      return deaf;
    }
    const link = this.#link(wire, { direction: 'incoming', rules: peerRules });
    this.accepted.add(link);
    link.start();
    return link;
  }

  /** Dials a server, for as long as the speaker lives. */
  connect(address: string, dial: Dial): Upstream {
    const { surroundings, patience, log } = this.#options;
    const upstream = new Upstream({
      address,
      dial,
      table: this.table,
      surroundings,
      patience,
      log,
      link: (wire, own) => this.#link(wire, { direction: 'outgoing', rules: serverRules, upstream: own }),
      wanted: () => this.interests(),
    });
    this.upstreams.add(upstream);
    upstream.start();
    return upstream;
  }

  /** Ends all sessions. */
  stop(): void {
    for (const upstream of this.upstreams) upstream.stop();
    for (const link of this.accepted) link.end('this side is being stopped');
  }

  /** What all links together have done so far. */
  get traffic(): Traffic {
    const sum = new Traffic();
    sum.add(this.#past);
    for (const link of this.links()) sum.add(link.traffic);
    return sum;
  }

  *links(): Generator<Link> {
    yield* this.accepted;
    for (const { link } of this.upstreams) if (link !== undefined) yield link;
  }

  /** Who takes part, as people know them. */
  names(): Map<Participant, string> {
    const names = new Map<Participant, string>();
    for (const { participant, wire } of this.accepted)
      if (participant !== undefined) names.set(participant, wire.remote);
    for (const { participant, address } of this.upstreams) names.set(participant, address);
    if (this.#self !== undefined) names.set(this.#self.participant, 'self');
    return names;
  }

  #link(
    wire: Wire,
    { direction, rules, upstream }: { direction: Direction; rules: PeerRules; upstream?: Upstream },
  ): Link {
    const { surroundings, keepaliveSeconds, isServer, kind } = this.#options;
    return new Link({
      wire,
      direction,
      rules,
      table: this.table,
      surroundings,
      keepaliveSeconds,
      isServer,
      kind,
      events: {
        greeted: (link, hello) => this.#greeted(link, hello, upstream),
        established: (link) => this.#established(link, upstream),
        wake: (link) => this.#wake(link),
        ended: (link, reason) => this.#ended(link, reason, upstream),
      },
    });
  }

  #greeted(link: Link, hello: Hello, upstream: Upstream | undefined): Participant {
    const role: Role = hello.isServer ? 'server' : 'client';
    const participant = upstream?.participant ?? this.table.join(role);
    this.#linkOf.set(participant, link);
    return participant;
  }

  #established(link: Link, upstream: Upstream | undefined): void {
    if (upstream !== undefined) upstream.established();
    else this.#options.log(`peer ${link.wire.remote}: session established`);
  }

  #ended(link: Link, reason: string, upstream: Upstream | undefined): void {
    this.sessionsEnded += 1;
    this.#past.add(link.traffic);
    this.#busy.delete(link);
    this.accepted.delete(link);
    if (link.participant !== undefined) this.#linkOf.delete(link.participant);
    if (upstream !== undefined) upstream.ended(reason);
    else {
      this.#options.log(`peer ${link.wire.remote}: ${reason}`);
      if (link.participant !== undefined) this.table.leave(link.participant);
    }
  }

  #pending(participant: Participant): void {
    if (participant === this.#self?.participant) this.#self.pending();
    const link = this.#linkOf.get(participant);
    if (link !== undefined) this.#wake(link);
  }

  /** Links send after everything that has come in has been read: many small changes then leave in one piece. */
  #wake(link: Link): void {
    this.#busy.add(link);
    if (this.#pumping) return;
    this.#pumping = true;
    this.surroundings.soon(() => this.#pump());
  }

  #pump(): void {
    const busy = [...this.#busy];
    this.#busy.clear();
    this.#pumping = false;
    for (const link of busy) if (link.pump(this.#scratch)) this.#wake(link);
  }

  /** The virtual networks that hosts here want to know of. */
  *interests(): Generator<number> {
    for (const { vni, interested } of this.table.networks.values()) if (interested > 0) yield vni;
  }
}

/** A server that was configured is believed. */
const serverRules = new PeerRules({ maxRoutes: Number.POSITIVE_INFINITY });

const deaf: WireHandler = { received() {}, ready() {}, closed() {} };
