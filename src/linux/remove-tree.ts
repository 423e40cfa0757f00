import { spawn, spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { text } from 'node:stream/consumers';

/**
 * Removes a folder with all that is in it, and nothing that is mounted there. Somebody we do not trust may have made it: folders in
 * folders until no path leads to the last of them, which only a program reaches that goes there step by step.
 */
export async function removeTree(folder: string): Promise<void> {
  try {
    await rm(folder, OPTIONS);
  } catch {
    const child = spawn('rm', wordsFor(folder), { stdio: ['ignore', 'ignore', 'pipe'] });
    const ended = new Promise<number | null>((resolve, reject) => {
      child.on('error', reject);
      child.on('close', resolve);
    });
    const [complaint, code] = await Promise.all([text(child.stderr), ended]);
    if (code !== 0) throw notRemoved(folder, complaint);
  }
}

/** The same, for those who wait. */
export function removeTreeNow(folder: string): void {
  try {
    rmSync(folder, OPTIONS);
  } catch {
    const { status, stderr, error } = spawnSync('rm', wordsFor(folder), { encoding: 'utf8' });
    if (error !== undefined) throw error;
    if (status !== 0) throw notRemoved(folder, stderr);
  }
}

const OPTIONS = { recursive: true, force: true };
const wordsFor = (folder: string): string[] => ['-rf', '--one-file-system', '--', folder];

/** Paths that are too long to be followed are too long to be read as well. */
const notRemoved = (folder: string, complaint: string): Error =>
  new Error(`${folder} cannot be removed: ${complaint.trim().slice(0, LONGEST)}`);

const LONGEST = 300;
