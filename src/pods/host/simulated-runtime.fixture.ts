import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { type System, sleep } from '../../runtime/clock.ts';
import type { PodNetwork } from './pod-network.ts';
import type {
  AttachSession,
  ContainerRuntime,
  ContainerSpec,
  ContainerState,
  ExecSession,
  ExecSpec,
  SandboxSpec,
  SandboxState,
} from './runtime.ts';
import { StartError } from './runtime.ts';

/** How a simulated command behaves, by its first word. */
export interface Behaviour {
  /** Ends by itself after so many milliseconds, with this code. */
  readonly ends?: { readonly after: number; readonly exitCode: number };
  /** How long it goes on after TERM; for ever when left out. */
  readonly stopsWithin?: number;
  /** It cannot begin. */
  readonly fails?: string;
  /** What commands end with that are run in it. */
  readonly exec?: (command: readonly string[]) => number | 'hangs';
}

/** Containers that only exist in memory, in simulated time: starting and ending take a moment, as on a host. */
export class SimulatedRuntime implements ContainerRuntime {
  readonly specs = new Map<string, ContainerSpec>();
  /** Ids, in order. */
  readonly started: string[] = [];
  /** Every call that changes something, in order. */
  readonly calls: string[] = [];
  readonly #system: System;
  readonly #behaviours: (spec: ContainerSpec) => Behaviour;
  readonly #sandboxes = new Map<string, SandboxState>();
  readonly #containers = new Map<string, ContainerState>();
  readonly #watchers = new Set<(state: ContainerState) => void>();
  /** What its calls fail with, as long as nobody runs the containers. */
  away: Error | undefined;

  constructor(system: System, behaviours: (spec: ContainerSpec) => Behaviour) {
    this.#system = system;
    this.#behaviours = behaviours;
  }

  get running(): ContainerState[] {
    return [...this.#containers.values()].filter(({ phase }) => phase === 'running');
  }

  get sandboxes(): readonly string[] {
    return [...this.#sandboxes.keys()];
  }

  async list() {
    await this.#moment();
    return { sandboxes: [...this.#sandboxes.values()], containers: [...this.#containers.values()] };
  }

  watch(changed: (state: ContainerState) => void): () => void {
    this.#watchers.add(changed);
    return () => this.#watchers.delete(changed);
  }

  async createSandbox({ id, namespace, name, networkNamespace }: SandboxSpec): Promise<SandboxState> {
    await this.#moment();
    const state = { id, namespace, name, ...(networkNamespace === undefined ? {} : { networkNamespace }) };
    this.calls.push(`sandbox ${name}`);
    this.#sandboxes.set(id, state);
    return state;
  }

  async removeSandbox(id: string): Promise<void> {
    await this.#moment();
    for (const container of [...this.#containers.values()].filter(({ sandbox }) => sandbox === id)) {
      this.end(container.id, 137);
      this.#containers.delete(container.id);
    }
    if (this.#sandboxes.delete(id)) this.calls.push(`remove ${id}`);
  }

  async startContainer(spec: ContainerSpec): Promise<ContainerState> {
    await this.#moment();
    const known = this.#containers.get(spec.id);
    if (known !== undefined) return known;
    if (!this.#sandboxes.has(spec.sandbox)) throw new Error(`there is no sandbox ${spec.sandbox}`);
    const { fails, ends } = this.#behaviours(spec);
    this.calls.push(`start ${spec.name} ${spec.attempt}`);
    if (fails !== undefined) throw new StartError('StartError', fails);
    const { id, sandbox, name, attempt, labels, logFile } = spec;
    const startedAt = this.#system.now();
    const state: ContainerState = { id, sandbox, name, attempt, labels, logFile, phase: 'running', pid: 1, startedAt };
    this.specs.set(id, spec);
    this.started.push(id);
    mkdirSync(path.dirname(logFile), { recursive: true });
    writeFileSync(logFile, '', { flag: 'a' });
    this.#put(state);
    if (ends !== undefined) this.#system.timer(ends.after, () => this.end(id, ends.exitCode));
    // What happens at once is heard of before the answer.
    await this.#moment();
    return state;
  }

  async signal(containerId: string, signal: NodeJS.Signals): Promise<void> {
    await this.#moment();
    const state = this.#containers.get(containerId);
    const spec = this.specs.get(containerId);
    if (state?.phase !== 'running' || spec === undefined) return;
    this.calls.push(`${signal} ${state.name} ${state.attempt}`);
    const { stopsWithin } = this.#behaviours(spec);
    if (signal === 'SIGKILL') this.end(containerId, 137);
    else if (stopsWithin !== undefined) this.#system.timer(stopsWithin, () => this.end(containerId, 143));
  }

  async removeContainer(containerId: string): Promise<void> {
    await this.#moment();
    this.#containers.delete(containerId);
  }

  async exec({ containerId, command, timeoutMs }: ExecSpec): Promise<ExecSession> {
    const spec = this.specs.get(containerId);
    const answer = spec === undefined ? 1 : (this.#behaviours(spec).exec?.(command) ?? 0);
    const ended = Promise.withResolvers<{ exitCode: number }>();
    const stdout = new PassThrough();
    const end = (exitCode: number): void => {
      stdout.end();
      ended.resolve({ exitCode });
    };
    this.calls.push(`exec ${spec?.name} ${command.join(' ')}`);
    if (answer !== 'hangs') this.#system.timer(1, () => end(answer));
    else if (timeoutMs !== undefined) this.#system.timer(timeoutMs, () => end(137));
    return {
      stdin: undefined,
      stdout,
      stderr: undefined,
      resize: () => {},
      kill: () => end(137),
      ended: ended.promise,
    };
  }

  attach(): Promise<AttachSession> {
    return Promise.reject(new Error('nobody attaches in a simulation'));
  }

  end(containerId: string, exitCode: number): void {
    const state = this.#containers.get(containerId);
    if (state?.phase !== 'running') return;
    this.#put({ ...state, phase: 'ended', exitCode, endedAt: this.#system.now() });
  }

  /** As after a restart of the machine. */
  lose(): void {
    this.#sandboxes.clear();
    this.#containers.clear();
  }

  #put(state: ContainerState): void {
    this.#containers.set(state.id, state);
    for (const changed of [...this.#watchers]) changed(state);
  }

  async #moment(): Promise<void> {
    await sleep(this.#system, 1);
    if (this.away !== undefined) throw this.away;
  }
}

export class SimulatedNetwork implements PodNetwork {
  readonly attached = new Map<string, readonly string[]>();

  async attach({ uid }: { uid: string }, addresses: readonly string[]): Promise<{ namespacePath: string }> {
    this.attached.set(uid, addresses);
    return { namespacePath: `/run/netns/netloom-pod-${uid}` };
  }

  async detach(uid: string): Promise<void> {
    this.attached.delete(uid);
  }

  async list(): Promise<{ uid: string; addresses: string[] }[]> {
    return [...this.attached].map(([uid, addresses]) => ({ uid, addresses: [...addresses] }));
  }

  async routeTo(): Promise<{ podCidr: string; problem: string }[]> {
    return [];
  }

  async cutOff(): Promise<{ podCidr: string; problem: string }[]> {
    return [];
  }

  async guard(): Promise<boolean> {
    return false;
  }
}
