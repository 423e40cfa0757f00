/** How much there is of the disk that pods write to. */
export interface DiskSpace {
  readonly diskBytes: number;
  readonly diskAvailable: number;
  readonly inodes: number;
  readonly inodesFree: number;
}

/** What a disk can have too little of. */
export type Scarce = 'bytes' | 'inodes';

/** Undefined as long as there is enough. From there on no more pods are taken, and those that fill it have to go. */
export function scarceOn({ diskBytes, diskAvailable, inodes, inodesFree }: DiskSpace): Scarce | undefined {
  if (diskAvailable < Math.min(diskBytes / 10, 2 * GIB)) return 'bytes';
  // Some file systems have no fixed number of them.
  return inodes > 0 && inodesFree < inodes / 50 ? 'inodes' : undefined;
}

export const leftOf = (scarce: Scarce, { diskBytes, diskAvailable, inodes, inodesFree }: DiskSpace): string =>
  scarce === 'inodes' ? `${inodesFree} of ${inodes} inodes` : `${gib(diskAvailable)} of ${gib(diskBytes)} GiB`;

export const amountOf = (scarce: Scarce, amount: number): string =>
  scarce === 'inodes' ? `${amount} inodes` : `${gib(amount)} GiB`;

const GIB = 1024 ** 3;
const gib = (bytes: number): string => (bytes / GIB).toFixed(1);
