import { rm } from 'node:fs/promises';
import { unmountAll } from '../../linux/tmpfs.ts';

/** Removes what a pod had on this host, mounts first: what they show is not ours to remove. */
export async function removeFolder(folder: string): Promise<void> {
  unmountAll(folder);
  await rm(folder, { recursive: true, force: true });
}
