import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import path from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import packageFile from '../../../../package.json' with { type: 'json' };
import type { System } from '../../../runtime/clock.ts';
import { sleep } from '../../../runtime/clock.ts';
import type { Log } from '../../../runtime/log.ts';
import { asError } from '../../../runtime/log.ts';
import {
  type AttachSession,
  type ContainerRuntime,
  type ContainerSpec,
  type ContainerState,
  type ExecSession,
  type ExecSpec,
  type SandboxSpec,
  type SandboxState,
  StartError,
} from '../runtime.ts';
import type { SupervisorOptions } from './main.ts';
import {
  type Calls,
  type Failure,
  Frames,
  type FromSupervisor,
  frame,
  type Hello,
  type Opened,
  type Opening,
  PROTOCOL,
} from './protocol.ts';

export interface SupervisedRuntimeOptions {
  /** Sockets and locks: for this boot. */
  readonly runDirectory: string;
  /** Layers and logs. */
  readonly stateDirectory: string;
  /** The group below which all groups of this host are, such as `netloom-NAME`. */
  readonly cgroup: string;
  /** Further folders that no container may see, such as the data of an engine. */
  readonly hidden?: readonly string[];
  readonly system: System;
  readonly log: Log;
}

/** Containers by way of the host's supervisor, which outlives whoever uses this. Starts one when there is none. */
export class SupervisedRuntime implements ContainerRuntime {
  readonly #options: SupervisedRuntimeOptions;
  readonly #watchers = new Set<(state: ContainerState) => void>();
  readonly #known = new Map<string, ContainerState>();
  /** Of those that a supervisor has taken with it: it is for us to say that they have ended. */
  readonly #lost = new Map<string, ContainerState>();
  #control: Promise<Control> | undefined;
  #closed = false;

  private constructor(options: SupervisedRuntimeOptions) {
    this.#options = options;
  }

  static async connect(options: SupervisedRuntimeOptions): Promise<SupervisedRuntime> {
    const runtime = new SupervisedRuntime(options);
    await runtime.#reach();
    return runtime;
  }

  async list(): Promise<{ sandboxes: SandboxState[]; containers: ContainerState[] }> {
    const { sandboxes, containers } = await this.#call('list', {});
    return { sandboxes, containers: [...containers, ...this.#lost.values()] };
  }

  watch(changed: (state: ContainerState) => void): () => void {
    const watcher = (state: ContainerState) => changed(state);
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  createSandbox(spec: SandboxSpec): Promise<SandboxState> {
    return this.#call('createSandbox', { spec });
  }

  async removeSandbox(id: string): Promise<void> {
    await this.#call('removeSandbox', { id });
    for (const [containerId, { sandbox }] of this.#lost) if (sandbox === id) this.#lost.delete(containerId);
  }

  startContainer(spec: ContainerSpec): Promise<ContainerState> {
    return this.#call('startContainer', { spec });
  }

  async signal(id: string, signal: NodeJS.Signals): Promise<void> {
    await this.#call('signal', { id, signal });
  }

  async removeContainer(id: string): Promise<void> {
    await this.#call('removeContainer', { id });
    this.#lost.delete(id);
    this.#known.delete(id);
  }

  async exec(spec: ExecSpec): Promise<ExecSession> {
    const session = await this.#session({ open: 'exec', spec }, spec);
    return {
      stdin: spec.stdin ? session.stdin : undefined,
      stdout: session.stdout,
      stderr: spec.tty ? undefined : session.stderr,
      resize: session.resize,
      kill: session.kill,
      ended: session.ended,
    };
  }

  async attach(containerId: string): Promise<AttachSession> {
    const { stdin, stdout, stderr, resize, close } = await this.#session(
      { open: 'attach', containerId },
      { tty: false },
    );
    return { stdin, stdout, stderr, resize, close };
  }

  /** Ends all containers and the supervisor: nothing is left on the host. */
  async shutDown(): Promise<void> {
    const control = await this.#reach();
    this.#closed = true;
    await control.call('shutDown', {});
    await control.closed;
  }

  /** Containers go on. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#control?.then((control) => control.close()).catch(() => {});
  }

  async #call<C extends keyof Calls>(call: C, input: Parameters<Calls[C]>[0]): Promise<ReturnType<Calls[C]>> {
    const control = await this.#reach();
    return control.call(call, input);
  }

  #reach(): Promise<Control> {
    if (this.#closed) return Promise.reject(new Error('the runtime is closed'));
    this.#control ??= this.#open().catch((error: unknown) => {
      this.#control = undefined;
      throw error;
    });
    return this.#control;
  }

  async #open(): Promise<Control> {
    const { log, system } = this.#options;
    let control = await this.#dialOrStart();
    if (control.hello.version !== packageFile.version && (await control.call('retire', {}))) {
      await control.closed;
      control = await this.#dialOrStart();
    }
    control.onChange = (state) => this.#changed(state);
    void control.closed.then(async () => {
      this.#control = undefined;
      if (this.#closed) return;
      log.warn('the supervisor of this host is gone; another one is started');
      while (!this.#closed) {
        try {
          await this.#reach();
          return;
        } catch (error) {
          log.error('the supervisor of this host cannot be reached', { error: asError(error) });
          await sleep(system, 1_000);
        }
      }
    });
    await this.#compare(control);
    return control;
  }

  /** Says what has changed while there was no connection. */
  async #compare(control: Control): Promise<void> {
    const { containers } = await control.call('list', {});
    const there = new Set(containers.map(({ id }) => id));
    for (const state of containers) {
      const known = this.#known.get(state.id);
      if (known?.phase !== state.phase) this.#changed(state);
    }
    for (const state of [...this.#known.values()].filter(({ id }) => !there.has(id))) {
      this.#known.delete(state.id);
      if (state.phase === 'ended') {
        this.#lost.set(state.id, state);
        continue;
      }
      const { pid: _, ...rest } = state;
      const lost: ContainerState = {
        ...rest,
        phase: 'ended',
        endedAt: this.#options.system.now(),
        exitCode: 137,
        signal: 9,
      };
      this.#lost.set(state.id, lost);
      this.#tell(lost);
    }
  }

  #changed(state: ContainerState): void {
    this.#known.set(state.id, state);
    this.#tell(state);
  }

  #tell(state: ContainerState): void {
    for (const watcher of this.#watchers) watcher(state);
  }

  async #dialOrStart(): Promise<Control> {
    const { runDirectory, system, log } = this.#options;
    const file = path.join(runDirectory, 'supervisor.sock');
    const deadline = system.uptime() + START_WITHIN;
    let started = false;
    for (;;) {
      try {
        return await Control.open(await dial(file));
      } catch (error) {
        if (system.uptime() > deadline) {
          const why = `see ${path.join(runDirectory, 'supervisor.log')}`;
          throw new Error(`the supervisor of this host does not answer at ${file} (${asError(error).message}): ${why}`);
        }
      }
      if (!started) {
        log.info('starting the supervisor of this host', { runDirectory });
        startSupervisor(this.#options);
        started = true;
      }
      await sleep(system, 10);
    }
  }

  async #session(opening: Opening, { tty }: { tty: boolean }): Promise<Session> {
    await this.#reach();
    const socket = await dial(path.join(this.#options.runDirectory, 'supervisor.sock'));
    return openSession(socket, opening, tty);
  }
}

/** The connection by which the supervisor is told what to do. */
class Control {
  readonly hello: Hello;
  readonly closed: Promise<void>;
  onChange: (state: ContainerState) => void = () => {};
  readonly #frames: Frames;
  readonly #waiting = new Map<number, { resolve: (result: unknown) => void; reject: (error: Error) => void }>();
  #last = 0;

  private constructor(frames: Frames, hello: Hello) {
    this.#frames = frames;
    this.hello = hello;
    this.closed = new Promise((resolve) => frames.socket.once('close', () => resolve()));
    void this.closed.then(() => {
      for (const { reject } of this.#waiting.values()) reject(new Error('the supervisor of this host has gone away'));
      this.#waiting.clear();
    });
    frames.receive((_, payload) => this.#receive(JSON.parse(payload.toString()) as FromSupervisor));
  }

  static async open(socket: Socket): Promise<Control> {
    const frames = new Frames(socket);
    const opened = await open(frames, { open: 'control', protocol: PROTOCOL });
    if (!('protocol' in opened)) throw new Error('what answers is no supervisor');
    return new Control(frames, opened);
  }

  call<C extends keyof Calls>(call: C, input: Parameters<Calls[C]>[0]): Promise<ReturnType<Calls[C]>> {
    this.#last += 1;
    const id = this.#last;
    return new Promise<ReturnType<Calls[C]>>((resolve, reject) => {
      this.#waiting.set(id, { resolve: (result) => resolve(result as ReturnType<Calls[C]>), reject });
      this.#frames.sendJson({ id, call, with: input });
    });
  }

  close(): void {
    this.#frames.socket.destroy();
  }

  #receive(message: FromSupervisor): void {
    if ('changed' in message) {
      this.onChange(message.changed);
      return;
    }
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if ('failure' in message) waiting?.reject(errorOf(message.failure));
    else waiting?.resolve(message.result);
  }
}

interface Session extends ExecSession {
  readonly stdin: Writable;
  readonly stderr: PassThrough;
  close(): void;
}

async function openSession(socket: Socket, opening: Opening, tty: boolean): Promise<Session> {
  const frames = new Frames(socket);
  await open(frames, opening);
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  let exitCode: number | undefined;
  frames.receive((type, payload) => {
    const stream = type === frame.stdout ? stdout : type === frame.stderr ? stderr : undefined;
    if (stream !== undefined && !stream.write(payload)) {
      socket.pause();
      stream.once('drain', () => socket.resume());
    }
    if (type === frame.ended) exitCode = payload.readInt32BE();
  });
  const ended = new Promise<{ exitCode: number }>((resolve, reject) => {
    socket.once('close', () => {
      stdout.end();
      stderr.end();
      if (exitCode === undefined) reject(new Error('the supervisor of this host has gone away'));
      else resolve({ exitCode });
    });
  });
  ended.catch(() => {});
  const send = (type: (typeof frame)[keyof typeof frame], payload?: Buffer) => frames.send(type, payload);
  const stdin = new Writable({
    write(chunk: Buffer, _, done) {
      if (send(frame.stdin, Buffer.from(chunk))) return done();
      socket.once('drain', done);
      return undefined;
    },
    final(done) {
      send(frame.stdinEnd);
      done();
    },
  });
  socket.once('close', () => stdin.destroy());
  if (tty) stderr.end();
  return {
    stdin,
    stdout,
    stderr,
    ended,
    resize: (columns, rows) => {
      const size = Buffer.alloc(4);
      size.writeUInt16BE(columns);
      size.writeUInt16BE(rows, 2);
      send(frame.resize, size);
    },
    kill: () => void send(frame.kill),
    close: () => socket.destroy(),
  };
}

function dial(file: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ path: file });
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.off('error', reject);
      socket.on('error', () => socket.destroy());
      resolve(socket);
    });
  });
}

async function open(frames: Frames, opening: Opening): Promise<Opened> {
  frames.sendJson(opening);
  const { payload } = await frames.next();
  const opened = JSON.parse(payload.toString()) as Opened;
  if (!('failure' in opened)) return opened;
  frames.socket.destroy();
  throw errorOf(opened.failure);
}

const errorOf = ({ message, reason }: Failure): Error =>
  reason === undefined ? new Error(message) : new StartError(reason, message);

function startSupervisor({ runDirectory, stateDirectory, cgroup, hidden = [] }: SupervisedRuntimeOptions): void {
  mkdirSync(runDirectory, { recursive: true, mode: 0o700 });
  const output = openSync(path.join(runDirectory, 'supervisor.log'), 'a', 0o600);
  const options: SupervisorOptions = { runDirectory, stateDirectory, cgroup, hidden };
  spawn(process.execPath, [...MEMORY, MAIN, JSON.stringify(options)], {
    cwd: '/',
    detached: true,
    stdio: ['ignore', output, output],
    env: { PATH: process.env['PATH'] ?? '' },
  }).unref();
  closeSync(output);
}

const MAIN = fileURLToPath(new URL('main.ts', import.meta.url));
const MEMORY = ['--single-threaded', '--max-semi-space-size=1'];
const START_WITHIN = 15_000;
