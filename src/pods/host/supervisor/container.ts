import { closeSync, mkdirSync } from 'node:fs';
import { constants } from 'node:os';
import path from 'node:path';
import { CallList } from '../../../linux/call-list.ts';
import type { Cgroups } from '../../../linux/cgroups.ts';
import { type Ended, FIRST_DESCRIPTOR, type Launched, launch } from '../../../linux/launch.ts';
import { CLOSE_ON_EXECUTE, CURRENT } from '../../../linux/mount-calls.ts';
import { namespaceFlags } from '../../../linux/namespaces.ts';
import { setDispensability } from '../../../linux/out-of-memory.ts';
import { removeTree } from '../../../linux/remove-tree.ts';
import { makeTerminals } from '../../../linux/terminal.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { type ContainerSpec, type ContainerState, StartError } from '../runtime.ts';
import { endGroup } from './end-group.ts';
import { exitCodeOf } from './exit-code.ts';
import { becomeProgram, beUntouchable } from './identity.ts';
import { LogFile, type LogStream } from './log-file.ts';
import { type HostView, layerIn, makeRoot } from './root.ts';
import type { Sandbox } from './sandbox.ts';
import { makeStdio, type Stdio } from './stdio.ts';

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
  #stdio: Stdio | undefined;
  #terminals: number | undefined;
  #launched: Launched | undefined;
  #startedAt = 0;
  #unlimited: readonly string[] = [];
  /** Resolves when nothing is on the disk any more of what it has written beside its volumes. */
  #withoutLayer: Promise<void> | undefined;
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
    const { pid } = this;
    const unlimited = [...new Set([...this.sandbox.unlimited, ...this.#unlimited])];
    return {
      ...{ id, sandbox, name, attempt, labels, logFile, phase: this.#end === undefined ? 'running' : 'ended' },
      ...(pid === undefined ? {} : { pid }),
      ...(unlimited.length === 0 ? {} : { unlimited }),
      ...(this.sandbox.refusedProcesses ? { refusedProcesses: true } : {}),
      startedAt: this.#startedAt,
      ...this.#end,
    };
  }

  /** Of the process that is 1 in its namespace; undefined when it has ended. */
  get pid(): number | undefined {
    return this.#launched?.isAlive() === true ? this.#launched.pid : undefined;
  }

  get stdio(): Stdio | undefined {
    return this.#stdio;
  }

  /** For terminals of commands that are executed in it. */
  get terminals(): number {
    if (this.#terminals === undefined) throw new Error(`container ${this.spec.name} does not run`);
    return this.#terminals;
  }

  async start(): Promise<void> {
    const { cgroups, clock } = this.#home;
    const { spec } = this;
    const layer = layerIn(this.#folder);
    mkdirSync(this.#folder, { mode: 0o700 });
    for (const folder of Object.values(layer)) mkdirSync(folder, { mode: 0o755 });
    await this.#log.begin();
    cgroups.make(this.group);
    this.#unlimited = cgroups.limit(this.group, spec.limits);

    const terminals = makeTerminals();
    this.#terminals = terminals;
    const stdio = makeStdio({ ...spec, terminals, take: (...written) => this.#take(...written) });
    this.#stdio = stdio;
    try {
      const launched = this.#launch(stdio, terminals);
      this.#launched = launched;
      try {
        await launched.begun;
      } catch (error) {
        await launched.ended.catch(() => {});
        throw error;
      }
      this.#startedAt = clock.now();
      this.ended = launched.ended.then((end) => this.#finish(end, stdio));
    } catch (error) {
      await stdio.end(clock, 0);
      throw cgroups.outOfMemoryKills(this.group) > 0 ? tooLittleMemory(spec) : error;
    }
  }

  /** Waits for nothing. */
  signal(signal: NodeJS.Signals): void {
    // Its first process takes all others with it, but before it dies it must get to a processor, which a bomb of processes keeps it from.
    if (signal === 'SIGKILL' && this.pid !== undefined) {
      this.sandbox.hurry();
      this.#home.cgroups.kill(this.group);
    }
    this.#launched?.signal(signal);
  }

  /** Says so when the kernel has refused a process because the pod has too many. */
  noteRefusals(): void {
    if (this.sandbox.noteRefusals() && this.pid !== undefined) this.#home.changed(this);
  }

  /** What is left of one that has ended, or that could not begin. */
  async remove(): Promise<void> {
    const { cgroups, clock } = this.#home;
    this.#closeTerminals();
    await this.#log.remove();
    await this.#withoutLayer;
    await this.#removeLayer();
    await endGroup(cgroups, this.group, clock);
  }

  #launch(stdio: Stdio, terminals: number): Launched {
    try {
      const { uts, ipc } = this.sandbox.namespaces;
      const descriptors = [uts, ipc, terminals];
      return launch({ calls: this.#calls(), stdio: stdio.theirs, descriptors, processes: 'new' });
    } finally {
      stdio.closeTheirs();
    }
  }

  #calls(): CallList {
    const { networkNamespace, sharedMemory } = this.sandbox.spec;
    const calls = new CallList();
    beUntouchable(calls);
    joinGroups(calls, this.#home.cgroups.joins(this.group));
    setDispensability(calls, this.spec.dispensability ?? 0);
    calls.add('setns', [FIRST_DESCRIPTOR, namespaceFlags.uts]);
    calls.add('setns', [FIRST_DESCRIPTOR + 1, namespaceFlags.ipc]);
    if (networkNamespace !== undefined) {
      const network = calls.add('openat', [CURRENT, networkNamespace, CLOSE_ON_EXECUTE, 0]);
      calls.add('setns', [network, namespaceFlags.net], { doing: `enter the network namespace ${networkNamespace}` });
    }
    makeRoot(calls, this.spec, layerIn(this.#folder), this.#home.view, {
      terminals: FIRST_DESCRIPTOR + 2,
      sharedMemory,
    });
    becomeProgram(calls, this.spec, { command: this.spec.command, tty: this.spec.tty });
    return calls;
  }

  #take(stream: LogStream, chunk: Buffer): Promise<void> | undefined {
    for (const listener of this.listeners) listener(stream, chunk);
    return this.#log.take(stream, chunk);
  }

  #closeTerminals(): void {
    if (this.#terminals !== undefined) closeSync(this.#terminals);
    this.#terminals = undefined;
  }

  async #finish(end: Ended, stdio: Stdio): Promise<void> {
    const { clock, cgroups } = this.#home;
    const endedAt = clock.now();
    await stdio.end(clock, LINGERING);
    for (const stream of ['stdout', 'stderr'] as const) await this.#log.finish(stream);
    await this.#log.close();
    this.#closeTerminals();
    this.sandbox.slowDown();
    this.sandbox.noteRefusals();
    this.#end = {
      endedAt,
      exitCode: exitCodeOf(end),
      ...(end.signal === undefined ? {} : { signal: constants.signals[end.signal] }),
      ...(cgroups.outOfMemoryKills(this.group) > 0 ? { outOfMemory: true } : {}),
    };
    // Its log is still asked for. What else it has written is of no use to anybody, and may be what the disk is full of.
    this.#withoutLayer = this.#removeLayer().catch(() => {});
    this.#home.changed(this);
  }

  #removeLayer(): Promise<void> {
    return removeTree(this.#folder);
  }
}

const tooLittleMemory = ({ limits: { memoryBytes } }: ContainerSpec): StartError =>
  new StartError(
    'RunContainerError',
    `the kernel ended the container before its command began: its limit of ${memoryBytes ?? 'the pod, in'} bytes of memory is too low`,
  );

export function joinGroups(calls: CallList, files: readonly string[]): void {
  for (const file of files) {
    const doing = `join the group ${file}`;
    const opened = calls.add('openat', [CURRENT, file, WRITE_ONLY | CLOSE_ON_EXECUTE, 0], { doing });
    calls.add('write', [opened, '0', 1], { doing });
  }
}

/** For any error of a start that is not one already. */
export const asStartError = (error: unknown): Error =>
  error instanceof StartError
    ? error
    : new StartError('CreateContainerError', error instanceof Error ? error.message : String(error));

const WRITE_ONLY = 1;
/** How long output of processes that have ended is waited for, in milliseconds. */
const LINGERING = 2_000;
