import { closeSync, ftruncateSync, constants as modes, openSync, readSync, writeSync } from 'node:fs';
import { cFunction, KernelError } from './kernel.ts';

export interface FileLock {
  release(): void;
}

/**
 * Locks a file for as long as this process lives. The kernel lets go of it however the process ends, so that no lock is ever left
 * behind.
 * @returns the lock, or the process that has it, as far as it has said so
 */
export function lockFile(path: string): FileLock | { readonly heldBy: number | undefined } {
  const file = openSync(path, modes.O_RDWR | modes.O_CREAT, 0o600);
  if (!isLocked(path, file)) {
    const held = Number(contentOf(file));
    closeSync(file);
    return { heldBy: held > 0 ? held : undefined };
  }
  ftruncateSync(file);
  writeSync(file, `${process.pid}\n`, 0);
  return { release: () => closeSync(file) };
}

/**
 * Locks a folder for as long as this process lives.
 * @returns undefined when another process has it
 */
export function lockFolder(path: string): FileLock | undefined {
  const folder = openSync(path, modes.O_RDONLY | modes.O_DIRECTORY);
  if (isLocked(path, folder)) return { release: () => closeSync(folder) };
  closeSync(folder);
  return undefined;
}

function isLocked(path: string, descriptor: number): boolean {
  try {
    flock(`lock ${path}`, descriptor, EXCLUSIVE | AT_ONCE);
    return true;
  } catch (error) {
    if (error instanceof KernelError && TAKEN.includes(error.code)) return false;
    closeSync(descriptor);
    throw error;
  }
}

function contentOf(file: number): string {
  const buffer = Buffer.alloc(32);
  return buffer.toString('latin1', 0, readSync(file, buffer, 0, buffer.length, 0)).trim();
}

const flock = cFunction('int flock(int fd, int operation)');
const EXCLUSIVE = 2;
const AT_ONCE = 4;
const TAKEN = ['EAGAIN', 'EWOULDBLOCK'];
