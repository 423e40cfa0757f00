import { closeSync, fstatSync } from 'node:fs';
import { cFunction, KernelError } from './kernel.ts';
import { CLOSE_ON_EXECUTE, CURRENT, openHow, PATH_ONLY, resolveFlags } from './mount-calls.ts';
import { systemCallNumber } from './system-calls.ts';

/**
 * What a path inside a folder is, when somebody we do not trust may have put links there; without a path, the folder
 * itself, which may be a file then.
 * @returns undefined when nothing is there, or only outside of the folder.
 */
export function kindInside(folder: string, path = ''): 'directory' | 'file' | undefined {
  const base = open(CURRENT, folder, openHow(PATH_ONLY | CLOSE_ON_EXECUTE, 0));
  if (base === undefined) return undefined;
  const found = path === '' ? base : open(base, path, openHow(PATH_ONLY | CLOSE_ON_EXECUTE, resolveFlags('refused')));
  if (found !== base) closeSync(base);
  if (found === undefined) return undefined;
  const kind = fstatSync(found).isDirectory() ? 'directory' : 'file';
  closeSync(found);
  return kind;
}

function open(base: number, path: string, how: Buffer): number | undefined {
  try {
    return openat2(`open ${path}`, systemCallNumber('openat2'), base, path, how, how.length);
  } catch (error) {
    if (error instanceof KernelError) return undefined;
    throw error;
  }
}

const openat2 = cFunction('long syscall(long number, int folder, const char *path, const uint8_t *how, size_t size)');
