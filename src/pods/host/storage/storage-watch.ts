import type { Pod } from '../../../api/core/pod.ts';
import { type System, sleep } from '../../../runtime/clock.ts';
import { asError, type Log } from '../../../runtime/log.ts';
import { type DiskSpace, type Scarce, scarceOn } from './disk-space.ts';
import { evictionMessage, whoMustGo } from './eviction.ts';
import type { StorageLimit } from './storage-limits.ts';

/** As often as a kubelet, in milliseconds. */
const EVERY = 10_000;

export interface Storing {
  readonly pod: Pod;
  /** All that it writes to; nothing of one that is leaving anyway. */
  readonly writesTo: readonly string[];
  readonly storageLimits: readonly StorageLimit[];
  /** For what it has done itself, by putting more somewhere than it may, or to make room for others. */
  evict(message: string, because: EvictedFor): void;
}

export type EvictedFor = 'itself' | 'others';

/** What is in folders. */
export type DiskUsage = (folders: readonly string[], of: Scarce) => Promise<ReadonlyMap<string, number>>;

export interface StorageWatchOptions {
  readonly system: System;
  readonly log: Log;
  readonly diskUsage: DiskUsage;
  readonly diskSpace: () => Promise<DiskSpace>;
  readonly pods: () => Iterable<Storing>;
}

/**
 * Looks again and again whether pods keep to what they may put on the disk, and whether there is enough left of it for everybody.
 * Where no pod has a limit and the disk has room, nobody looks at anything.
 */
export async function watchStorage(options: StorageWatchOptions, signal: AbortSignal): Promise<void> {
  const { system, log } = options;
  while (!signal.aborted) {
    await sleep(system, EVERY, signal);
    for (const look of [lookAtLimits, lookAtDisk]) {
      try {
        if (!signal.aborted) await look(options);
      } catch (error) {
        log.warn('cannot see what pods have put on the disk', { error: asError(error) });
      }
    }
  }
}

async function lookAtLimits({ diskUsage, pods }: StorageWatchOptions): Promise<void> {
  const limited = [...pods()].flatMap((pod) => pod.storageLimits.map((limit) => ({ pod, limit })));
  if (limited.length === 0) return;
  const usage = await diskUsage([...new Set(limited.flatMap(({ limit }) => limit.folders))], 'bytes');
  for (const { pod, limit } of limited) {
    if (usedIn(limit.folders, usage) > limit.bytes) pod.evict(limit.message, 'itself');
  }
}

/** One at a time: it may be enough. */
async function lookAtDisk({ diskUsage, diskSpace, pods }: StorageWatchOptions): Promise<void> {
  const space = await diskSpace();
  const scarce = scarceOn(space);
  if (scarce === undefined) return;
  const writing = [...pods()].filter(({ writesTo }) => writesTo.length > 0);
  const usage = await diskUsage([...new Set(writing.flatMap(({ writesTo }) => writesTo))], scarce);
  const held = writing.map((storing) => ({ storing, pod: storing.pod, amount: usedIn(storing.writesTo, usage) }));
  const last = whoMustGo(held, scarce);
  last?.storing.evict(evictionMessage(last, scarce, space), 'others');
}

const usedIn = (folders: readonly string[], usage: ReadonlyMap<string, number>): number =>
  folders.reduce((sum, folder) => sum + (usage.get(folder) ?? 0), 0);
