import { closeSync, fchownSync } from 'node:fs';
import { cFunction } from './kernel.ts';

export interface Pipe {
  readonly read: number;
  readonly write: number;
}

/** Closed in programs that are executed, unless they are handed to them. */
export function makePipe(): Pipe {
  const ends = [0, 0];
  pipe2('make a pipe', ends, CLOSE_ON_EXECUTE);
  const [read = -1, write = -1] = ends;
  return { read, write };
}

/** Whoever has `/dev/stdout` opened by its name must own the pipe. */
export function givePipe({ read }: Pipe, user: number, group: number): void {
  fchownSync(read, user, group);
}

export function closeAll(descriptors: readonly number[]): void {
  for (const descriptor of descriptors) closeSync(descriptor);
}

const pipe2 = cFunction('int pipe2(_Out_ int *ends, int flags)');
const CLOSE_ON_EXECUTE = 0x8_0000;
