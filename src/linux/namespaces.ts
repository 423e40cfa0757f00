import { closeSync, openSync } from 'node:fs';
import { cFunction } from './kernel.ts';

/** Kinds of namespaces, as the kernel names and numbers them. */
export const namespaceFlags = {
  mnt: 0x0002_0000,
  cgroup: 0x0200_0000,
  uts: 0x0400_0000,
  ipc: 0x0800_0000,
  pid: 0x2000_0000,
  net: 0x4000_0000,
} as const;

export type NamespaceKind = keyof typeof namespaceFlags;
type KindToEnter = 'uts' | 'ipc' | 'pid' | 'net';

/**
 * Does something in new namespaces of these kinds. A new one of processes is for children only: the first that `work`
 * starts is its process 1. What `work` does must be over when it returns.
 */
export function inNewNamespaces<T>(kinds: readonly KindToEnter[], work: () => T): T {
  return comeBackAfter(kinds, () => {
    unshare(`make namespaces (${kinds.join(', ')})`, flagsOf(kinds));
    return work();
  });
}

/** Children that `work` starts are in this namespace of processes, and see only what is in it. */
export function inProcessNamespaceOf<T>(pid: number, work: () => T): T {
  return comeBackAfter(['pid'], () => {
    const descriptor = openNamespace(pid, 'pid');
    try {
      setns(`enter the process namespace of process ${pid}`, descriptor, namespaceFlags.pid);
    } finally {
      closeSync(descriptor);
    }
    return work();
  });
}

/** A descriptor that keeps the namespace alive. */
export const openNamespace = (pid: number | 'thread-self', kind: NamespaceKind): number =>
  openSync(`/proc/${pid}/ns/${kind}`, 'r');

export const flagsOf = (kinds: readonly NamespaceKind[]): number =>
  kinds.reduce((flags, kind) => flags | namespaceFlags[kind], 0);

export const setHostname = (name: string): void => {
  sethostname(`name the host ${name}`, name, Buffer.byteLength(name));
};

function comeBackAfter<T>(kinds: readonly KindToEnter[], work: () => T): T {
  const own = kinds.map((kind) => ({ kind, descriptor: openNamespace('thread-self', kind) }));
  try {
    return work();
  } finally {
    for (const { kind, descriptor } of own) {
      setns(`come back to the own ${kind} namespace`, descriptor, namespaceFlags[kind]);
      closeSync(descriptor);
    }
  }
}

const unshare = cFunction('int unshare(int flags)');
const setns = cFunction('int setns(int fd, int type)');
const sethostname = cFunction('int sethostname(const char *name, size_t length)');
