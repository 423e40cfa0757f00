import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { buildMetalbond, MetalbondProcess, startMetalbondServer } from '../../test/peers/metalbond.ts';
import type { Answer, Order } from './hosts.ts';

const root = path.resolve(import.meta.dirname, '../..');

const started = new Set<ChildProcess>();

/** Whatever happens to the bench, nothing of it goes on running. */
process.on('exit', () => {
  for (const child of started) child.kill('SIGKILL');
});

function remember<C extends ChildProcess>(child: C): C {
  started.add(child);
  return child;
}

/** CPU time of a process so far in seconds, and the most memory it ever had in MB. */
export function cost(pid: number): { cpu: number; memory: number } {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = Number(fields[11]) + Number(fields[12]);
  const peak = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return { cpu: ticks / 100, memory: Number(peak) / 1024 };
}

export interface BenchServer {
  readonly address: string;
  readonly pid: number;
  /** At once, as a power failure would. */
  stop(): Promise<void>;
}

/** As people start it. */
export async function startOurServer(listen = '[::1]:0'): Promise<BenchServer & { end(): Promise<void> }> {
  const options = ['routes', 'serve', '--listen', listen];
  const child = remember(spawn(path.join(root, 'bin/netloom'), options, { stdio: ['ignore', 'pipe', 'ignore'] }));
  let text = '';
  for await (const piece of child.stdout) {
    text += piece;
    if (text.includes('\n')) break;
  }
  const address = /\S+:\d+$/m.exec(text)?.[0];
  if (address === undefined) throw new Error(`the server has not said where it listens: ${text}`);
  return { address, pid: child.pid ?? 0, stop: () => kill(child), end: () => kill(child, 'SIGTERM') };
}

export async function startTheirServer(): Promise<BenchServer> {
  const { address, process } = await startMetalbondServer(await buildMetalbond());
  return { address, pid: process.pid, stop: () => process.stop() };
}

/** One or many hosts of ours in one process. */
export class Hosts {
  readonly #child: ChildProcess = fork(path.join(import.meta.dirname, 'hosts.ts'), {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });

  async tell(order: Order): Promise<Answer> {
    const answer = once(this.#child, 'message');
    this.#child.send(order);
    const [message] = await answer;
    return message;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  stop(): Promise<void> {
    return kill(this.#child);
  }
}

async function kill(child: ChildProcess, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
  started.delete(child);
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill(signal);
  await once(child, 'exit');
}

/** A host that uses the library of metalbond and says only how many routes it knows. */
export async function theirHost(server: string, ...options: string[]): Promise<MetalbondProcess> {
  const host = new MetalbondProcess((await buildMetalbond()).host, ['-servers', server, '-quiet', ...options]);
  await patience(() => host.lines.includes(`state ${server} ESTABLISHED`), 30_000);
  return host;
}

/** Whether it came true in time. */
export async function patience(holds: () => boolean, ms: number): Promise<boolean> {
  for (const end = performance.now() + ms; performance.now() < end; ) {
    if (holds()) return true;
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  return false;
}
