/** The numbers of the system calls that a `CallList` or a filter may name, by processor. */
export type SystemCall = keyof typeof numbers;

export function systemCallNumber(call: SystemCall): number {
  const [x64, arm64] = numbers[call];
  if (process.arch === 'x64') return x64;
  if (process.arch === 'arm64') return arm64;
  throw new Error(`containers run on x64 and arm64; this machine is ${process.arch}`);
}

/** Only calls that exist on both: those that were there before `openat` and its kin are not on arm64. */
const numbers = {
  add_key: [248, 217],
  bpf: [321, 280],
  capset: [126, 91],
  chdir: [80, 49],
  clone: [56, 220],
  clone3: [435, 435],
  close: [3, 57],
  close_range: [436, 436],
  execve: [59, 221],
  fchmodat: [268, 53],
  fchownat: [260, 54],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fsopen: [430, 430],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  io_uring_setup: [425, 425],
  ioctl: [16, 29],
  keyctl: [250, 219],
  mkdirat: [258, 34],
  mknodat: [259, 33],
  mount: [165, 40],
  mount_setattr: [442, 442],
  move_mount: [429, 429],
  open_tree: [428, 428],
  openat: [257, 56],
  openat2: [437, 437],
  perf_event_open: [298, 241],
  pidfd_open: [434, 434],
  pidfd_send_signal: [424, 424],
  pivot_root: [155, 41],
  prctl: [157, 167],
  request_key: [249, 218],
  seccomp: [317, 277],
  setgroups: [116, 159],
  setns: [308, 268],
  setresgid: [119, 149],
  setresuid: [117, 147],
  setxattr: [188, 5],
  symlinkat: [266, 36],
  syslog: [103, 116],
  umask: [95, 166],
  umount2: [166, 39],
  unshare: [272, 97],
  userfaultfd: [323, 282],
  write: [1, 64],
} as const satisfies Record<string, readonly [x64: number, arm64: number]>;
