import { ConfigMap } from '../../api/core/config.ts';
import type { Client } from '../../runtime/client.ts';
import { type System, sleep } from '../../runtime/clock.ts';
import { Informer } from '../../runtime/informer.ts';
import { asError, type Log } from '../../runtime/log.ts';
import { cleaned, textsOf } from '../hosts-file.ts';
import { HostsFolder } from './hosts-folder.ts';
import { type Changes, ServedHosts } from './served-hosts.ts';

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
  const hosts = new ServedHosts();
  const informer = new Informer({
    client,
    system,
    log,
    kind: ConfigMap,
    scope: { namespace, labelSelector: selector },
    retry: RECONNECT,
  });
  const folder = new HostsFolder(options.folder);
  const writer = new Writer(hosts, folder, options);
  informer.onChange(({ before, now }) => {
    const [former, texts] = [textsOf(before), textsOf(now)];
    for (const key of former.keys()) {
      if (before !== undefined && !texts.has(key)) hosts.put(sourceOf(before, key), []);
    }
    for (const [key, text] of texts) {
      if (now === undefined || former.get(key) === text) continue;
      const { lines, faults } = cleaned(text);
      for (const fault of faults.slice(0, MOST_TOLD)) {
        log.warn('a host is left out', { configMap: now.metadata.name, key, fault });
      }
      hosts.put(sourceOf(now, key), lines);
    }
    writer.wake();
  });
  informer.start();
  await informer.whenSynced();
  writer.begin();
  log.info('all hosts are here', { folder: options.folder, configMaps: informer.cache.size, names: hosts.size });
  return async () => {
    await informer.stop();
    await writer.stop();
  };
}

/** Neither names of ConfigMaps nor keys of theirs have a slash. */
const sourceOf = ({ metadata }: ConfigMap, key: string): string => `${metadata.name}/${key}`;

const MOST_TOLD = 10;
/** There are a few of us, and what is answered is old for as long as nobody is asked. */
const RECONNECT = { first: 100, max: 1_000 };

/** Brings what has changed into the folder, one change after the other. */
class Writer {
  readonly #hosts: ServedHosts;
  readonly #folder: HostsFolder;
  readonly #system: System;
  readonly #log: Log;
  readonly #stop = new AbortController();
  #hasBegun = false;
  #work: Promise<void> | undefined;

  constructor(hosts: ServedHosts, folder: HostsFolder, { system, log }: { system: System; log: Log }) {
    this.#hosts = hosts;
    this.#folder = folder;
    this.#system = system;
    this.#log = log;
  }

  /** Everything is known. A dnsmasq that runs already may not have heard the last of an earlier run, so it hears all. */
  begin(): void {
    const { texts } = this.#hosts.takeAll();
    const all = named(texts);
    for (const file of this.#folder.files) if (!all.has(file)) all.set(file, '');
    this.#folder.showTogether(all);
    this.#folder.complete();
    this.#hasBegun = true;
    this.wake();
  }

  wake(): void {
    if (!this.#hasBegun || this.#stop.signal.aborted || !this.#hosts.hasChanges) return;
    this.#work ??= this.#writeAll().finally(() => {
      this.#work = undefined;
      this.wake();
    });
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#work;
  }

  async #writeAll(): Promise<void> {
    const { signal } = this.#stop;
    while (this.#hosts.hasChanges && !signal.aborted) {
      const changes = this.#hosts.take();
      try {
        await this.#write(changes, signal);
      } catch (error) {
        this.#log.error('the hosts cannot be written, and stay as they are', { error: asError(error).message });
        this.#hosts.putBack(changes);
        await sleep(this.#system, RETRY, signal);
      }
    }
  }

  async #write({ texts, isTorn }: Changes, signal: AbortSignal): Promise<void> {
    const files = named(texts);
    if (!isTorn && looksAt(files) <= QUICKER_ONE_BY_ONE) return this.#folder.show(files);
    this.#folder.showTogether(files);
    // dnsmasq answers nobody while it reads: in a long row of changes it shall answer for most of the time.
    await sleep(this.#system, this.#hosts.size * REST_PER_NAME, signal);
  }
}

const named = (texts: ReadonlyMap<number, string>): Map<string, string> =>
  new Map([...texts].map(([file, text]) => [file.toString().padStart(4, '0'), text]));

/** How often dnsmasq looks at all names it has: to forget a file, and for each name in it. */
const looksAt = (files: ReadonlyMap<string, string>): number =>
  [...files.values()].reduce((sum, text) => sum + text.split(' ').length, 0);

/**
 * One look takes it some 12 ns for each name it has, and to read one anew 2500 ns. So it follows from the looks alone which of the
 * two is quicker.
 */
const QUICKER_ONE_BY_ONE = 200;
const REST_PER_NAME = 0.005;
const RETRY = 1_000;
