import {
  closeSync,
  existsSync,
  constants as files,
  mkdirSync,
  openSync,
  readdirSync,
  statfsSync,
  statSync,
  unlinkSync,
} from 'node:fs';
import path from 'node:path';
import { cFunction, KernelError } from './kernel.ts';

/**
 * A network namespace is kept alive by a file at /run/netns, as `ip netns` does, so `ip netns exec NAME …` finds it too.
 * Everything here is synchronous: between entering a namespace and coming back, no other code of this process runs.
 */
export const networkNamespacePath = (name: string): string => path.join(FOLDER, name);

/** Whether this file is a namespace, and not what a crash or a reboot left of one. */
export function isNetworkNamespace(file: string): boolean {
  return existsSync(file) && statfsSync(file).type === NAMESPACE_FILE_SYSTEM;
}

/** The names that begin with the prefix, ordered; also of what a crash left. */
export function networkNamespaces(prefix: string): string[] {
  return existsSync(FOLDER)
    ? readdirSync(FOLDER)
        .filter((name) => name.startsWith(prefix))
        .sort()
    : [];
}

/**
 * Makes a namespace, or finds the one of this name.
 * @param prepare puts in what must be there before anybody can find it: a crash in the middle of it leaves nothing. It runs inside
 * and is given a descriptor of the namespace.
 */
export function createNetworkNamespace(name: string, prepare: (descriptor: number) => void = () => {}): string {
  const file = networkNamespacePath(name);
  if (isNetworkNamespace(file)) return file;
  shareFolder();
  closeSync(openSync(file, files.O_RDONLY | files.O_CREAT, 0o444));
  try {
    comeBackAfter(() => {
      unshare(`make the network namespace ${name}`, NETWORK);
      withDescriptor(OWN, prepare);
      mount(`keep the network namespace ${name}`, OWN, file, 'none', BIND, null);
    });
  } catch (error) {
    unlinkSync(file);
    throw error;
  }
  return file;
}

/** Its links go a moment later, when no process runs in it any more; nothing happens when it is not there. */
export function removeNetworkNamespace(name: string): void {
  const file = networkNamespacePath(name);
  if (!existsSync(file)) return;
  while (isNetworkNamespace(file)) umount2(`remove the network namespace ${name}`, file, DETACH);
  unlinkSync(file);
}

/**
 * Does something in another namespace: sockets it opens, processes it starts and files of /proc/sys/net that it reads
 * belong there. What it does must be over when it returns, so a promise is refused.
 */
export function inNetworkNamespace<T>(file: string, work: () => T): T {
  return withDescriptor(file, (descriptor) =>
    comeBackAfter(() => {
      setns(`enter the network namespace ${file}`, descriptor, NETWORK);
      return work();
    }),
  );
}

/** Tells namespaces apart: equal for two paths of one namespace. */
export const networkNamespaceId = (file: string = OWN): string => {
  const { dev, ino } = statSync(file);
  return `${dev}:${ino}`;
};

export function withDescriptor<T>(file: string, work: (descriptor: number) => T): T {
  const descriptor = openSync(file, files.O_RDONLY);
  try {
    return work(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function comeBackAfter<T>(work: () => T): T {
  return withDescriptor(OWN, (own) => {
    try {
      const result = work();
      if (result instanceof Promise) throw new TypeError('what is done in another namespace cannot take a while');
      return result;
    } finally {
      setns('come back to the own network namespace', own, NETWORK);
    }
  });
}

/**
 * Namespaces are seen by processes with other mounts only when the folder is a shared mount. `ip netns` makes it one
 * when it first runs; when that came after us, it would hide our files below, so we do the same, under the same lock.
 */
function shareFolder(): void {
  mkdirSync(FOLDER, { recursive: true, mode: 0o755 });
  withDescriptor(FOLDER, (folder) => {
    flock('lock /run/netns', folder, EXCLUSIVE);
    const share = () => mount('share /run/netns', '', FOLDER, 'none', SHARED | RECURSIVE, null);
    try {
      share();
    } catch (error) {
      if (!(error instanceof KernelError && error.code === 'EINVAL')) throw error;
      mount('make /run/netns a mount', FOLDER, FOLDER, 'none', BIND | RECURSIVE, null);
      share();
    }
  });
}

const unshare = cFunction('int unshare(int flags)');
const setns = cFunction('int setns(int fd, int type)');
const flock = cFunction('int flock(int fd, int operation)');
const mount = cFunction('int mount(const char *, const char *, const char *, unsigned long, const char *)');
const umount2 = cFunction('int umount2(const char *target, int flags)');

const FOLDER = '/run/netns';
const OWN = '/proc/thread-self/ns/net';
const NETWORK = 0x4000_0000;
const BIND = 0x1000;
const RECURSIVE = 0x4000;
const SHARED = 0x10_0000;
const DETACH = 2;
const EXCLUSIVE = 2;
const NAMESPACE_FILE_SYSTEM = 0x6e73_6673;
