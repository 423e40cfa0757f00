import type { Kind } from '../api/kind.ts';
import type { ApiObject } from '../api/object.ts';
import { Children } from './children.ts';
import type { Context, ControllerSpec, Host, Watch } from './controller.ts';
import type { Change } from './informer.ts';
import { controllerOf } from './owner.ts';
import { Passes, type PassReport } from './passes.ts';
import { keyOf, keyOfObject } from './ref.ts';
import { Sources } from './sources.ts';
import { changesStatusOnly } from './status-change.ts';
import { WorkQueue } from './work-queue.ts';

/** A controller at work. */
export interface RunningController {
  readonly name: string;
  state(): ControllerState;
  /** No further pass begins; resolves when those under way have ended. */
  stop(): Promise<void>;
}

export interface ControllerState extends PassReport {
  name: string;
  /** Whether everything that the controller reads has been heard, so that passes have begun. */
  begun: boolean;
  /** Objects that wait for their turn, or for their time; passes under way. */
  queue: { ready: number; later: number; running: number };
}

export function startController<T extends ApiObject, Watched extends readonly ApiObject[]>(
  name: string,
  spec: ControllerSpec<T, Watched>,
  host: Host,
): RunningController {
  const sources = new Sources(name, host.informers);
  const own = sources.add(spec.for, spec.where);
  const context: Context = {
    client: host.client,
    caches: sources,
    children: new Children({ client: host.client, caches: sources }),
    events: host.events(name),
    system: host.system,
    log: host.log.with({ controller: name }),
    signal: host.signal,
  };
  const passes = new Passes(spec, context, (key) => queue.add(key));
  const queue = new WorkQueue({
    system: host.system,
    work: (keys) => passes.work(keys),
    ...('batch' in spec ? { batch: spec.batch.max, pause: spec.batch.pause ?? 0 } : { parallel: spec.parallel ?? 1 }),
    ...(spec.retry === undefined ? {} : { retry: spec.retry }),
  });

  own.onChange((change) => {
    for (const key of new Set(bothOf(change).map(keyOfObject))) {
      if (!passes.isOwnWrite(key, change.now)) queue.add(key);
    }
  });
  for (const kind of spec.owns ?? []) followChildren(kind);
  for (const watch of spec.watches ?? []) follow(watch);
  let begun = false;
  let stopped = false;
  void sources.whenSynced().then(() => {
    if (stopped) return;
    begun = true;
    queue.start();
  });

  function followChildren(kind: Kind): void {
    sources.add(kind).onChange((change) => {
      if (kind.statusIsReport === true && changesStatusOnly(change)) return;
      for (const child of bothOf(change)) {
        const ref = controllerOf(child, spec.for);
        if (ref !== undefined) queue.add(keyOf(ref));
      }
      if (change.now === undefined) context.children.forget(kind, keyOfObject(change.before));
    });
  }

  function follow<W extends ApiObject>({ kind, wakes, where }: Watch<W>): void {
    sources.add(kind, where).onChange((change) => {
      if (kind.statusIsReport === true && changesStatusOnly(change)) return;
      for (const object of bothOf(change)) for (const ref of wakes(object, sources)) queue.add(keyOf(ref));
    });
  }

  return {
    name,
    state: () => ({ name, begun, queue: queue.depth, ...passes.report }),
    stop: () => {
      stopped = true;
      return queue.stop();
    },
  };
}

const bothOf = <T extends ApiObject>({ before, now }: Change<T>): T[] =>
  [before, now].filter((object) => object !== undefined);
