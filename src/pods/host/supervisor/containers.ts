import { mkdirSync, readdirSync } from 'node:fs';
import { rmdir } from 'node:fs/promises';
import path from 'node:path';
import type { Cgroups } from '../../../linux/cgroups.ts';
import { removeTree } from '../../../linux/remove-tree.ts';
import type { Clock } from '../../../runtime/clock.ts';
import {
  type ContainerSpec,
  type ContainerState,
  type ExecSpec,
  type SandboxSpec,
  type SandboxState,
  StartError,
} from '../runtime.ts';
import { asStartError, Container } from './container.ts';
import { endGroup } from './end-group.ts';
import { type Execution, execute } from './exec.ts';
import type { HostView } from './root.ts';
import { Sandbox } from './sandbox.ts';
import type { Taker } from './stdio.ts';

export interface ContainersOptions {
  readonly clock: Clock;
  readonly cgroups: Cgroups;
  /** How the host is to be seen by a container that begins now. */
  readonly view: () => HostView;
  /** The group that all groups of this host are in. */
  readonly group: string;
  readonly layers: string;
  readonly changed: (state: ContainerState) => void;
}

/** All that runs on this host. Calls may be repeated, and may come while others are at work. */
export class Containers {
  readonly #options: ContainersOptions;
  readonly #sandboxes = new Map<string, Sandbox>();
  readonly #containers = new Map<string, Container>();
  readonly #starting = new Map<string, Promise<ContainerState>>();
  readonly #removing = new Map<string, Promise<void>>();
  #executions = 0;

  constructor(options: ContainersOptions) {
    this.#options = options;
  }

  /** Ends and removes what a supervisor before this one has left behind. */
  async clean(): Promise<void> {
    const { cgroups, group, layers, clock } = this.#options;
    mkdirSync(layers, { recursive: true, mode: 0o700 });
    for (const name of cgroups.below(group)) {
      if (name === SUPERVISOR) continue;
      await endGroup(cgroups, `${group}/${name}`, clock);
    }
    for (const name of readdirSync(layers)) await removeTree(path.join(layers, name));
  }

  list(): { sandboxes: SandboxState[]; containers: ContainerState[] } {
    return {
      sandboxes: [...this.#sandboxes.values()].map(({ state }) => state),
      containers: [...this.#containers.values()].map(({ state }) => state),
    };
  }

  get isEmpty(): boolean {
    return this.#sandboxes.size === 0 && this.#starting.size === 0;
  }

  createSandbox(spec: SandboxSpec): SandboxState {
    requireName(spec.id);
    this.#requireStaying(spec.id);
    const { cgroups, group } = this.#options;
    const sandbox = this.#sandboxes.get(spec.id) ?? new Sandbox(spec, { cgroups, group: `${group}/${spec.id}` });
    this.#sandboxes.set(spec.id, sandbox);
    return sandbox.state;
  }

  removeSandbox(id: string): Promise<void> {
    const sandbox = this.#sandboxes.get(id);
    if (sandbox === undefined) return Promise.resolve();
    const begun = this.#removing.get(id);
    if (begun !== undefined) return begun;
    const removing = this.#removeSandbox(id, sandbox).finally(() => this.#removing.delete(id));
    this.#removing.set(id, removing);
    return removing;
  }

  async #removeSandbox(id: string, sandbox: Sandbox): Promise<void> {
    await Promise.allSettled(this.#starting.values());
    const containers = [...this.#containers.values()].filter((container) => container.sandbox === sandbox);
    await Promise.all(containers.map((container) => this.#end(container)));
    await Promise.all(containers.map(({ spec }) => this.removeContainer(spec.id)));
    const { cgroups, clock } = this.#options;
    await endGroup(cgroups, sandbox.group, clock);
    this.#sandboxes.delete(id);
    sandbox.close();
  }

  #requireStaying(id: string): void {
    if (this.#removing.has(id)) throw new StartError('CreatePodSandboxError', `sandbox ${id} is being removed`);
  }

  startContainer(spec: ContainerSpec): Promise<ContainerState> {
    const known = this.#containers.get(spec.id);
    if (known !== undefined) return Promise.resolve(known.state);
    const begun = this.#starting.get(spec.id);
    if (begun !== undefined) return begun;
    const starting = this.#start(spec).finally(() => this.#starting.delete(spec.id));
    this.#starting.set(spec.id, starting);
    return starting;
  }

  signal(id: string, signal: NodeJS.Signals): void {
    this.#containers.get(id)?.signal(signal);
  }

  async removeContainer(id: string): Promise<void> {
    const container = this.#containers.get(id);
    if (container === undefined) return;
    if (container.pid !== undefined) throw new Error(`container ${container.spec.name} still runs: end it first`);
    await container.ended;
    await container.remove();
    await removeEmptyFolders(path.dirname(container.spec.logFile), 2);
    this.#containers.delete(id);
  }

  execute(spec: ExecSpec, progress: { begun: () => void; take: Taker }): Promise<Execution> {
    const { cgroups, clock } = this.#options;
    this.#executions += 1;
    return execute(spec, this.container(spec.containerId), {
      clock,
      cgroups,
      part: `exec-${this.#executions}`,
      ...progress,
    });
  }

  container(id: string): Container {
    const container = this.#containers.get(id);
    if (container === undefined) throw new Error(`there is no container ${id} on this host`);
    return container;
  }

  /** Looks whether a pod has come to its limits; nothing tells that by itself. */
  lookAtLimits(): void {
    const full = [...this.#sandboxes.values()].filter((sandbox) => sandbox.noteRefusals());
    for (const container of this.#containers.values()) {
      if (full.includes(container.sandbox)) this.#options.changed(container.state);
    }
  }

  async removeAll(): Promise<void> {
    await Promise.all([...this.#sandboxes.keys()].map((id) => this.removeSandbox(id)));
  }

  async #start(spec: ContainerSpec): Promise<ContainerState> {
    requireName(spec.id);
    const sandbox = this.#sandboxes.get(spec.sandbox);
    if (sandbox === undefined) throw asStartError(new Error(`there is no sandbox ${spec.sandbox} on this host`));
    this.#requireStaying(spec.sandbox);
    const container = new Container(spec, sandbox, {
      ...this.#options,
      view: this.#options.view(),
      changed: ({ state }) => this.#options.changed(state),
    });
    try {
      await container.start();
    } catch (error) {
      await container.remove();
      throw asStartError(error);
    }
    this.#containers.set(spec.id, container);
    this.#options.changed(container.state);
    return container.state;
  }

  async #end(container: Container): Promise<void> {
    container.signal('SIGKILL');
    await container.ended;
  }
}

/** The group that the supervisor itself is in. */
export const SUPERVISOR = 'supervisor';

/** Identifiers become names of folders and groups. */
function requireName(id: string): void {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/.test(id) || id === SUPERVISOR)
    throw new Error(`${JSON.stringify(id)} cannot be the name of a sandbox or a container`);
}

async function removeEmptyFolders(folder: string, levels: number): Promise<void> {
  if (levels === 0) return;
  try {
    await rmdir(folder);
  } catch {
    return;
  }
  await removeEmptyFolders(path.dirname(folder), levels - 1);
}
