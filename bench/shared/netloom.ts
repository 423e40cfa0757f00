import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const PROGRAM = join(import.meta.dirname, '../../bin/netloom');

const running = new Set<ChildProcess>();

/** Whatever happens to the bench, nothing of it goes on running. */
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** CPU seconds of a process so far, and the MiB that it has now. */
export interface Cost {
  readonly cpu: number;
  readonly memory: number;
}

/** A process of Netloom, as people start it. */
export class Netloom {
  readonly kubeconfig: string;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, kubeconfig: string) {
    this.#child = child;
    this.kubeconfig = kubeconfig;
  }

  /** Resolves when it says that it is ready. */
  static async serve(command: 'engine' | 'up', directory: string): Promise<Netloom> {
    const words = [
      command,
      ...(command === 'up' ? ['--agent', 'off'] : []),
      '--data-dir',
      directory,
      '--listen',
      '127.0.0.1:0',
    ];
    return new Netloom(await ready(words), join(directory, 'kubeconfig'));
  }

  static async controllers(kubeconfig: string): Promise<Netloom> {
    return new Netloom(await ready(['controllers', '--kubeconfig', kubeconfig]), kubeconfig);
  }

  get cost(): Cost {
    const { pid } = this.#child;
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const memory = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return { cpu: (Number(fields[11]) + Number(fields[12])) / 100, memory: Number(memory) / 1024 };
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await ended;
  }
}

async function ready(words: readonly string[]): Promise<ChildProcess> {
  const child = spawn(PROGRAM, words, { stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  child.once('exit', () => running.delete(child));
  let complaints = '';
  child.stderr.on('data', (piece) => {
    complaints = `${complaints}${piece}`.slice(-10_000);
  });
  let output = '';
  const { promise, resolve, reject } = Promise.withResolvers<ChildProcess>();
  child.stdout.on('data', (piece) => {
    output += piece;
    if (/^ready /m.test(output)) resolve(child);
  });
  child.once('exit', () => reject(new Error(`netloom ${words[0]} ended before it was ready: ${complaints}`)));
  return promise;
}
