import { mkdirSync, openSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import { constants } from 'node:os';
import path from 'node:path';
import { CallList } from '../../../linux/call-list.ts';
import type { Cgroups } from '../../../linux/cgroups.ts';
import { type Ended, FIRST_DESCRIPTOR, type Launched, launch } from '../../../linux/launch.ts';
import { CLOSE_ON_EXECUTE, CURRENT } from '../../../linux/mount-calls.ts';
import { namespaceFlags } from '../../../linux/namespaces.ts';
import { closeAll, givePipe, makePipe } from '../../../linux/pipe.ts';
import { type Clock, sleep } from '../../../runtime/clock.ts';
import { type ContainerSpec, type ContainerState, StartError } from '../runtime.ts';
import { becomeProgram, beUntouchable } from './identity.ts';
import { LogFile, type LogStream } from './log-file.ts';
import { Output } from './output.ts';
import { type HostView, layerIn, makeRoot } from './root.ts';
import type { Sandbox } from './sandbox.ts';

export interface ContainerHome {
  readonly clock: Clock;
  readonly cgroups: Cgroups;
  readonly view: HostView;
  /** Where layers are. */
  readonly layers: string;
  readonly changed: (container: Container) => void;
}

/** Hears what a container writes, beside its log. */
export type Listener = (stream: LogStream, chunk: Buffer) => void;

/** A process tree in namespaces of its own, from its start until it is forgotten. */
export class Container {
  readonly spec: ContainerSpec;
  readonly sandbox: Sandbox;
  readonly group: string;
  readonly listeners = new Set<Listener>();
  readonly #home: ContainerHome;
  readonly #folder: string;
  readonly #log: LogFile;
  #input: Socket | undefined;
  #launched: Launched | undefined;
  #startedAt = 0;
  #end: Pick<ContainerState, 'endedAt' | 'exitCode' | 'signal' | 'outOfMemory'> | undefined;
  /** Resolves when it has ended and its output is in its log. */
  ended: Promise<void> = Promise.resolve();

  constructor(spec: ContainerSpec, sandbox: Sandbox, home: ContainerHome) {
    this.spec = spec;
    this.sandbox = sandbox;
    this.group = `${sandbox.group}/${spec.id}`;
    this.#home = home;
    this.#folder = path.join(home.layers, spec.id);
    this.#log = new LogFile(spec.logFile, { ...spec.log, clock: home.clock });
  }

  get state(): ContainerState {
    const { id, sandbox, name, attempt, labels, logFile } = this.spec;
    const pid = this.#launched?.pid;
    const running = this.#end === undefined;
    return {
      ...{ id, sandbox, name, attempt, labels, logFile, phase: running ? 'running' : 'ended' },
      ...(running && pid !== undefined ? { pid } : {}),
      startedAt: this.#startedAt,
      ...this.#end,
    };
  }

  /** Of the process that is 1 in its namespace; undefined when it has ended. */
  get pid(): number | undefined {
    return this.#end === undefined ? this.#launched?.pid : undefined;
  }

  get input(): Socket | undefined {
    return this.#input;
  }

  async start(): Promise<void> {
    const { cgroups, clock } = this.#home;
    const { spec } = this;
    const layer = layerIn(this.#folder);
    mkdirSync(this.#folder, { mode: 0o700 });
    for (const folder of Object.values(layer)) mkdirSync(folder, { mode: 0o755 });
    await this.#log.begin();
    cgroups.make(this.group);
    cgroups.limit(this.group, spec.limits);

    const [input, output, errors] = [spec.stdin ? makePipe() : undefined, makePipe(), makePipe()];
    for (const pipe of [input, output, errors]) if (pipe !== undefined) givePipe(pipe, spec.user, spec.group);
    const nothing = input === undefined ? openSync('/dev/null', 'r') : undefined;
    const theirs = [input?.read ?? nothing ?? 0, output.write, errors.write] as const;
    try {
      this.#launched = launch({
        calls: this.#calls(),
        stdio: theirs,
        descriptors: Object.values(this.sandbox.namespaces),
        processes: 'new',
      });
    } catch (error) {
      closeAll([...theirs, output.read, errors.read, ...(input === undefined ? [] : [input.write])]);
      throw error;
    }
    closeAll(theirs);
    if (input !== undefined) this.#input = writer(input.write);
    const streams = [this.#listen(output.read, 'stdout'), this.#listen(errors.read, 'stderr')];
    const { begun, ended } = this.#launched;
    try {
      await begun;
    } catch (error) {
      await ended;
      await Promise.all(streams.map((stream) => stream.endSoon(clock, 0)));
      throw error;
    }
    this.#startedAt = clock.now();
    this.ended = ended.then((end) => this.#finish(end, streams));
  }

  /** Waits for nothing. */
  signal(signal: NodeJS.Signals): void {
    const { pid } = this;
    if (pid !== undefined) process.kill(pid, signal);
  }

  /** What is left of one that has ended, or that could not begin. */
  async remove(): Promise<void> {
    const { cgroups, clock } = this.#home;
    await this.#log.remove();
    await rm(this.#folder, { recursive: true, force: true });
    for (let tries = 0; !cgroups.remove(this.group) && tries < 50; tries += 1) {
      cgroups.kill(this.group);
      await sleep(clock, 20);
    }
  }

  #calls(): CallList {
    const { networkNamespace } = this.sandbox.spec;
    const calls = new CallList();
    beUntouchable(calls);
    joinGroups(calls, this.#home.cgroups.joins(this.group));
    calls.add('setns', [FIRST_DESCRIPTOR, namespaceFlags.uts]);
    calls.add('setns', [FIRST_DESCRIPTOR + 1, namespaceFlags.ipc]);
    if (networkNamespace !== undefined) {
      const network = calls.add('openat', [CURRENT, networkNamespace, CLOSE_ON_EXECUTE, 0]);
      calls.add('setns', [network, namespaceFlags.net], { doing: `enter the network namespace ${networkNamespace}` });
    }
    makeRoot(calls, this.spec, layerIn(this.#folder), this.#home.view);
    becomeProgram(calls, this.spec, { command: this.spec.command, tty: this.spec.tty });
    return calls;
  }

  #listen(descriptor: number, stream: LogStream): Output {
    return new Output(descriptor, (chunk) => {
      for (const listener of this.listeners) listener(stream, chunk);
      return this.#log.take(stream, chunk);
    });
  }

  async #finish({ exitCode, signal }: Ended, streams: readonly Output[]): Promise<void> {
    const { clock, cgroups } = this.#home;
    const endedAt = clock.now();
    await Promise.all(streams.map((stream) => stream.endSoon(clock, LINGERING)));
    for (const stream of ['stdout', 'stderr'] as const) await this.#log.finish(stream);
    await this.#log.close();
    this.#input?.destroy();
    const number = signal === undefined ? undefined : constants.signals[signal];
    this.#end = {
      endedAt,
      exitCode: exitCode ?? 128 + (number ?? 0),
      ...(number === undefined ? {} : { signal: number }),
      ...(cgroups.outOfMemoryKills(this.group) > 0 ? { outOfMemory: true } : {}),
    };
    this.#home.changed(this);
  }
}

export function joinGroups(calls: CallList, files: readonly string[]): void {
  for (const file of files) {
    const doing = `join the group ${file}`;
    const opened = calls.add('openat', [CURRENT, file, WRITE_ONLY | CLOSE_ON_EXECUTE, 0], { doing });
    calls.add('write', [opened, '0', 1], { doing });
  }
}

export function writer(descriptor: number): Socket {
  const socket = new Socket({ fd: descriptor, readable: false, writable: true });
  // Whoever was to read it has ended or has closed it.
  socket.on('error', () => {});
  return socket;
}

/** For any error of a start that is not one already. */
export const asStartError = (error: unknown): Error =>
  error instanceof StartError
    ? error
    : new StartError('CreateContainerError', error instanceof Error ? error.message : String(error));

const WRITE_ONLY = 1;
/** How long output of processes that have ended is waited for, in milliseconds. */
const LINGERING = 2_000;
