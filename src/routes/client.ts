import type { Words } from './address.ts';
import type { Participant } from './participant.ts';
import { checkedVni, Route, routeWords } from './route.ts';
import type { SessionState } from './session.ts';
import { dialer, formatEndpoint, parseEndpoint, type TlsFiles } from './sockets.ts';
import { Speaker, type SpeakerOptions } from './speaker.ts';
import { realSurroundings, type Surroundings } from './surroundings.ts';
import type { Dial } from './wire.ts';

/** Learns what comes and goes. Called after the table has changed, in order, and free to announce or withdraw itself. */
export interface RouteListener {
  added(route: Route): void;
  removed(route: Route): void;
}

export interface RouteClientOptions extends Omit<SpeakerOptions, 'isServer' | 'surroundings' | 'rules' | 'maxPeers'> {
  /** All of them are dialled and told the same; `HOST:PORT`. */
  readonly servers?: readonly string[];
  readonly tls?: TlsFiles | undefined;
  readonly listener?: RouteListener;
  readonly surroundings?: Surroundings;
}

/**
 * Announces routes to one or several route servers and learns those of others. What is announced and subscribed is kept
 * and told to every server whenever it is there; a route that several servers know is reported once. Routes of a server
 * that is lost stay for a while, and those it still has when it is back are neither removed nor added again.
 */
export class RouteClient {
  readonly speaker: Speaker;
  readonly #tls: TlsFiles | undefined;
  readonly #listener: RouteListener | undefined;
  readonly #self: Participant;
  readonly #words: Words = new Uint32Array(routeWords);
  readonly #servers = new Map<string, () => SessionState>();
  #delivering = false;
  /** What the listener has not been told yet, in order. */
  #untold: [boolean, Route][] = [];

  constructor({ servers = [], tls, listener, ...options }: RouteClientOptions) {
    const endpoints = servers.map(parseEndpoint);
    this.#tls = tls;
    this.#listener = listener;
    this.speaker = new Speaker({ surroundings: realSurroundings, ...options, isServer: false });
    this.#self = this.speaker.join(() => this.#deliverSoon());
    for (const endpoint of endpoints) this.connect(formatEndpoint(endpoint), dialer(endpoint, this.#tls));
  }

  /** Dials one more server, over whatever `dial` connects with. */
  connect(name: string, dial: Dial): void {
    const upstream = this.speaker.connect(name, dial);
    this.#servers.set(name, () => upstream.state);
  }

  /** False: it is announced already. */
  announce(route: Route): boolean {
    route.copyTo(this.#words);
    return this.speaker.table.claim(this.#self, this.#words) === 'new';
  }

  /** False: it was not announced. */
  withdraw(route: Route): boolean {
    route.copyTo(this.#words);
    return this.speaker.table.withdraw(this.#self, this.#words);
  }

  isAnnounced(route: Route): boolean {
    route.copyTo(this.#words);
    return this.speaker.table.says(this.#self, this.#words);
  }

  /** False: it is subscribed already. */
  subscribe(vni: number): boolean {
    return this.speaker.table.subscribe(this.#self, checkedVni('VNI', vni));
  }

  /** False: it was not subscribed. For the listener all routes of the virtual network are removed by this. */
  unsubscribe(vni: number): boolean {
    if (this.#listener !== undefined) {
      for (const route of this.routes(vni)) this.#untold.push([false, route]);
      this.#deliverSoon();
    }
    return this.speaker.table.unsubscribe(this.#self, vni);
  }

  /** What others have announced in the virtual networks that are subscribed, without what has only just come in. */
  *routes(vni?: number): Generator<Route> {
    const { table } = this.speaker;
    for (const number of vni === undefined ? table.networks.keys() : [vni]) {
      for (const slot of table.slotsOf(number)) {
        if (this.#self.wasTold(slot)) yield new Route(table.routes.words, slot * routeWords);
      }
    }
  }

  /** How many routes `routes()` has. */
  get routeCount(): number {
    return this.#self.toldCount;
  }

  /** Each server with the state of its session. */
  get servers(): ReadonlyMap<string, SessionState> {
    return new Map([...this.#servers].map(([name, state]) => [name, state()]));
  }

  /** Closes the sessions; the servers then withdraw what was announced. */
  stop(): void {
    this.speaker.stop();
  }

  #deliverSoon(): void {
    if (this.#delivering) return;
    this.#delivering = true;
    this.speaker.surroundings.soon(() => this.#deliver());
  }

  #deliver(): void {
    this.#delivering = false;
    const { table } = this.speaker;
    const listener = this.#listener;
    const hasMore = table.drain(this.#self, (add, slot) => {
      if (this.#untold.length >= changesInATurn) return false;
      if (listener !== undefined) this.#untold.push([add, new Route(table.routes.words, slot * routeWords)]);
      return true;
    });
    if (hasMore) this.#deliverSoon();
    const untold = this.#untold;
    this.#untold = [];
    for (const [add, route] of untold) add ? listener?.added(route) : listener?.removed(route);
  }
}

/** How many changes the listener is told before sockets are looked at again. */
const changesInATurn = 10_000;
