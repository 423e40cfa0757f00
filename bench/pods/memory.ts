import { readFileSync } from 'node:fs';
import type { Row } from '../shared/row.ts';
import type { BenchLab } from './bench-lab.ts';

/** What agent and supervisor of the first host have for themselves: pages that no other process shares. */
export function memoryOf(lab: BenchLab): { agent: number; supervisor: number } {
  const { agent, supervisor } = lab.processesOf(lab.hosts[0] ?? '');
  return { agent: privateMemory(agent), supervisor: privateMemory(supervisor) };
}

export function memoryRow(work: string, goal: number, { agent, supervisor }: ReturnType<typeof memoryOf>): Row {
  const sum = agent + supervisor;
  return {
    work: `own memory of agent and supervisor, ${work}`,
    goal: `under ${goal} MiB`,
    measured: `${sum.toFixed(0)} MiB: agent ${agent.toFixed(0)}, supervisor ${supervisor.toFixed(0)}`,
    holds: sum < goal,
  };
}

/** In MiB. */
function privateMemory(pid: number): number {
  const lines = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8').matchAll(/^Private_(?:Clean|Dirty): +(\d+) kB$/gm);
  return [...lines].reduce((sum, [, kilobytes]) => sum + Number(kilobytes), 0) / 1024;
}
