import { availableParallelism } from 'node:os';
import path from 'node:path';
import { finished } from 'node:stream/promises';
import { run } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { root, sourceFiles } from '../../tools/source-files.ts';
import { Outcomes } from './outcomes.ts';
import { processesOf, send } from './processes.ts';
import type { FileOutcome, Report } from './report.ts';

/** What takes a Kubernetes cluster: not to be had everywhere, nor within minutes. */
const ON_A_CLUSTER = 'test/cluster/';

/** Every file of tests, those that cross folders first: they take the longest, and others fill up beside them. */
export function testFiles(tier: 'everywhere' | 'cluster' = 'everywhere'): { file: string; source: string }[] {
  return sourceFiles('test', 'src', 'tools', 'bench').filter(
    ({ file }) => file.endsWith('.test.ts') && file.startsWith(ON_A_CLUSTER) === (tier === 'cluster'),
  );
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
  endTestsWithUs();
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
  const family = processesOf(file);
  abort.abort(new Error(`it was ended because it ran for more than ${Math.round(limit / 1000)} s`));
  await sleep(1000);
  send('SIGKILL', [...family, ...processesOf(file)]);
  while (processesOf(file).length > 0) await sleep(20);
}

/** Whoever stops `npm test` wants nothing to go on behind its back. */
function endTestsWithUs(): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => {
      send('SIGKILL', processesOf('.test.'));
      process.kill(process.pid, signal);
    });
  }
}
