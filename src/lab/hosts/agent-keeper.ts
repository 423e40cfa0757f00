import type { ChildProcess } from 'node:child_process';
import { backoff } from '../../runtime/backoff.ts';
import type { System } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';

export interface AgentKeeperOptions {
  start(): ChildProcess;
  readonly system: System;
  readonly log: Log;
}

/** Keeps the agent of one host running: one that ends is started again, after a while that grows when it does not last. */
export class AgentKeeper {
  readonly #options: AgentKeeperOptions;
  #agent: ChildProcess | undefined;
  #isStopped = false;
  #failures = 0;
  #cancel: () => void = () => {};

  constructor(options: AgentKeeperOptions) {
    this.#options = options;
    this.#start();
  }

  get pid(): number | undefined {
    return this.#agent?.pid;
  }

  /** Pods of the host run on. Resolves when the agent is gone. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancel();
    const agent = this.#agent;
    if (agent === undefined) return;
    const gone = new Promise((resolve) => agent.once('close', resolve));
    agent.kill('SIGTERM');
    const cancel = this.#options.system.timer(PATIENCE, () => agent.kill('SIGKILL'));
    await gone;
    cancel();
  }

  #start(): void {
    const { system, log, start } = this.#options;
    const began = system.uptime();
    let agent: ChildProcess;
    try {
      agent = start();
    } catch (error) {
      this.#again(error instanceof Error ? error.message : String(error));
      return;
    }
    this.#agent = agent;
    agent.on('error', (error) => log.error('the agent cannot be started', { error }));
    agent.on('close', (code, signal) => {
      this.#agent = undefined;
      if (this.#isStopped) return;
      if (system.uptime() - began > LASTING) this.#failures = 0;
      this.#again(`it ended with ${signal ?? code}`);
    });
  }

  #again(reason: string): void {
    const { system, log } = this.#options;
    this.#failures += 1;
    const after = backoff(this.#failures, { first: 200, max: 10_000 }, system);
    log.warn('starting an agent again', { reason, after: Math.round(after) });
    this.#cancel = system.timer(after, () => this.#start());
  }
}

/** An agent that has run for so long has begun well. */
const LASTING = 30_000;
/** So long an agent may take to say goodbye. */
const PATIENCE = 3_000;
