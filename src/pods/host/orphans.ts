import path from 'node:path';
import { sleep } from '../../runtime/clock.ts';
import { asError } from '../../runtime/log.ts';
import type { HostParts } from './host-parts.ts';
import { Places } from './places.ts';
import { namesIn, removeFolder } from './pod-remains.ts';
import type { ContainerState } from './runtime.ts';
import { Tasks } from './tasks.ts';

/** How long processes have to go whose pod nobody knows any more, and with it the time that it would have given them. */
const GRACE = 2_000;

/** Ends and removes what is left of pods that exist no more. */
export class Orphans {
  readonly #parts: HostParts;
  readonly #tasks: Tasks;
  readonly #stop = new AbortController();
  readonly #left = new Map<string, readonly ContainerState[]>();

  constructor(parts: HostParts) {
    this.#parts = parts;
    this.#tasks = new Tasks({ system: parts.system, changed: () => this.#go() });
  }

  remove(uid: string, states: readonly ContainerState[]): void {
    this.#left.set(uid, states);
    this.#go();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#tasks.stop();
  }

  #go(): void {
    for (const [uid, states] of this.#left) this.#tasks.begin(uid, () => this.#removeAll(uid, states));
  }

  async #removeAll(uid: string, states: readonly ContainerState[]): Promise<void> {
    const { runtime, network, addresses, places, log } = this.#parts;
    try {
      await this.#end(states.filter(({ phase }) => phase === 'running'));
      if (this.#stop.signal.aborted) return;
      await runtime.removeSandbox(uid);
      await network.detach(uid);
      addresses.release(uid);
      await removeFolder(places.pod(uid));
      const logs = namesIn(places.logs).filter((folder) => Places.uidOfLogs(folder) === uid);
      await Promise.all(logs.map((folder) => removeFolder(path.join(places.logs, folder))));
      this.#left.delete(uid);
      log.info('removed what was left of a pod that exists no more', { uid });
    } catch (error) {
      log.warn('cannot remove what is left of a pod; will try again', { uid, error: asError(error) });
      throw error;
    }
  }

  async #end(running: readonly ContainerState[]): Promise<void> {
    if (running.length === 0) return;
    const { runtime, system } = this.#parts;
    const left = new Set(running.map(({ id }) => id));
    const all = new AbortController();
    const unwatch = runtime.watch(({ id, phase }) => {
      if (phase === 'ended') left.delete(id);
      if (left.size === 0) all.abort();
    });
    try {
      await Promise.all(running.map(({ id }) => runtime.signal(id, 'SIGTERM')));
      await sleep(system, GRACE, AbortSignal.any([all.signal, this.#stop.signal]));
    } finally {
      unwatch();
    }
  }
}
