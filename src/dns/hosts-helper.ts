import { ConfigMap } from '../api/core/config.ts';
import type { Client } from '../runtime/client.ts';
import type { System } from '../runtime/clock.ts';
import { Informer } from '../runtime/informer.ts';
import type { Log } from '../runtime/log.ts';
import { cleaned, textOf } from './hosts-file.ts';
import { HostsFolder } from './hosts-folder.ts';

export interface HostsHelperOptions {
  readonly client: Client;
  readonly system: System;
  readonly log: Log;
  readonly namespace: string;
  /** Which ConfigMaps hold hosts: `label=value`. */
  readonly selector: string;
  readonly folder: string;
}

/** Keeps the folder as the ConfigMaps say, until the result is called. While the API is away it stays as it is. */
export async function keepHosts(options: HostsHelperOptions): Promise<() => Promise<void>> {
  const { client, system, log, namespace, selector } = options;
  const folder = new HostsFolder(options.folder);
  const informer = new Informer({
    client,
    system,
    log,
    kind: ConfigMap,
    scope: { namespace, labelSelector: selector },
  });
  informer.onChange(({ before, now }) => {
    const kept = new Set(Object.keys(now?.data ?? {}));
    for (const key of Object.keys(before?.data ?? {})) {
      if (before !== undefined && !kept.has(key)) folder.remove(fileOf(before, key));
    }
    for (const [key, text] of Object.entries(now?.data ?? {})) {
      if (now === undefined || before?.data?.[key] === text) continue;
      const { lines, faults } = cleaned(text);
      for (const fault of faults.slice(0, MOST_TOLD)) {
        log.warn('a host is left out', { configMap: now.metadata.name, key, fault });
      }
      folder.put(fileOf(now, key), textOf(lines));
    }
  });
  informer.start();
  await informer.whenSynced();
  await folder.complete();
  log.info('all hosts are here', { folder: options.folder, configMaps: informer.cache.size });
  return () => informer.stop();
}

/** Neither names of ConfigMaps nor keys of theirs have a slash. */
const fileOf = ({ metadata }: ConfigMap, key: string): string =>
  metadata.name === key ? metadata.name : `${metadata.name}:${key}`;

const MOST_TOLD = 10;
