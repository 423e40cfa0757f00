import type { Terminal } from './command.ts';

export const processTerminal: Terminal = {
  print: (text) => process.stdout.write(`${text}\n`),
  warn: (text) => process.stderr.write(`${text}\n`),
};

/** `netloom get | head -1` ends when head does: without a word, as the reader had enough. */
export function endWithTheReader(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
      process.exit(0);
    });
  }
}

/** Ends the process once everything written has left it: process.exit() alone cuts a pipe off at 64 KiB. */
export function exitWhenWritten(code: number): void {
  process.stdout.write('', () => process.stderr.write('', () => process.exit(code)));
}
