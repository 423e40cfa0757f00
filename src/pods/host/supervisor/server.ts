import { createServer, type Server, type Socket } from 'node:net';
import type { Log } from '../../../runtime/log.ts';
import { asError } from '../../../runtime/log.ts';
import { type ContainerState, StartError } from '../runtime.ts';
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

export interface ServerOptions {
  readonly containers: Containers;
  readonly version: string;
  readonly log: Log;
  /** Ends this process; called when whoever wished so has its answer. */
  readonly leave: () => void;
}

/** The way to the containers of this host: whoever may open the socket may do everything with them. */
export class SupervisorServer {
  readonly #options: ServerOptions;
  readonly #server: Server;
  readonly #controls = new Set<Frames>();
  #leaving = false;

  constructor(options: ServerOptions) {
    this.#options = options;
    // The end of input is one thing, the end of a session another.
    this.#server = createServer({ allowHalfOpen: false }, (socket) => this.#accept(socket));
  }

  listen(file: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen({ path: file }, resolve);
    });
  }

  changed(state: ContainerState): void {
    for (const control of this.#controls) control.sendJson({ changed: state });
  }

  close(): void {
    this.#server.close();
  }

  #accept(socket: Socket): void {
    const frames = new Frames(socket);
    socket.on('error', () => socket.destroy());
    frames.next().then(
      ({ payload }) => this.#open(frames, JSON.parse(payload.toString()) as Opening),
      () => {},
    );
  }

  #open(frames: Frames, opening: Opening): void {
    if (opening.open === 'control') this.#control(frames);
    else if (opening.open === 'exec') void this.#exec(frames, opening);
    else if (opening.open === 'attach') this.#attach(frames, opening);
    else frames.sendJson({ failure: { message: 'this supervisor does not know what the connection is for' } });
  }

  #control(frames: Frames): void {
    const hello: Hello = { protocol: PROTOCOL, version: this.#options.version, pid: process.pid };
    frames.sendJson(hello);
    this.#controls.add(frames);
    frames.socket.once('close', () => this.#controls.delete(frames));
    frames.receive((_, payload) => void this.#answer(frames, JSON.parse(payload.toString()) as Request));
  }

  async #answer(frames: Frames, { id, call, with: input }: Request): Promise<void> {
    try {
      const work = this.#calls[call] as ((input: unknown) => unknown) | undefined;
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
    socket.pause();
    try {
      const execution = await this.#options.containers.execute(spec, (stream, chunk) =>
        this.#sendOutput(frames, stream, chunk),
      );
      frames.sendJson({ opened: true });
      const { input } = execution;
      frames.receive((type, payload) => {
        if (type === frame.stdin && input !== undefined && !input.write(payload)) {
          socket.pause();
          input.once('drain', () => socket.resume());
          input.once('close', () => socket.resume());
        }
        if (type === frame.stdinEnd) input?.end();
        if (type === frame.resize) execution.resize(payload.readUInt16BE(0), payload.readUInt16BE(2));
        if (type === frame.kill) execution.kill();
      });
      // Nobody is there any more to see what it does.
      socket.once('close', execution.kill);
      if (socket.destroyed) execution.kill();
      socket.resume();
      const { exitCode } = await execution.ended;
      const code = Buffer.alloc(4);
      code.writeInt32BE(exitCode);
      frames.send(frame.ended, code);
      socket.off('close', execution.kill);
      socket.end();
    } catch (error) {
      frames.sendJson({ failure: failureOf(error) });
      socket.end();
    }
  }

  #attach(frames: Frames, { containerId }: Opening & { open: 'attach' }): void {
    const { socket } = frames;
    try {
      const container = this.#options.containers.container(containerId);
      if (container.pid === undefined) throw new Error(`container ${container.spec.name} does not run`);
      const listener = (stream: 'stdout' | 'stderr', chunk: Buffer): void => {
        frames.send(frame[stream], chunk);
        // A container does not wait for people who watch it.
        if (socket.writableLength > FALLEN_BEHIND) socket.destroy();
      };
      frames.sendJson({ opened: true });
      container.listeners.add(listener);
      socket.once('close', () => container.listeners.delete(listener));
      void container.ended.then(() => socket.end());
      frames.receive((type, payload) => {
        if (type === frame.stdin && container.input?.write(payload) === false) {
          socket.pause();
          container.input.once('drain', () => socket.resume());
          container.input.once('close', () => socket.resume());
        }
        if (type === frame.stdinEnd) container.input?.end();
      });
    } catch (error) {
      frames.sendJson({ failure: failureOf(error) });
      socket.end();
    }
  }

  #sendOutput(frames: Frames, stream: 'stdout' | 'stderr', chunk: Buffer): Promise<unknown> | undefined {
    const { socket } = frames;
    if (frames.send(frame[stream], chunk)) return undefined;
    return new Promise((resolve) => {
      socket.once('drain', resolve);
      socket.once('close', resolve);
    });
  }
}

function failureOf(thrown: unknown): Failure {
  const { message } = asError(thrown);
  return thrown instanceof StartError ? { message, reason: thrown.reason } : { message };
}

const FALLEN_BEHIND = 4 * 1024 * 1024;
