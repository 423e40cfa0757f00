import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import packageFile from '../../../../package.json' with { type: 'json' };
import type { System } from '../../../runtime/clock.ts';
import { sleep } from '../../../runtime/clock.ts';
import type { Log } from '../../../runtime/log.ts';
import { asError } from '../../../runtime/log.ts';
import type {
  AttachSession,
  ContainerRuntime,
  ContainerSpec,
  ContainerState,
  ExecSession,
  ExecSpec,
  SandboxSpec,
  SandboxState,
} from '../runtime.ts';
import { Control, dial } from './connection.ts';
import type { SupervisorOptions } from './main.ts';
import type { Calls, Opening } from './protocol.ts';
import { openSession, type Session } from './session.ts';

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
  readonly #sessions = new Set<Session>();
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
    for (const states of [this.#known, this.#lost]) {
      for (const [containerId, { sandbox }] of states) if (sandbox === id) states.delete(containerId);
    }
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

  exec(spec: ExecSpec): Promise<ExecSession> {
    return this.#session({ open: 'exec', spec });
  }

  attach(containerId: string): Promise<AttachSession> {
    return this.#session({ open: 'attach', containerId });
  }

  /** Ends all containers and the supervisor: nothing is left on the host. */
  async shutDown(): Promise<void> {
    const control = await this.#reach();
    this.#closed = true;
    await control.call('shutDown', {});
    await control.closed;
  }

  /** Containers go on; commands that were executed by way of this end. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const session of this.#sessions) session.close();
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
        const within = Math.max(0, deadline - system.uptime());
        return await Control.open(await dial(file), { clock: system, within });
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

  async #session(opening: Opening): Promise<Session> {
    await this.#reach();
    const session = await openSession(await dial(path.join(this.#options.runDirectory, 'supervisor.sock')), opening);
    const forget = (): unknown => this.#sessions.delete(session);
    this.#sessions.add(session);
    session.ended.then(forget, forget);
    return session;
  }
}

function startSupervisor({ runDirectory, stateDirectory, cgroup, hidden = [] }: SupervisedRuntimeOptions): void {
  mkdirSync(runDirectory, { recursive: true, mode: 0o700 });
  const output = openSync(path.join(runDirectory, 'supervisor.log'), 'a', 0o600);
  // Whoever finds its modules compiled never loads the compiler, which is most of what a supervisor would take.
  const { NODE_COMPILE_CACHE: cache } = process.env;
  const compiled = cache === undefined ? {} : { NODE_COMPILE_CACHE: cache };
  const options: SupervisorOptions = { runDirectory, stateDirectory, cgroup, hidden };
  spawn(process.execPath, [...MEMORY, MAIN, JSON.stringify(options)], {
    cwd: '/',
    detached: true,
    stdio: ['ignore', output, output],
    env: { PATH: process.env['PATH'] ?? '', ...compiled },
  }).unref();
  closeSync(output);
}

const MAIN = fileURLToPath(new URL('main.ts', import.meta.url));
const MEMORY = ['--single-threaded', '--max-semi-space-size=1'];
const START_WITHIN = 15_000;
