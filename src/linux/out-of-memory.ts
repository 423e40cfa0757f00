import { writeFileSync } from 'node:fs';
import type { CallList } from './call-list.ts';
import { CLOSE_ON_EXECUTE, CURRENT } from './mount-calls.ts';

/** When a machine has no memory left, the kernel ends those first that have most of it; this moves who it is from -1000, never, to 1000, first. */
const OWN = '/proc/self/oom_score_adj';

/** False where somebody around us does not let us ask for less than we were given. */
export function beSpared(score: number): boolean {
  try {
    writeFileSync(OWN, String(score));
    return true;
  } catch {
    return false;
  }
}

/** For a new process and all that it starts: as long as it sees the processes of the host. */
export function setDispensability(calls: CallList, score: number): void {
  const doing = 'say who goes first when there is no memory left';
  const opened = calls.add('openat', [CURRENT, OWN, WRITE_ONLY | CLOSE_ON_EXECUTE, 0], { doing });
  calls.add('write', [opened, String(score), String(score).length], { doing, tolerate: [EPERM, EACCES] });
}

const WRITE_ONLY = 1;
const EPERM = 1;
const EACCES = 13;
