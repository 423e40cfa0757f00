import { cFunction } from './kernel.ts';
import { systemCallNumber } from './system-calls.ts';

/** Stands for this very process, though its number may be given to another one when it has ended. Closed in programs. */
export const openProcess = (pid: number): number =>
  pidfdOpen(`look at process ${pid}`, systemCallNumber('pidfd_open'), pid, 0);

const pidfdOpen = cFunction('long syscall(long number, int pid, unsigned int flags)');
