import type { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { ReadStream } from 'node:tty';
import type { Cancel, Clock } from '../../../runtime/clock.ts';
import { asError } from '../../../runtime/log.ts';
import { type ContainerState, StartError } from '../runtime.ts';
import type { Listener } from './container.ts';
import type { Containers } from './containers.ts';
import {
  type Calls,
  type Failure,
  Frames,
  frame,
  type Hello,
  type Opening,
  PROTOCOL,
  type Request,
} from './protocol.ts';
import type { Stdio, Taker } from './stdio.ts';

export interface ServerOptions {
  readonly containers: Containers;
  readonly version: string;
  readonly clock: Clock;
  /** Ends this process; called when whoever wished so has its answer. */
  readonly leave: () => void;
}

/** The way to the containers of this host: whoever may open the socket may do everything with them. */
export class SupervisorServer {
  readonly #options: ServerOptions;
  readonly #controls = new Set<Frames>();
  #leaving = false;

  constructor(options: ServerOptions) {
    this.#options = options;
  }

  changed(state: ContainerState): void {
    for (const control of this.#controls) {
      control.sendJson({ changed: state });
      // Whoever does not read asks anew when he comes back.
      if (control.socket.writableLength > FALLEN_BEHIND) control.socket.destroy();
    }
  }

  accept(socket: Socket): void {
    const frames = new Frames(socket);
    socket.on('error', () => socket.destroy());
    const cancel = this.#options.clock.timer(OPEN_WITHIN, () =>
      frames.refuse('the connection was opened, but never said what it is for'),
    );
    frames.next().then(
      ({ payload }) => {
        cancel();
        const opening = jsonIn(payload) as Opening | undefined;
        if (opening === undefined) frames.refuse('the first message is no JSON object');
        else this.#open(frames, opening);
      },
      () => cancel(),
    );
  }

  #open(frames: Frames, opening: Opening): void {
    if (opening.open === 'control') this.#control(frames);
    else if (opening.open === 'exec') void this.#exec(frames, opening);
    else if (opening.open === 'attach') this.#attach(frames, opening);
    else frames.refuse('this supervisor does not know what the connection is for');
  }

  #control(frames: Frames): void {
    const hello: Hello = { protocol: PROTOCOL, version: this.#options.version, pid: process.pid };
    frames.sendJson(hello);
    this.#controls.add(frames);
    frames.socket.once('close', () => this.#controls.delete(frames));
    frames.receive((type, payload) => {
      // Of a later version, perhaps.
      if (type !== frame.json) return;
      const request = jsonIn(payload) as Request | undefined;
      if (request === undefined) frames.refuse('a request is no JSON object');
      else void this.#answer(frames, request);
    });
  }

  async #answer(frames: Frames, { id, call, with: input }: Request): Promise<void> {
    try {
      const work = Object.hasOwn(this.#calls, call) ? (this.#calls[call] as (input: unknown) => unknown) : undefined;
      if (work === undefined) throw new Error(`this supervisor cannot do ${call}: it is an older one`);
      frames.sendJson({ id, result: (await work(input)) ?? null });
    } catch (error) {
      frames.sendJson({ id, failure: failureOf(error) });
    }
    if (this.#leaving) frames.socket.end(this.#options.leave);
  }

  readonly #calls: { [C in keyof Calls]: (input: Parameters<Calls[C]>[0]) => unknown } = {
    list: () => this.#options.containers.list(),
    createSandbox: ({ spec }) => this.#options.containers.createSandbox(spec),
    removeSandbox: ({ id }) => this.#options.containers.removeSandbox(id),
    startContainer: ({ spec }) => this.#options.containers.startContainer(spec),
    signal: ({ id, signal }) => this.#options.containers.signal(id, signal),
    removeContainer: ({ id }) => this.#options.containers.removeContainer(id),
    retire: () => {
      this.#leaving = this.#options.containers.isEmpty;
      return this.#leaving;
    },
    shutDown: async () => {
      await this.#options.containers.removeAll();
      this.#leaving = true;
    },
  };

  async #exec(frames: Frames, { spec }: Opening & { open: 'exec' }): Promise<void> {
    const { socket } = frames;
    const take: Taker = (stream, chunk) => (frames.send(frame[stream], chunk) ? undefined : drained(socket));
    try {
      const begun = (): void => frames.sendJson({ tty: spec.tty, stdin: spec.stdin });
      const execution = await this.#options.containers.execute(spec, { begun, take });
      // Nobody is there any more to see what it does.
      socket.once('close', execution.kill);
      if (socket.destroyed) execution.kill();
      const { stdio, kill } = execution;
      handOn(frames, stdio, { clock: this.#options.clock, kill, inputEnds: () => endInput(stdio) });
      const { exitCode } = await execution.ended;
      socket.off('close', execution.kill);
      const code = Buffer.alloc(4);
      code.writeInt32BE(exitCode);
      frames.send(frame.ended, code);
    } catch (error) {
      frames.sendJson({ failure: failureOf(error) });
    }
    socket.end();
  }

  #attach(frames: Frames, { containerId }: Opening & { open: 'attach' }): void {
    const { socket } = frames;
    const { clock } = this.#options;
    try {
      const container = this.#options.containers.container(containerId);
      const { pid, stdio, spec } = container;
      if (pid === undefined || stdio === undefined) throw new Error(`container ${spec.name} does not run`);
      const listener: Listener = (stream, chunk) => {
        frames.send(frame[stream], chunk);
        // A container does not wait for people who watch it.
        if (socket.writableLength > FALLEN_BEHIND) socket.destroy();
      };
      frames.sendJson({ tty: spec.tty, stdin: spec.stdin });
      container.listeners.add(listener);
      socket.once('close', () => container.listeners.delete(listener));
      void container.ended.then(() => socket.end());
      // Those that an older agent has started do not say: their input ends with anybody's.
      const leaveSoon = (): void => void clock.timer(LINGERING, () => socket.end());
      const inputEnds = spec.stdinOnce === false ? leaveSoon : () => endInput(stdio);
      const said = handOn(frames, stdio, { clock, kill: () => {}, inputEnds });
      socket.once('close', () => {
        if (spec.stdinOnce === true && said()) endInput(stdio);
      });
    } catch (error) {
      frames.sendJson({ failure: failureOf(error) });
      socket.end();
    }
  }
}

interface HandOnOptions {
  readonly clock: Clock;
  readonly kill: () => void;
  /** The client has nothing more to say. */
  readonly inputEnds: () => void;
}

/** What comes from the client, to a program. The result tells whether anything came for it to read. */
function handOn(frames: Frames, { input, resize }: Stdio, { clock, kill, inputEnds }: HandOnOptions): () => boolean {
  const { socket } = frames;
  let said = false;
  frames.receive((type, payload) => {
    said ||= type === frame.stdin;
    if (type === frame.stdin && input?.writable === true && !input.write(payload)) {
      socket.pause();
      const stop = knockNowAndThen(frames, clock);
      void drained(input).then(() => {
        stop();
        socket.resume();
      });
    }
    if (type === frame.stdinEnd) inputEnds();
    if (type === frame.resize && payload.length === 4) resize(payload.readUInt16BE(0), payload.readUInt16BE(2));
    if (type === frame.kill) kill();
  });
  return () => said;
}

/** A socket that is not read does not tell that the client has gone away; one that is written to does. */
function knockNowAndThen(frames: Frames, clock: Clock): Cancel {
  let cancel: Cancel = () => {};
  const wait = (): void => {
    cancel = clock.timer(KNOCK_EVERY, () => {
      frames.send(frame.knock);
      wait();
    });
  };
  wait();
  return () => cancel();
}

/** A terminal has one descriptor for both directions: its end of input is a key that somebody presses. */
function endInput({ input }: Stdio): void {
  if (input instanceof ReadStream) input.write(END_OF_TRANSMISSION);
  else input?.end();
}

/** When it takes more, or never will. */
function drained(stream: Writable): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      stream.off('drain', done);
      stream.off('close', done);
      resolve();
    };
    stream.on('drain', done);
    stream.on('close', done);
    if (stream.destroyed) done();
  });
}

/** Undefined when it is none. */
function jsonIn(payload: Buffer): object | undefined {
  try {
    const value: unknown = JSON.parse(payload.toString());
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

function failureOf(thrown: unknown): Failure {
  const { message } = asError(thrown);
  return thrown instanceof StartError ? { message, reason: thrown.reason } : { message };
}

const END_OF_TRANSMISSION = '\x04';
/** In milliseconds. */
const KNOCK_EVERY = 1_000;
const OPEN_WITHIN = 10_000;
/** How long who has nothing more to say to a container that goes on may still hear what it answers. */
const LINGERING = 500;
const FALLEN_BEHIND = 4 * 1024 * 1024;
