import { execFile, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { access, constants, mkdtemp, readdir, realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { buildKubectl } from './build.ts';

export interface Kubectl {
  readonly path: string;
  /** As it names itself: `v1.33.4`. */
  readonly version: string;
}

/**
 * A kubectl of one fixed version, 1.30 or later: the one on the PATH, or else one that is built from its source.
 *
 * Some installations put a dispatcher on the PATH: it asks the server for its version and starts the kubectl of that
 * version which lies beside it. A test would not know what it has tested, so the newest of those is taken directly.
 */
export function kubectl(): Promise<Kubectl> {
  found ??= find();
  return found;
}

let found: Promise<Kubectl> | undefined;

async function find(): Promise<Kubectl> {
  const installed = await onPath('kubectl');
  if (installed !== undefined) {
    const version = await versionOf(installed);
    const candidate = version.includes('dispatcher') ? await newestBeside(installed) : { path: installed, version };
    if (candidate !== undefined && minorOf(candidate.version) >= OLDEST) return candidate;
  }
  const built = await buildKubectl();
  return { path: built, version: await versionOf(built) };
}

const OLDEST = 30;

export interface Result {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number;
}

/**
 * Runs kubectl against one server. It has a home and a discovery cache of its own, so that suites that run at the same
 * time see nothing of each other. It never blocks: the server may be in this process.
 */
export async function kubectlFor({ kubeconfig }: { kubeconfig: string }) {
  const { path: program } = await kubectl();
  const home = await mkdtemp(path.join(tmpdir(), 'netloom-kubectl-'));
  process.on('exit', () => rmSync(home, { recursive: true, force: true }));
  const env = {
    ...process.env,
    HOME: home,
    KUBECONFIG: kubeconfig,
    KUBECACHEDIR: path.join(home, 'cache'),
    KUBERC: 'off',
  };

  return async (
    args: readonly string[],
    { input = '', env: more = {} }: { input?: string | Buffer; env?: Readonly<Record<string, string>> } = {},
  ): Promise<Result> => {
    const child = spawn(program, args, { env: { ...env, ...more }, timeout: LONGEST_MS, stdio: 'pipe' });
    const ended = new Promise<number>((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (code, signal) =>
        code === null ? reject(new Error(`kubectl ${args.join(' ')} was ended by ${signal}`)) : resolve(code),
      );
    });
    // A kubectl that refuses its arguments does not read what it is sent.
    child.stdin.on('error', () => {});
    child.stdin.end(input);
    const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
    return { stdout, stderr, code };
  };
}

const LONGEST_MS = 120_000;

async function onPath(program: string): Promise<string | undefined> {
  for (const folder of (process.env['PATH'] ?? '').split(':')) {
    const file = path.join(folder, program);
    if (await isExecutable(file)) return file;
  }
  return undefined;
}

async function isExecutable(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}

async function newestBeside(dispatcher: string): Promise<Kubectl | undefined> {
  const folder = path.dirname(await realpath(dispatcher));
  const minors = (await readdir(folder)).map((name) => Number(/^kubectl\.1\.(\d+)$/.exec(name)?.[1] ?? 0));
  const file = path.join(folder, `kubectl.1.${Math.max(...minors)}`);
  return (await isExecutable(file)) ? { path: file, version: await versionOf(file) } : undefined;
}

async function versionOf(program: string): Promise<string> {
  const { stdout } = await promisify(execFile)(program, ['version', '--client', '--output=json']);
  return JSON.parse(stdout).clientVersion.gitVersion;
}

function minorOf(version: string): number {
  return Number(/^v1\.(\d+)\./.exec(version)?.[1] ?? 0);
}
