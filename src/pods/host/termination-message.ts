import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import type { Container } from '../../api/core/pod.ts';
import type { ContainerState } from './runtime.ts';

const LONGEST = 4096;
const LONGEST_LOG = 2048;
const LOG_LINES = 80;

/**
 * What a container had to say about its end: what it wrote into the file for that, else, where it is wanted and it has failed, the
 * end of its log.
 */
export function terminationMessage(
  { terminationMessagePolicy }: Container,
  { exitCode, logFile }: ContainerState,
  file: string,
): string | undefined {
  const written = read(file, LONGEST, 'start');
  if (written !== '') return written;
  if (terminationMessagePolicy !== 'FallbackToLogsOnError' || exitCode === 0) return undefined;
  const text = logText(read(logFile, 4 * LONGEST_LOG, 'end'));
  return text === '' ? undefined : text;
}

/** Without the times and streams that each line of a log begins with. */
function logText(log: string): string {
  const parts = log.split('\n').flatMap((line) => {
    const [, isWhole, said] = /^\S+ (?:stdout|stderr) (F|P) ?(.*)$/.exec(line) ?? [];
    return said === undefined ? [] : [isWhole === 'F' ? `${said}\n` : said];
  });
  const lines = parts
    .join('')
    .split('\n')
    .slice(-LOG_LINES - 1);
  return Buffer.from(lines.join('\n')).subarray(-LONGEST_LOG).toString('utf8').replace(/^�+/, '');
}

function read(file: string, length: number, from: 'start' | 'end'): string {
  let descriptor: number;
  try {
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return '';
  }
  try {
    const buffer = Buffer.alloc(length);
    const position = from === 'start' ? 0 : Math.max(0, fstatSync(descriptor).size - length);
    return buffer.subarray(0, readSync(descriptor, buffer, 0, length, position)).toString('utf8');
  } catch {
    return '';
  } finally {
    closeSync(descriptor);
  }
}
