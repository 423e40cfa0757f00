import { readFileSync } from 'node:fs';
import { cFunction, KernelError } from './kernel.ts';

export interface TmpfsOptions {
  readonly sizeBytes?: number;
  readonly mode: number;
  readonly group?: number;
  /** What is in it never gets to a disk, not even by swapping. */
  readonly stayInMemory?: boolean;
  /** Nothing in it can be executed. */
  readonly withoutPrograms?: boolean;
}

/** Puts a file system that lives in memory at a folder; one that is there already stays as it is. */
export function mountTmpfs(folder: string, { sizeBytes, mode, group = 0, ...how }: TmpfsOptions): void {
  const { stayInMemory = false, withoutPrograms = false } = how;
  if (mountPoints(folder).includes(folder)) return;
  const flags = NO_SUID | NO_DEVICES | (withoutPrograms ? NO_PROGRAMS : 0);
  const options = [
    `mode=${mode.toString(8)}`,
    `gid=${group}`,
    ...(sizeBytes === undefined ? [] : [`size=${sizeBytes}`]),
  ];
  const make = (all: readonly string[]): void => {
    mount(`put a tmpfs at ${folder}`, 'netloom', folder, 'tmpfs', flags, all.join(','));
  };
  if (!stayInMemory) {
    make(options);
    return;
  }
  try {
    make([...options, 'noswap']);
  } catch (error) {
    // Kernels before 6.4 do not know the word.
    if (!(error instanceof KernelError && error.code === 'EINVAL')) throw error;
    make(options);
  }
}

/** Whatever is mounted at or below a folder is gone, even when somebody still looks at it. */
export function unmountAll(folder: string): void {
  // The last one first: a mount may hide others below it.
  for (const point of mountPoints(folder).reverse()) umount2(`unmount ${point}`, point, DETACH);
}

/** What is mounted at or below a folder, in the order in which it was. */
export function mountPoints(folder: string): string[] {
  return readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .map((line) => unescaped(line.split(' ')[4] ?? ''))
    .filter((point) => point === folder || point.startsWith(`${folder}/`));
}

const unescaped = (text: string): string =>
  text.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));

const mount = cFunction('int mount(const char *, const char *, const char *, unsigned long, const char *)');
const umount2 = cFunction('int umount2(const char *target, int flags)');
const NO_SUID = 2;
const NO_DEVICES = 4;
const NO_PROGRAMS = 8;
const DETACH = 2;
