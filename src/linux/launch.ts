import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { CallList } from './call-list.ts';
import { inNewNamespaces, inProcessNamespaceOf } from './namespaces.ts';

export interface Launch {
  readonly calls: CallList;
  /** Descriptors for its input, output and errors. Closing them here is left to the caller. */
  readonly stdio: readonly [number, number, number];
  /** Further descriptors that the calls may use: the first is 5 in the new process, the next one 6, and so on. */
  readonly descriptors?: readonly number[];
  /** A new one, or that of a process, by its number here. */
  readonly processes: 'new' | { readonly of: number };
}

export interface Launched {
  readonly pid: number;
  /** Whether `pid` is still this process: when it has ended, the kernel may give the number to another one. */
  isAlive(): boolean;
  /** Nothing when it has ended. */
  signal(signal: NodeJS.Signals): void;
  /** Resolves when the program has begun; rejects with what a call failed with. */
  readonly begun: Promise<void>;
  /** Resolves when the process has ended, whether or not the program has begun. */
  readonly ended: Promise<Ended>;
}

export interface Ended {
  readonly exitCode: number | undefined;
  readonly signal: NodeJS.Signals | undefined;
}

/** The first of `descriptors` in the new process. */
export const FIRST_DESCRIPTOR = 5;

/**
 * Starts a process that carries out a list of system calls and becomes a program. The process is a child of this one,
 * in a session of its own; what it takes to end it with this one is up to the list.
 */
export function launch({ calls, stdio, descriptors = [], processes }: Launch): Launched {
  const start = (): ChildProcess =>
    spawn('/usr/bin/perl', [LAUNCHER], {
      cwd: '/',
      env: {},
      detached: true,
      stdio: [...stdio, 'pipe', 'pipe', ...descriptors],
    });
  const child = processes === 'new' ? inNewNamespaces(['pid'], start) : inProcessNamespaceOf(processes.of, start);
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve({ exitCode: code ?? undefined, signal: signal ?? undefined }));
  });
  const { pid } = child;
  if (pid === undefined) {
    // Not there at all: `ended` says why.
    return { pid: 0, isAlive: () => false, signal: () => {}, begun: ended.then(() => {}), ended };
  }
  const [, , , list, report] = child.stdio as [null, null, null, Writable, Readable];
  // When it ends before it has read the list, the report says so.
  list.on('error', () => {});
  list.end(calls.encode());
  return {
    pid,
    isAlive: () => child.exitCode === null && child.signalCode === null,
    signal: (signal) => void child.kill(signal),
    begun: begunAs(report, calls),
    ended,
  };
}

async function begunAs(report: Readable, calls: CallList): Promise<void> {
  let said = '';
  for await (const chunk of report) said += String(chunk);
  const failed = /^fail (\d+) (\d+)$/m.exec(said);
  if (failed !== null) throw calls.failure(Number(failed[1]), Number(failed[2]));
  if (!said.startsWith('begin')) throw new Error('the process was ended before its program began');
}

const LAUNCHER = fileURLToPath(new URL('launcher.pl', import.meta.url));
