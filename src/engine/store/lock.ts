import { spawn } from 'node:child_process';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { isJsonObject } from '../../api/json.ts';
import { DirectoryInUse } from './errors.ts';

export interface DirectoryLock {
  release(): Promise<void>;
}

/**
 * Locks the directory for as long as this process lives. The kernel ties the lock to the open file, not to the program
 * `flock` that asks for it: it goes when we close the file or die, however we die, so a lock is never left behind.
 */
export async function lockDirectory(directory: string, holder: string): Promise<DirectoryLock> {
  const path = join(directory, 'lock');
  // Not truncated: until the lock is ours, the file tells who has it.
  const file = await open(path, 'a+', 0o600);
  try {
    if (!(await flock(file, path))) throw new DirectoryInUse(directory, parseHolder(await readAll(file)));
    await file.truncate(0);
    await file.write(`${JSON.stringify({ pid: process.pid, holder, since: new Date().toISOString() })}\n`);
  } catch (error) {
    await file.close();
    throw error;
  }
  return { release: () => file.close() };
}

async function flock(file: FileHandle, path: string): Promise<boolean> {
  const child = spawn('flock', ['-n', '3'], { stdio: ['ignore', 'ignore', 'pipe', file.fd] });
  let complaint = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    complaint += text;
  });
  const { promise, resolve, reject } = Promise.withResolvers<number | null>();
  child.once('error', reject).once('close', resolve);
  const code = await promise.catch((error: unknown) => {
    throw new Error(`${path} can not be locked without the program flock (package util-linux)`, { cause: error });
  });
  if (code !== 0 && code !== 1)
    throw new Error(`${path} can not be locked: flock ended with ${code}. ${complaint.trim()}`);
  return code === 0;
}

async function readAll(file: FileHandle): Promise<string> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(4096), 0, 4096, 0);
  return buffer.toString('utf8', 0, bytesRead);
}

/** The one who has the lock may be just about to write about itself. */
function parseHolder(text: string): { pid?: number; holder?: string; since?: string } {
  try {
    const told: unknown = JSON.parse(text);
    if (!isJsonObject(told)) return {};
    const { pid, holder, since } = told;
    if (typeof pid !== 'number' || typeof holder !== 'string' || typeof since !== 'string') return {};
    return { pid, holder, since };
  } catch {
    return {};
  }
}
