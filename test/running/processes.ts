import { readFileSync } from 'node:fs';

/** Our child processes that run a file, for run() does not tell their numbers, and all that these have started. */
export function processesOf(file: string): number[] {
  return childrenOf(process.pid)
    .filter((pid) => contentOf(`/proc/${pid}/cmdline`).includes(file))
    .flatMap((pid) => [pid, ...descendantsOf(pid)]);
}

/** Sends a signal to those that still run. */
export function send(signal: NodeJS.Signals, processes: readonly number[]): void {
  for (const pid of new Set(processes)) {
    try {
      process.kill(pid, signal);
    } catch {
      // It has come to its end meanwhile.
    }
  }
}

function descendantsOf(pid: number): number[] {
  return childrenOf(pid).flatMap((child) => [child, ...descendantsOf(child)]);
}

function childrenOf(pid: number): number[] {
  return (contentOf(`/proc/${pid}/task/${pid}/children`).match(/\d+/g) ?? []).map(Number);
}

/** A file of /proc, or nothing when the process is gone. */
function contentOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
