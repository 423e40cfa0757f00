import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { homedir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

const source = path.join(import.meta.dirname, 'metalbond');

/** Where the programs are: the server of metalbond, and a host that uses its library. */
export interface Metalbond {
  readonly server: string;
  readonly host: string;
}

const cache = path.join(process.env['XDG_CACHE_HOME'] ?? path.join(homedir(), '.cache'), 'netloom', 'peers');
const directory = path.join(cache, `metalbond-${fingerprint()}`);
const programs: Metalbond = { server: path.join(directory, 'metalbond'), host: path.join(directory, 'host') };
const isBuilt = (): boolean => existsSync(programs.server) && existsSync(programs.host);

/** Why it can neither be found nor built here; false: it can. Where everything is expected to be there, it is built. */
export function metalbondIsMissing(): string | false {
  const hasGo = (process.env['PATH'] ?? '').split(':').some((folder) => existsSync(path.join(folder, 'go')));
  return isBuilt() || hasGo || process.env['CI'] !== undefined ? false : 'there is no Go here to build metalbond with';
}

/**
 * Builds metalbond from its Go modules, whose checksums are pinned beside the source. The first time that takes a minute
 * and needs the network; later the programs are found in the user's cache.
 */
export async function buildMetalbond(): Promise<Metalbond> {
  if (isBuilt()) return programs;
  const unfinished = path.join(cache, `metalbond-${process.pid}-unfinished`);
  mkdirSync(unfinished, { recursive: true });
  const env = { ...process.env, GOFLAGS: '-mod=readonly', GOTOOLCHAIN: 'local', CGO_ENABLED: '0' };
  const build = (output: string, what: string) =>
    promisify(execFile)('go', ['build', '-o', path.join(unfinished, output), what], { cwd: source, env });
  await build('metalbond', 'github.com/ironcore-dev/metalbond/cmd');
  await build('host', '.');
  // Another test may have been faster: what it has built is the same.
  if (!existsSync(directory)) renameSync(unfinished, directory);
  return programs;
}

function fingerprint(): string {
  const hash = createHash('sha256');
  for (const name of readdirSync(source).sort()) hash.update(readFileSync(path.join(source, name)));
  return hash.digest('hex').slice(0, 12);
}

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
  const port = await freePort();
  const process = new MetalbondProcess(programs.server, ['server', '--listen', `[::1]:${port}`, ...options]);
  for (let attempts = 0; !(await answers(port)); attempts += 1) {
    if (attempts > 1000) throw new Error(`metalbond does not listen: ${process.errors.join('\n')}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return { address: `[::1]:${port}`, process };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '::1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('a TCP server listens on a port');
  return address.port;
}

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '::1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
