import { closeSync, constants, fchmodSync, mkdirSync, openSync } from 'node:fs';

/**
 * Makes a folder below another one, whatever containers have put there meanwhile: each step is taken from the folder that the last
 * one led to, and a link is not followed. A path that goes through links is left to whoever mounts it.
 */
export function makeFolderWithin(root: string, relative: string, mode: number): void {
  let current = openSync(root, FOLDER);
  try {
    for (const part of relative.split('/').filter((each) => each !== '' && each !== '.')) {
      if (part === '..') throw new Error(`"${relative}" leads out of the volume`);
      const step = `/proc/self/fd/${current}/${part}`;
      const next = open(step) ?? made(step, mode);
      if (next === undefined) return;
      closeSync(current);
      current = next;
    }
  } finally {
    closeSync(current);
  }
}

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY;

/** Undefined for a link or a file. */
function made(step: string, mode: number): number | undefined {
  try {
    mkdirSync(step, { mode });
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
    return open(step);
  }
  const folder = open(step);
  // Whatever our umask takes away, users of the volume shall have here what they have in it.
  if (folder !== undefined) fchmodSync(folder, mode);
  return folder;
}

function open(step: string): number | undefined {
  try {
    return openSync(step, FOLDER | constants.O_NOFOLLOW);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ELOOP'].some((code) => hasCode(error, code))) return undefined;
    throw error;
  }
}

const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;
