import type { Surroundings } from '../surroundings.ts';
import type { Dial, Wire, WireHandler } from '../wire.ts';

/** Virtual time, seeded chance and a network in memory. The same seed and the same calls give the same run. */
export class Simulation implements Surroundings {
  #now = 0;
  #state: number;
  #order = 0;
  /** Sorted by time, then by the order in which they were planned. */
  readonly #plans: { time: number; order: number; task: () => void }[] = [];
  readonly #listeners = new Map<string, (wire: Wire) => WireHandler>();
  readonly #connections = new Set<Connection>();
  #port = 1024;

  constructor(seed = 1) {
    this.#state = seed | 0;
  }

  now(): number {
    return Date.UTC(2026, 0, 1) + this.#now;
  }

  uptime(): number {
    return this.#now;
  }

  timer(ms: number, ring: () => void): () => void {
    this.#order += 1;
    const plan = { time: this.#now + Math.max(0, ms), order: this.#order, task: ring };
    const after = this.#plans.findLastIndex(({ time }) => time <= plan.time);
    this.#plans.splice(after + 1, 0, plan);
    return () => {
      const place = this.#plans.indexOf(plan);
      if (place >= 0) this.#plans.splice(place, 1);
    };
  }

  soon(task: () => void): void {
    this.timer(0, task);
  }

  /** Mulberry32. */
  random(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }

  /** A whole number below `bound`. */
  pick(bound: number): number {
    return Math.floor(this.random() * bound);
  }

  /** How much is planned: a part that has stopped leaves nothing behind. */
  get planned(): number {
    return this.#plans.length;
  }

  pass(ms: number): void {
    const end = this.#now + ms;
    for (let plan = this.#plans[0]; plan !== undefined && plan.time <= end; plan = this.#plans[0]) {
      this.#plans.shift();
      this.#now = plan.time;
      plan.task();
    }
    this.#now = end;
  }

  listen(address: string, accept: (wire: Wire) => WireHandler): void {
    this.#listeners.set(address, accept);
  }

  unlisten(address: string): void {
    this.#listeners.delete(address);
  }

  dialer(address: string): Dial {
    return ({ opened, failed }) =>
      this.timer(this.pick(3), () => {
        const accept = this.#listeners.get(address);
        if (accept === undefined) return failed('connection refused');
        this.#port += 1;
        const [near, far] = this.connect(address, `[2001:db8::c]:${this.#port}`);
        far.handler = accept(far);
        near.handler = opened(near);
      });
  }

  /** Both ends of a new connection, without anybody at them. Each knows the other by the given name. */
  connect(nameOfFar = 'far', nameOfNear = 'near'): [End, End] {
    const connection = new Connection(this, nameOfFar, nameOfNear);
    this.#connections.add(connection);
    return connection.ends;
  }

  /** Breaks some connection that is in use; false if there is none. */
  breakOne(): boolean {
    const open = [...this.#connections].filter(({ isOpen }) => isOpen);
    open[this.pick(Math.max(1, open.length))]?.break();
    return open.length > 0;
  }
}

/** Carries bytes in pieces of any size, holds up the sender when much is under way, and can break. */
class Connection {
  readonly ends: [End, End];
  isOpen = true;

  constructor(simulation: Simulation, nameOfFar: string, nameOfNear: string) {
    const near = new End(simulation, this, nameOfFar);
    const far = new End(simulation, this, nameOfNear);
    near.other = far;
    far.other = near;
    this.ends = [near, far];
  }

  break(): void {
    this.isOpen = false;
    for (const end of this.ends) end.lose('connection reset');
  }
}

export class End implements Wire {
  readonly remote: string;
  readonly names: readonly string[] = [];
  handler: WireHandler = { received() {}, ready() {}, closed() {} };
  other: End | undefined;
  /** What was sent at once, for tests that look at it. */
  readonly sent: Uint8Array[] = [];
  recordsSent = false;
  /** Nothing is taken out of the connection while it is set. */
  deaf = false;
  readonly #simulation: Simulation;
  readonly #connection: Connection;
  #underWay: Uint8Array[] = [];
  #waiting = 0;
  #isHeldUp = false;
  #isClosed = false;

  constructor(simulation: Simulation, connection: Connection, remote: string) {
    this.#simulation = simulation;
    this.#connection = connection;
    this.remote = remote;
  }

  /** Bytes that were sent and not taken by the other side yet. */
  get waiting(): number {
    return this.#waiting;
  }

  send(bytes: Uint8Array): boolean {
    if (this.#isClosed || !this.#connection.isOpen) return false;
    if (this.recordsSent) this.sent.push(bytes);
    this.#underWay.push(bytes);
    this.#waiting += bytes.length;
    this.#isHeldUp = this.#waiting > holdUpAt;
    this.#simulation.timer(this.#simulation.pick(3), () => this.deliver());
    return !this.#isHeldUp;
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#connection.isOpen = false;
    this.other?.lose('the peer has closed the connection');
  }

  lose(reason: string): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#simulation.timer(this.#simulation.pick(3), () => this.handler.closed(reason));
  }

  deliver(): void {
    if (this.other === undefined || this.other.deaf) return;
    while (this.#waiting > 0 && this.#connection.isOpen) {
      const all = Buffer.concat(this.#underWay);
      const length = Math.min(all.length, 1 + this.#simulation.pick(this.#simulation.pick(4) === 0 ? 10 : 5000));
      this.#underWay = length === all.length ? [] : [all.subarray(length)];
      this.#waiting -= length;
      this.other.handler.received(all.subarray(0, length));
    }
    if (!this.#isHeldUp || !this.#connection.isOpen) return;
    this.#isHeldUp = false;
    this.#simulation.soon(() => {
      if (this.#connection.isOpen) this.handler.ready();
    });
  }
}

const holdUpAt = 2000;
