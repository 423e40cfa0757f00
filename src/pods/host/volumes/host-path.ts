import type { Stats } from 'node:fs';
import { mkdir, open, stat } from 'node:fs/promises';
import { VolumeFault } from './volume-fault.ts';

/** Sees to it that there is what the volume says, and makes it where it says so. */
export async function checkHostPath({ path, type = '' }: { path: string; type?: string }): Promise<void> {
  const found = await statOf(path);
  if (found === undefined) {
    if (type === '' || type === 'DirectoryOrCreate') await mkdir(path, { recursive: true, mode: 0o755 });
    else if (type === 'FileOrCreate') await (await open(path, 'a', 0o644)).close();
    else throw new VolumeFault(`hostPath type check failed: ${path} does not exist, and is to be of type ${type}`);
    return;
  }
  const [is, what] = TYPES[type] ?? [() => true, ''];
  if (!is(found)) throw new VolumeFault(`hostPath type check failed: ${path} is not a ${what}`);
}

const TYPES: Readonly<Record<string, readonly [(found: Stats) => boolean, string]>> = {
  Directory: [(found) => found.isDirectory(), 'directory'],
  DirectoryOrCreate: [(found) => found.isDirectory(), 'directory'],
  File: [(found) => found.isFile(), 'file'],
  FileOrCreate: [(found) => found.isFile(), 'file'],
  Socket: [(found) => found.isSocket(), 'socket file'],
  CharDevice: [(found) => found.isCharacterDevice(), 'character device'],
  BlockDevice: [(found) => found.isBlockDevice(), 'block device'],
};

async function statOf(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
