import { fchownSync } from 'node:fs';
import { ReadStream } from 'node:tty';
import { cFunction } from './kernel.ts';
import { CLOSE_ON_EXECUTE } from './mount-calls.ts';
import { type SystemCall, systemCallNumber } from './system-calls.ts';

/** A pseudo-terminal: what a program writes to one end comes out of the other, and is edited as people type it. */
export interface Terminal {
  /** Ours: a stream in both directions. */
  readonly stream: ReadStream;
  /** The program's. Closing it here is left to the caller. */
  readonly slave: number;
  resize(columns: number, rows: number): void;
}

/**
 * A file system of terminals for one container, mounted nowhere yet: the container's first process mounts it at /dev/pts. With
 * this descriptor terminals are made in it later, without following any path of the container.
 */
export function makeTerminals(): number {
  const context = systemCall('make terminals', 'fsopen', 'devpts', 1);
  for (const [name, value] of Object.entries({ ptmxmode: '0666', mode: '0620', gid: String(TTY_GROUP) })) {
    fsconfig(context, SET_STRING, name, value);
  }
  fsconfig(context, CREATE, null, null);
  const mounted = fsmount('mount terminals', systemCallNumber('fsmount'), context, CLOEXEC, NO_SUID | NO_PROGRAMS);
  close('close', context);
  return mounted;
}

export function openTerminal(terminals: number, user: number): Terminal {
  const flags = READ_WRITE | NOT_CONTROLLING | CLOSE_ON_EXECUTE;
  const master = openat('make a terminal', terminals, 'ptmx', flags);
  ioctlPointer('unlock a terminal', master, UNLOCK, Buffer.alloc(4));
  const slave = ioctl('open a terminal', master, OPEN_SLAVE, flags);
  fchownSync(slave, user, TTY_GROUP);
  const stream = new ReadStream(master);
  return {
    stream,
    slave,
    resize: (columns, rows) => {
      if (stream.destroyed) return;
      const size = Buffer.alloc(8);
      size.writeUInt16LE(rows, 0);
      size.writeUInt16LE(columns, 2);
      ioctlPointer('resize a terminal', master, SET_SIZE, size);
    },
  };
}

function systemCall(doing: string, call: SystemCall, name: string, flags: number): number {
  return fsopen(doing, systemCallNumber(call), name, flags);
}

function fsconfig(context: number, command: number, name: string | null, value: string | null): void {
  configure('set up terminals', systemCallNumber('fsconfig'), context, command, name, value, 0);
}

const fsopen = cFunction('long syscall(long number, const char *name, unsigned int flags)');
const configure = cFunction(
  'long syscall(long number, int context, unsigned int command, const char *name, const char *value, int aux)',
);
const fsmount = cFunction('long syscall(long number, int context, unsigned int flags, unsigned int attributes)');
const openat = cFunction('int openat(int folder, const char *path, int flags)');
const ioctl = cFunction('int ioctl(int fd, unsigned long request, long value)');
const ioctlPointer = cFunction('int ioctl(int fd, unsigned long request, uint8_t *value)');
const close = cFunction('int close(int fd)');

/** `tty` on Debian, and in the devpts of every distribution. */
const TTY_GROUP = 5;
const CLOEXEC = 1;
const SET_STRING = 1;
const CREATE = 6;
const NO_SUID = 2;
const NO_PROGRAMS = 8;
const READ_WRITE = 2;
const NOT_CONTROLLING = 0o400;
const UNLOCK = 0x4004_5431;
const OPEN_SLAVE = 0x5441;
const SET_SIZE = 0x5414;
