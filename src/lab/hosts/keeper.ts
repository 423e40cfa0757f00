import type { ChildProcess } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { IdentityFiles } from '../../agent/identity-files.ts';
import type { System } from '../../runtime/clock.ts';
import { sleep } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { isSameForAgent } from '../plan/changes.ts';
import type { PlannedHost } from '../plan/lab-plan.ts';
import { LabPlaces } from '../state/places.ts';
import { readFaults, readRecord } from '../state/record.ts';
import { AgentKeeper } from './agent-keeper.ts';
import { isAgentOf, kill, RunningProcesses } from './processes.ts';

export interface KeeperOptions {
  readonly lab: string;
  startAgent(host: PlannedHost): ChildProcess;
  readonly system: System;
  readonly log: Log;
}

/** Keeps an agent running on every host of a lab that has one and lives. What is so is read from the record, each time anew. */
export class LabKeeper {
  readonly #options: KeeperOptions;
  /** host → its keeper */
  readonly #agents = new Map<string, KeptAgent>();
  #work: Promise<void> = Promise.resolve();

  constructor(options: KeeperOptions) {
    this.#options = options;
  }

  /** To be called when hosts have come, gone, died or been healed. */
  refresh(): Promise<void> {
    this.#work = this.#work.then(() => this.#reconcile());
    return this.#work;
  }

  async stop(): Promise<void> {
    await this.#work.catch(() => {});
    await Promise.all([...this.#agents.values()].map(({ agent }) => agent.stop()));
    this.#agents.clear();
  }

  async #reconcile(): Promise<void> {
    const { lab, log } = this.#options;
    const record = readRecord(lab);
    const { dead } = readFaults(lab);
    const wanted = (record?.plan.hosts ?? []).filter(
      ({ name, agent }) => agent && record?.api !== undefined && !dead.includes(name),
    );
    const wayOf = (host: PlannedHost): string =>
      `${record?.api?.serviceCidrs} ${record?.api?.podCidrs} ${kubeconfigOf(lab, host)}`;
    const isRight = ({ host, way }: KeptAgent): boolean =>
      wanted.some((other) => other.name === host.name && isSameForAgent(host, other)) && way === wayOf(host);
    const gone = [...this.#agents.values()].filter((kept) => !isRight(kept));
    for (const { host } of gone) this.#agents.delete(host.name);
    await Promise.all(gone.map(({ agent }) => agent.stop()));

    const fresh = wanted.filter(({ name }) => !this.#agents.has(name));
    await this.#endOrphans(fresh);
    for (const host of fresh) {
      log.info('keeping the agent of a host running', { host: host.name });
      this.#agents.set(host.name, { host, way: wayOf(host), agent: this.#keep(host) });
    }
  }

  #keep(host: PlannedHost): AgentKeeper {
    const { startAgent, system, log } = this.#options;
    return new AgentKeeper({ start: () => startAgent(host), system, log: log.with({ host: host.name }) });
  }

  /** Agents of a keeper that has died: nobody would start them again. */
  async #endOrphans(hosts: readonly PlannedHost[]): Promise<void> {
    const { system } = this.#options;
    for (let tries = 0; ; tries += 1) {
      const running = new RunningProcesses();
      const orphans = hosts.flatMap((host) => running.inHost({ host }).filter(isAgentOf(host)));
      if (orphans.length === 0) return;
      for (const { pid } of orphans) kill(pid, tries < GENTLE_TRIES ? 'SIGTERM' : 'SIGKILL');
      await sleep(system, 50);
    }
  }
}

interface KeptAgent {
  readonly host: PlannedHost;
  /** What it was told of the API when it was started: another one when somebody has begun with a new API. */
  readonly way: string;
  readonly agent: AgentKeeper;
}

/** How the agent of a host reaches the API, and whom it believes to be that. */
function kubeconfigOf(lab: string, { name }: PlannedHost): string {
  const { kubeconfig } = new IdentityFiles(new LabPlaces(lab).host(name).state);
  return existsSync(kubeconfig) ? readFileSync(kubeconfig, 'utf8') : '';
}

const GENTLE_TRIES = 60;
