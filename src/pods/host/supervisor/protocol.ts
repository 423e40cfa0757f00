import type { Socket } from 'node:net';
import type { ContainerSpec, ContainerState, ExecSpec, SandboxSpec, SandboxState } from '../runtime.ts';

/**
 * What agent and supervisor say to each other on a unix socket. They may be of different versions: an agent that was
 * upgraded goes on with the supervisor that has its containers. So what is here only ever grows, and whoever does not know
 * a field leaves it alone; a change that an older side would get wrong raises PROTOCOL.
 */
export const PROTOCOL = 1;

/** The first message of a connection says what it is for. */
export type Opening =
  | { readonly open: 'control'; readonly protocol: number }
  | { readonly open: 'exec'; readonly spec: ExecSpec }
  | { readonly open: 'attach'; readonly containerId: string };

/** The answer to it. */
export type Opened = Hello | SessionOpened | { readonly failure: Failure };

export interface SessionOpened {
  /** All output comes as one stream. */
  readonly tty: boolean;
  /** Whether there is anybody to read input. */
  readonly stdin: boolean;
}

export interface Hello {
  readonly protocol: number;
  /** Of Netloom. */
  readonly version: string;
  readonly pid: number;
}

/** On a connection for control, requests may be answered in any order; changes come whenever they happen. */
export interface Request {
  readonly id: number;
  readonly call: keyof Calls;
  readonly with: unknown;
}

export type Reply =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly failure: Failure };
export type FromSupervisor = Reply | { readonly changed: ContainerState };

export interface Calls {
  list(input: Record<string, never>): { sandboxes: SandboxState[]; containers: ContainerState[] };
  createSandbox(input: { spec: SandboxSpec }): SandboxState;
  removeSandbox(input: { id: string }): void;
  startContainer(input: { spec: ContainerSpec }): ContainerState;
  signal(input: { id: string; signal: NodeJS.Signals }): void;
  removeContainer(input: { id: string }): void;
  /** Ends when nothing is there, so that a newer one can take its place. Answers whether it does. */
  retire(input: Record<string, never>): boolean;
  /** Ends everything, and itself. */
  shutDown(input: Record<string, never>): void;
}

/** Errors keep what is more than their message. */
export interface Failure {
  readonly message: string;
  /** Of a StartError. */
  readonly reason?: string;
}

/** The first byte of a message. */
export const frame = {
  /** Everything on a connection for control, and the opening of any other. */
  json: 0,
  stdin: 1,
  stdinEnd: 2,
  stdout: 3,
  stderr: 4,
  /** Columns and rows, two bytes each. */
  resize: 5,
  kill: 6,
  /** The exit code, four bytes. */
  ended: 7,
  /** Means nothing: it only finds out whether the other side is still there. */
  knock: 8,
} as const;

export type FrameType = (typeof frame)[keyof typeof frame];

/** Messages of a socket: a byte that says what it is, its length in four bytes, and itself. */
export class Frames {
  readonly socket: Socket;
  #begun: Buffer[] = [];
  #begunBytes = 0;
  #receive: ((type: number, payload: Buffer) => void) | undefined;
  #refused = false;

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (chunk: Buffer) => {
      if (this.#refused) return;
      this.#begun.push(chunk);
      this.#begunBytes += chunk.length;
      this.#read();
    });
  }

  /** The next message; what comes after it waits for `receive`. Rejects when the socket closes before. */
  next(): Promise<{ type: number; payload: Buffer }> {
    return new Promise((resolve, reject) => {
      const gone = (): void => reject(new Error('the other side has gone away'));
      this.socket.once('close', gone);
      if (this.socket.destroyed) gone();
      this.receive((type, payload) => {
        this.socket.off('close', gone);
        this.#receive = undefined;
        resolve({ type, payload });
      });
    });
  }

  /** Takes all messages from now on, beginning with those that have come already. */
  receive(receive: (type: number, payload: Buffer) => void): void {
    this.#receive = receive;
    this.#read();
  }

  /** What comes makes no sense: the other side is told why, and not listened to any more. */
  refuse(message: string): void {
    this.#refused = true;
    [this.#begun, this.#begunBytes, this.#receive] = [[], 0, undefined];
    this.sendJson({ failure: { message } });
    this.socket.destroySoon();
  }

  /** Whether more should be sent at once; otherwise the socket emits `drain`. */
  send(type: FrameType, payload: Buffer = EMPTY): boolean {
    if (this.socket.destroyed || !this.socket.writable) return true;
    const head = Buffer.alloc(HEAD);
    head.writeUInt8(type);
    head.writeUInt32BE(payload.length, 1);
    this.socket.cork();
    this.socket.write(head);
    const more = payload.length === 0 ? true : this.socket.write(payload);
    this.socket.uncork();
    return more;
  }

  sendJson(value: Opening | Opened | Request | FromSupervisor): void {
    this.send(frame.json, Buffer.from(JSON.stringify(value)));
  }

  #read(): void {
    if (this.#begunBytes < this.#wanted()) return;
    let bytes = Buffer.concat(this.#begun);
    while (this.#receive !== undefined && bytes.length >= HEAD) {
      const length = bytes.readUInt32BE(1);
      if (length > LONGEST) {
        this.refuse(`a message of ${length} bytes is too long: ${LONGEST} are the most`);
        return;
      }
      if (bytes.length < HEAD + length) break;
      const [type, payload] = [bytes.readUInt8(), bytes.subarray(HEAD, HEAD + length)];
      bytes = bytes.subarray(HEAD + length);
      this.#keep(bytes);
      this.#receive(type, payload);
      if (this.#refused) return;
    }
    this.#keep(bytes);
  }

  #keep(bytes: Buffer): void {
    this.#begun = bytes.length === 0 ? [] : [bytes];
    this.#begunBytes = bytes.length;
  }

  /** How many bytes there must be before looking at them is of use. */
  #wanted(): number {
    const [first] = this.#begun;
    if (first === undefined || first.length < HEAD) return HEAD;
    return HEAD + Math.min(first.readUInt32BE(1), LONGEST);
  }
}

const HEAD = 5;
/** Of a message: the arguments and the environment of a program, which the kernel takes no more of than a few megabytes. */
const LONGEST = 16 * 2 ** 20;
const EMPTY = Buffer.alloc(0);
