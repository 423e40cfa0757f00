import { spawn } from 'node:child_process';
import { connect } from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from './free-port.ts';
import { GoPrograms } from './go-programs.ts';

/** The server of metalbond, and a host that uses its library. Building them takes a minute the first time. */
const metalbond = new GoPrograms({
  source: path.join(import.meta.dirname, 'metalbond'),
  packages: { server: 'github.com/ironcore-dev/metalbond/cmd', host: '.' },
});

/** Where the programs are. */
export type Metalbond = typeof metalbond.paths;
export const metalbondIsMissing = (): string | false => metalbond.areMissing();
export const buildMetalbond = (): Promise<Metalbond> => metalbond.build();

/** A running program of metalbond and what it has printed. */
export class MetalbondProcess {
  readonly lines: string[] = [];
  readonly errors: string[] = [];
  readonly #child;
  readonly #exited: Promise<void>;

  constructor(program: string, options: readonly string[]) {
    this.#child = spawn(program, options, { stdio: ['pipe', 'pipe', 'pipe'] });
    createInterface(this.#child.stdout).on('line', (line) => this.lines.push(line));
    // The server writes a line for every route.
    createInterface(this.#child.stderr).on('line', (line) => {
      if (this.errors.length < 1000) this.errors.push(line);
    });
    this.#exited = new Promise((resolve) => this.#child.on('exit', () => resolve()));
    this.#child.stdin.on('error', () => {});
    const kill = (): boolean => this.#child.kill('SIGKILL');
    process.on('exit', kill);
    this.#child.on('exit', () => process.off('exit', kill));
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Tells a host what to do. */
  tell(command: string): void {
    this.#child.stdin.write(`${command}\n`);
  }

  /** Of a host: what it knows, from what it has reported. */
  get routes(): string[] {
    const known = new Set<string>();
    for (const line of this.lines) {
      if (line.startsWith('+')) known.add(line.slice(1));
      if (line.startsWith('-')) known.delete(line.slice(1));
    }
    return [...known].sort();
  }

  /** Of a host that is quiet: how many routes it knows. */
  get count(): number {
    return Number(this.lines.findLast((line) => line.startsWith('count '))?.slice('count '.length) ?? 0);
  }

  async stop(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#exited;
  }
}

/** Starts the server of metalbond; resolves when it listens. */
export async function startMetalbondServer(programs: Metalbond, options: readonly string[] = []) {
  const port = await freePort('::1');
  const process = new MetalbondProcess(programs.server, ['server', '--listen', `[::1]:${port}`, ...options]);
  for (let attempts = 0; !(await answers(port)); attempts += 1) {
    if (attempts > 1000) throw new Error(`metalbond does not listen: ${process.errors.join('\n')}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return { address: `[::1]:${port}`, process };
}

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '::1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
