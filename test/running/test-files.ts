import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { finished } from 'node:stream/promises';
import { run } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { root, sourceFiles } from '../../tools/source-files.ts';
import { Outcomes } from './outcomes.ts';
import type { FileOutcome, Report } from './report.ts';

/** Every file of tests, those that cross folders first: they take the longest, and others fill up beside them. */
export function testFiles(): { file: string; source: string }[] {
  return sourceFiles('test', 'src', 'tools', 'bench').filter(({ file }) => file.endsWith('.test.ts'));
}

export interface RunOptions {
  readonly files: readonly { readonly file: string }[];
  readonly report: Report;
  readonly minutesForOne: number;
  readonly minutesForAll: number;
  /** Where the files are. */
  readonly base?: string;
}

/** Runs each file in a process of its own, as many at a time as there are processors. */
export async function runTestFiles({ files, report, minutesForOne, minutesForAll, base = root }: RunOptions) {
  const end = performance.now() + minutesForAll * 60_000;
  const waiting = [...files];
  const worker = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const milliseconds = Math.max(0, Math.min(minutesForOne * 60_000, end - performance.now()));
      report.file(await runFile(next.file, base, milliseconds));
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
}

async function runFile(file: string, base: string, limit: number): Promise<FileOutcome> {
  const began = performance.now();
  const abort = new AbortController();
  let ending = Promise.resolve();
  const timer = setTimeout(() => {
    ending = endProcess(file, limit, abort);
  }, limit);
  const events = run({ files: [path.join(base, file)], cwd: base, signal: abort.signal });
  const outcomes = new Outcomes(events, base);
  await finished(events.resume());
  clearTimeout(timer);
  await ending;
  return { file, milliseconds: performance.now() - began, outcomes: outcomes.all, output: outcomes.output };
}

/** Ends what takes too long: first with the signal that Node.js sends when aborted, then with one nobody can ignore. */
async function endProcess(file: string, limit: number, abort: AbortController): Promise<void> {
  abort.abort(new Error(`it was ended because it ran for more than ${Math.round(limit / 1000)} s`));
  await sleep(1000);
  for (const pid of childrenRunning(file)) process.kill(pid, 'SIGKILL');
  while (childrenRunning(file).length > 0) await sleep(20);
}

/** Our child processes that run a file, for run() does not tell their numbers. */
function childrenRunning(file: string): number[] {
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim().split(' ');
  return children.map(Number).filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(file);
    } catch {
      return false;
    }
  });
}
