/** The numbers of the system calls that a `CallList` may name, by processor. */
export type SystemCall = keyof typeof numbers;

export function systemCallNumber(call: SystemCall): number {
  const [x64, arm64] = numbers[call];
  if (process.arch === 'x64') return x64;
  if (process.arch === 'arm64') return arm64;
  throw new Error(`containers run on x64 and arm64; this machine is ${process.arch}`);
}

/** Only calls that exist on both: those that were there before `openat` and its kin are not on arm64. */
const numbers = {
  capset: [126, 91],
  chdir: [80, 49],
  close: [3, 57],
  close_range: [436, 436],
  execve: [59, 221],
  fchmodat: [268, 53],
  fchownat: [260, 54],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fsopen: [430, 430],
  ioctl: [16, 29],
  mkdirat: [258, 34],
  mknodat: [259, 33],
  mount: [165, 40],
  mount_setattr: [442, 442],
  move_mount: [429, 429],
  open_tree: [428, 428],
  openat: [257, 56],
  openat2: [437, 437],
  pidfd_open: [434, 434],
  pidfd_send_signal: [424, 424],
  pivot_root: [155, 41],
  prctl: [157, 167],
  setgroups: [116, 159],
  setns: [308, 268],
  setresgid: [119, 149],
  setresuid: [117, 147],
  setxattr: [188, 5],
  symlinkat: [266, 36],
  umask: [95, 166],
  umount2: [166, 39],
  unshare: [272, 97],
  write: [1, 64],
} as const satisfies Record<string, readonly [x64: number, arm64: number]>;
