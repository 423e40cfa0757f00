import { constants } from 'node:os';
import { cFunction } from './kernel.ts';
import { systemCallNumber } from './system-calls.ts';

/** Stands for this very process, though its number may be given to another one when it has ended. Closed in programs. */
export const openProcess = (pid: number): number =>
  pidfdOpen(`look at process ${pid}`, systemCallNumber('pidfd_open'), pid, 0);

export function signalProcess(descriptor: number, signal: NodeJS.Signals): void {
  const number = constants.signals[signal];
  pidfdSendSignal(`send ${signal}`, systemCallNumber('pidfd_send_signal'), descriptor, number, null, 0);
}

const pidfdOpen = cFunction('long syscall(long number, int pid, unsigned int flags)');
const pidfdSendSignal = cFunction('long syscall(long number, int process, int signal, void *info, unsigned int flags)');
