import { rm } from 'node:fs/promises';
import { Places } from '../pods/host/places.ts';
import { podsWithFiles, removeFolder } from '../pods/host/pod-remains.ts';
import { RoutedPodNetwork } from '../pods/host/routed-pod-network.ts';
import { SupervisedRuntime } from '../pods/host/supervisor/supervised-runtime.ts';
import type { System } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import { removeServices } from '../services/host/service-host.ts';

export interface HostToRemove {
  readonly stateDirectory: string;
  readonly runDirectory: string;
  readonly cgroup: string;
  readonly system: System;
  readonly log: Log;
}

/**
 * Ends every pod of a host at once, and takes away all that Netloom has put into its kernel and file system. Nobody else may be
 * at work on it: whoever calls this has the lock of its agent.
 */
export async function removeHost({ stateDirectory, runDirectory, cgroup, system, log }: HostToRemove): Promise<void> {
  // If there is no supervisor, one is started: it knows what its predecessors may have left.
  const runtime = await SupervisedRuntime.connect({ runDirectory, stateDirectory, cgroup, system, log });
  const { sandboxes } = await runtime.list();
  await runtime.shutDown();
  const network = new RoutedPodNetwork();
  // Another host in the same network has pods as well. Whatever pod of this one has a network has a folder here: that comes first.
  const uids = new Set([...sandboxes.map(({ id }) => id), ...podsWithFiles(new Places(stateDirectory))]);
  for (const uid of uids) await network.detach(uid);
  await network.guard();
  await network.routeTo([]);
  await removeServices();
  await removeFolder(stateDirectory);
  await rm(runDirectory, { recursive: true, force: true });
}
