import { readdirSync } from 'node:fs';
import { removeTree } from '../../linux/remove-tree.ts';
import { unmountAll } from '../../linux/tmpfs.ts';
import { Places } from './places.ts';

/** The UIDs of the pods that have files on this host. */
export function podsWithFiles({ pods, logs }: Places): string[] {
  const uids = [...namesIn(pods), ...namesIn(logs).map((folder) => Places.uidOfLogs(folder))];
  return [...new Set(uids)].filter((uid) => UID.test(uid));
}

const UID = /^[A-Za-z0-9][A-Za-z0-9-]*$/;

/** Removes what a pod had on this host, mounts first: what they show is not ours to remove. */
export async function removeFolder(folder: string): Promise<void> {
  unmountAll(folder);
  await removeTree(folder);
}

/** None where there is no such folder. */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
