import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { HttpTransport } from '../../src/runtime/http-transport.ts';
import { readKubeconfig } from '../../src/runtime/kubeconfig.ts';
import { system } from '../../src/runtime/system.ts';

const PROGRAM = fileURLToPath(new URL('../../bin/netloom', import.meta.url));

export interface Finished {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs one `netloom` command to its end. */
export async function netloom(
  words: readonly string[],
  options: { env?: Record<string, string>; input?: string } = {},
): Promise<Finished> {
  const child = spawn(PROGRAM, words, { env: { ...process.env, ...options.env }, stdio: 'pipe' });
  child.stdin.end(options.input ?? '');
  return finished(child);
}

async function finished(child: ChildProcess): Promise<Finished> {
  let stdout = '';
  let stderr = '';
  child.stdout?.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    stderr += chunk;
  });
  const { promise, resolve } = Promise.withResolvers<Finished>();
  child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
  return promise;
}

/** A `netloom engine` or `netloom up` of its own, as a process, in a folder of its own. */
export class RunningNetloom {
  readonly directory: string;
  readonly kubeconfig: string;
  readonly url: string;
  readonly pid: number;
  readonly #child: ChildProcess;
  readonly #end: Promise<Finished>;

  private constructor(parts: { directory: string; url: string; child: ChildProcess; end: Promise<Finished> }) {
    this.directory = parts.directory;
    this.kubeconfig = join(parts.directory, 'kubeconfig');
    this.url = parts.url;
    this.pid = parts.child.pid ?? 0;
    this.#child = parts.child;
    this.#end = parts.end;
  }

  /** Resolves when it says that it is ready. */
  static async start(
    command: 'engine' | 'up',
    options: { directory?: string; listen?: string; words?: readonly string[] } = {},
  ): Promise<RunningNetloom> {
    const directory = options.directory ?? (await mkdtemp(join(tmpdir(), 'netloom-e2e-')));
    const words = [
      command,
      '--data-dir',
      directory,
      '--listen',
      options.listen ?? '127.0.0.1:0',
      // Tests share the machine: to be its agent is for those that have a network of their own.
      ...(command === 'up' ? ['--agent', 'off'] : []),
      ...(options.words ?? []),
    ];
    const child = spawn(PROGRAM, words, { stdio: ['ignore', 'pipe', 'pipe'] });
    const end = finished(child);
    let output = '';
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    child.stdout.on('data', (chunk) => {
      output += chunk;
      const ready = /^ready (\S+)$/m.exec(output);
      if (ready?.[1] !== undefined) resolve(ready[1]);
    });
    const timer = setTimeout(() => reject(new Error(`netloom ${command} was not ready within a minute`)), 60_000);
    void end.then(({ stderr }) => reject(new Error(`netloom ${command} ended before it was ready: ${stderr}`)));
    try {
      return new RunningNetloom({ directory, url: await promise, child, end });
    } catch (error) {
      child.kill('SIGKILL');
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Asks it to end, and waits until it has. */
  async stop(): Promise<Finished> {
    this.#child.kill('SIGTERM');
    return this.#end;
  }

  async kill(): Promise<Finished> {
    this.#child.kill('SIGKILL');
    return this.#end;
  }

  async stopAndRemove(): Promise<void> {
    await this.stop();
    await rm(this.directory, { recursive: true, force: true });
  }

  async transport(): Promise<HttpTransport> {
    return new HttpTransport({ connection: await readKubeconfig(this.kubeconfig), system, userAgent: 'test' });
  }
}
