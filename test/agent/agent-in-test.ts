import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('../../bin/netloom', import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly stderr: string;
}

/** A `netloom agent` as a process of its own, with its directories in a folder of its own. */
export class AgentProcess {
  readonly name: string;
  readonly folder: string;
  readonly #child: ChildProcess;
  readonly #end: Promise<Ended>;

  private constructor(name: string, folder: string, child: ChildProcess, end: Promise<Ended>) {
    this.name = name;
    this.folder = folder;
    this.#child = child;
    this.#end = end;
  }

  /** Resolves when it says that it is ready; rejects with what it says when it ends instead. */
  static async start(
    name: string,
    { folder, words = [] }: { folder?: string; words?: readonly string[] } = {},
  ): Promise<AgentProcess> {
    const own = folder ?? (await mkdtemp(join(tmpdir(), 'netloom-agent-')));
    const places = ['--state-dir', join(own, 'state'), '--run-dir', join(own, 'run'), '--listen', '0'];
    const child = spawn(PROGRAM, ['agent', '--name', name, '--node-ip', '127.0.0.1', ...places, ...words], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, KUBECONFIG: '/nowhere' },
    });
    let stderr = '';
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
    });
    const ended = Promise.withResolvers<Ended>();
    child.on('close', (code) => ended.resolve({ code, stderr }));
    const ready = Promise.withResolvers<void>();
    let stdout = '';
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
      if (stdout.includes(`ready ${name}\n`)) ready.resolve();
    });
    const timer = setTimeout(() => ready.reject(new Error(`no agent within a minute: ${stderr}`)), 60_000);
    void ended.promise.then(() => ready.reject(new Error(stderr)));
    try {
      await ready.promise;
      return new AgentProcess(name, own, child, ended.promise);
    } catch (error) {
      child.kill('SIGKILL');
      await ended.promise;
      if (folder === undefined) await endSupervisor(join(own, 'run'));
      if (folder === undefined) await rm(own, { recursive: true, force: true });
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get supervisorPid(): number {
    return Number(readFileSync(join(this.folder, 'run/supervisor.lock'), 'utf8'));
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<Ended> {
    this.#child.kill(signal);
    return this.#end;
  }

  async stopAndRemove(): Promise<void> {
    await this.stop();
    await endSupervisor(join(this.folder, 'run'));
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** What a process has for itself alone, in MiB. */
export function ownMemory(pid: number): number {
  const sizes = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8').matchAll(/^Private_\w+: +(\d+) kB$/gm);
  return [...sizes].reduce((sum, [, kilobytes]) => sum + Number(kilobytes), 0) / 1024;
}

/** It outlives the agent, as it should. */
async function endSupervisor(runDirectory: string): Promise<void> {
  const pid = Number(await readFile(join(runDirectory, 'supervisor.lock'), 'utf8').catch(() => '0'));
  if (!(pid > 0) || !existsSync(`/proc/${pid}`)) return;
  process.kill(pid, 'SIGTERM');
  while (existsSync(`/proc/${pid}`)) await pause(20);
}
