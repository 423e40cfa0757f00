import type { Cgroups } from '../../../linux/cgroups.ts';
import { lockFile, lockFolder } from '../../../linux/file-lock.ts';

export interface Claim {
  readonly cgroups: Cgroups;
  /** The group of the host. */
  readonly group: string;
  /** Says who it is that has the host. */
  readonly lockFile: string;
}

/**
 * Makes this process the one supervisor of a host for as long as it lives. Files may be removed while somebody has them
 * locked; the group with the containers may not, so it is what is locked where there are groups.
 * @returns why not, in words for whoever started this one
 */
export function claimHost({ cgroups, group, lockFile: file }: Claim): string | undefined {
  const lock = lockFile(file);
  if ('heldBy' in lock) return refusal(group, lock.heldBy);
  cgroups.make(group);
  const isOurs = cgroups.folders(group).every((folder) => lockFolder(folder) !== undefined);
  return isOurs ? undefined : refusal(group, cgroups.processes(`${group}/supervisor`)[0]);
}

function refusal(group: string, pid: number | undefined): string {
  const [which, end] =
    pid === undefined ? ['another process', 'it'] : [`process ${pid}`, `process ${pid} with SIGTERM`];
  return `${which} supervises the containers of ${group} already, and a host has one supervisor: use it, or end ${end}, which ends its containers`;
}
