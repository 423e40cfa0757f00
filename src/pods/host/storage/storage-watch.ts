import { type System, sleep } from '../../../runtime/clock.ts';
import { asError, type Log } from '../../../runtime/log.ts';
import type { StorageLimit } from './storage-limits.ts';

/** As often as a kubelet, in milliseconds. */
const EVERY = 10_000;

export interface Storing {
  readonly storageLimits: readonly StorageLimit[];
  /** It has put more somewhere than it may. */
  evict(message: string): void;
}

export interface StorageWatchOptions {
  readonly system: System;
  readonly log: Log;
  /** What is in folders, in bytes. */
  readonly diskUsage: (folders: readonly string[]) => Promise<ReadonlyMap<string, number>>;
  readonly pods: () => Iterable<Storing>;
}

/** Looks again and again whether pods keep to what they may put on the disk; where none has a limit, nobody looks at anything. */
export async function watchStorage(options: StorageWatchOptions, signal: AbortSignal): Promise<void> {
  const { system, log } = options;
  while (!signal.aborted) {
    await sleep(system, EVERY, signal);
    try {
      if (!signal.aborted) await look(options);
    } catch (error) {
      log.warn('cannot see what pods have put on the disk', { error: asError(error) });
    }
  }
}

async function look({ diskUsage, pods }: StorageWatchOptions): Promise<void> {
  const limited = [...pods()].flatMap((pod) => pod.storageLimits.map((limit) => ({ pod, limit })));
  if (limited.length === 0) return;
  const usage = await diskUsage([...new Set(limited.flatMap(({ limit }) => limit.folders))]);
  for (const { pod, limit } of limited) {
    const used = limit.folders.reduce((sum, folder) => sum + (usage.get(folder) ?? 0), 0);
    if (used > limit.bytes) pod.evict(limit.message);
  }
}
