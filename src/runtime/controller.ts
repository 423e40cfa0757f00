import type { Kind } from '../api/kind.ts';
import type { ApiObject } from '../api/object.ts';
import type { BackoffBounds } from './backoff.ts';
import type { Caches } from './cache.ts';
import type { Children } from './children.ts';
import type { Client } from './client.ts';
import type { System } from './clock.ts';
import { type RunningController, startController } from './controller-run.ts';
import type { StatusOf } from './draft.ts';
import type { Events } from './events.ts';
import type { Informers } from './informers.ts';
import type { Log } from './log.ts';
import type { Outcome } from './outcome.ts';
import type { Scope } from './paths.ts';
import type { Ref } from './ref.ts';

/**
 * What makes the objects of one kind true. A pass is given the object as it is, never what happened to it, and must
 * come to the same end however often it runs. Throwing means: try again, with back-off. The status that a pass brings
 * does not wake the controller again: whoever needs another pass says so by its outcome.
 */
export type ControllerSpec<T extends ApiObject, Watched extends readonly ApiObject[] = readonly ApiObject[]> = {
  /** The plural of the kind unless it says otherwise; names the controller in logs, events and metrics. */
  name?: string;
  for: Kind<T>;
  /** Which objects of the kind; all of them when left out. */
  where?: Scope;
  /** Kinds of objects that the controller creates; a change of one wakes the object that controls it. */
  owns?: readonly Kind[];
  /** Other kinds that matter; a change of one wakes the objects that `wakes` names. */
  watches?: { readonly [I in keyof Watched]: Watch<Watched[I]> };
  /** The object is gone without having waited for anybody, as far as we have heard. `after`: look again in so many milliseconds. */
  gone?(ref: Ref, context: Context): Promise<{ after: number } | undefined> | Promise<void> | void;
  retry?: BackoffBounds;
} & (OneByOne<T> | ManyAtOnce<T>);

export interface OneByOne<T extends ApiObject> {
  /** How many objects may be worked on at once; one unless it says more. */
  parallel?: number;
  reconcile(object: T, context: Context): Promise<Outcome<StatusOf<T>>>;
  /** `release` undoes everything for an object that is being deleted. */
  finalizer?: Finalizer & { release(object: T, context: Context): Promise<Outcome<StatusOf<T>>> };
}

/** For work that is cheaper together. What throws is tried again object by object, so that one cannot spoil the rest. */
export interface ManyAtOnce<T extends ApiObject> {
  batch: {
    max: number;
    /** Milliseconds from the end of a batch of several to the next, so that more go together; none unless it says so. */
    pause?: number;
  };
  /** One outcome for each object, in the same order. */
  reconcileMany(objects: readonly T[], context: Context): Promise<readonly Outcome<StatusOf<T>>[]>;
  finalizer?: Finalizer & {
    releaseMany(objects: readonly T[], context: Context): Promise<readonly Outcome<StatusOf<T>>[]>;
  };
}

/** Put on an object before its first pass, taken off when its release is done. */
export interface Finalizer {
  name: string;
  /** Names that were used before: taken off as well. */
  former?: readonly string[];
}

export interface Watch<W extends ApiObject> {
  kind: Kind<W>;
  where?: Scope;
  /** Called with the object as it was and with the object as it is. */
  wakes: (object: W, caches: Caches) => readonly Ref[];
}

/** What a pass may use. */
export interface Context {
  /** The server itself. */
  readonly client: Client;
  /** The kinds under `for`, `owns` and `watches`, as last heard. */
  readonly caches: Caches;
  readonly children: Children;
  readonly events: Events;
  readonly system: System;
  readonly log: Log;
  /** Aborts when the controller has to end. */
  readonly signal: AbortSignal;
}

/** A controller that any manager can run. */
export interface Controller {
  readonly name: string;
  /** Begins to listen at once, and to work when everything that it reads has been heard. */
  start(host: Host): RunningController;
}

/** What a manager offers to its controllers. */
export interface Host {
  client: Client;
  informers: Informers;
  events: (component: string) => Events;
  system: System;
  log: Log;
  signal: AbortSignal;
}

export function controller<T extends ApiObject, const Watched extends readonly ApiObject[] = readonly []>(
  spec: ControllerSpec<T, Watched>,
): Controller {
  const name = spec.name ?? spec.for.plural;
  return { name, start: (host) => startController(name, spec, host) };
}
