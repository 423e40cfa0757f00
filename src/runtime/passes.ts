import type { Kind } from '../api/kind.ts';
import type { ApiObject } from '../api/object.ts';
import type { Cache } from './cache.ts';
import { isConflict, isMissing } from './client.ts';
import type { Context, ControllerSpec, Finalizer } from './controller.ts';
import type { StatusOf } from './draft.ts';
import { addFinalizer, removeFinalizers } from './finalizers.ts';
import { asError, isFaultOfOurs } from './log.ts';
import { failed, type Outcome } from './outcome.ts';
import { OwnWrites } from './own-writes.ts';
import { describeRef, refOfKey } from './ref.ts';
import { writeStatus } from './status.ts';
import type { WorkResult } from './work-queue.ts';

/** Takes keys off the queue, gives the objects to the controller, and writes down what came of it. */
export class Passes<T extends ApiObject> {
  readonly #kind: Kind<T>;
  readonly #cache: Cache<T>;
  readonly #context: Context;
  readonly #gone: ControllerSpec<T>['gone'];
  readonly #finalizer: Finalizer | undefined;
  readonly #reconcile: Pass<T>;
  readonly #release: Pass<T> | undefined;
  readonly #ownWrites = new OwnWrites();
  readonly #wake: (key: string) => void;
  readonly #failing = new Map<string, string>();
  #lastFailure: Failure | undefined;
  #counters = { passes: 0, failures: 0, conflicts: 0, seconds: 0 };

  /** `wake` is told of objects that others changed during their pass. */
  constructor(spec: ControllerSpec<T>, context: Context, wake: (key: string) => void) {
    this.#kind = spec.for;
    this.#cache = context.caches.of(spec.for);
    this.#context = context;
    this.#gone = spec.gone;
    this.#wake = wake;
    this.#finalizer = spec.finalizer;
    if ('batch' in spec) {
      this.#reconcile = (objects) => spec.reconcileMany(objects, context);
      const { finalizer } = spec;
      this.#release = finalizer && ((objects) => finalizer.releaseMany(objects, context));
    } else {
      this.#reconcile = oneByOne((object) => spec.reconcile(object, context));
      const { finalizer } = spec;
      this.#release = finalizer && oneByOne((object) => finalizer.release(object, context));
    }
  }

  get report(): PassReport {
    const { passes, failures, conflicts, seconds } = this.#counters;
    const report = { passes, failures, conflicts, seconds, failing: this.#failing.size };
    return this.#lastFailure === undefined ? report : { ...report, lastFailure: this.#lastFailure };
  }

  /** Whether a change of the object need not wake anybody, now. */
  isOwnWrite(key: string, now: T | undefined): boolean {
    return this.#ownWrites.isOwn(key, now?.metadata.resourceVersion);
  }

  /** Never rejects. */
  async work(keys: readonly string[]): Promise<WorkResult[]> {
    const began = this.#context.system.uptime();
    for (const key of keys) this.#ownWrites.begin(key);
    const tasks = keys.map((key): Task<T> => {
      return { key, object: this.#cache.get(refOfKey(key)), leaving: false, written: [] };
    });
    await Promise.all(tasks.map((task) => this.#prepare(task)));
    const open = tasks.filter(isOpen);
    await this.#pass(
      open.filter(({ leaving }) => !leaving),
      this.#reconcile,
    );
    if (this.#release !== undefined) {
      await this.#pass(
        open.filter(({ leaving }) => leaving),
        this.#release,
      );
    }
    for (const { key, written } of tasks) if (this.#ownWrites.end(key, written)) this.#wake(key);
    this.#counters.passes += tasks.length;
    this.#counters.seconds += (this.#context.system.uptime() - began) / 1000;
    return tasks.map(({ result }) => result ?? 'done');
  }

  /** Brings the object into the state in which the controller may see it, or ends the task. */
  async #prepare(task: Task<T>): Promise<void> {
    const { key, object } = task;
    try {
      if (object === undefined) {
        const again = await this.#gone?.(refOfKey(key), this.#context);
        this.#failing.delete(key);
        task.result = again ?? 'done';
      } else if (this.#finalizer !== undefined) {
        await this.#prepareFinalizer(task, object, this.#finalizer);
      }
    } catch (error) {
      task.result = this.#failed(key, asError(error));
    }
  }

  async #prepareFinalizer(task: Task<T>, object: T, finalizer: Finalizer): Promise<void> {
    const { name, former = [] } = finalizer;
    if (object.metadata.deletionTimestamp === undefined) {
      task.object = await addFinalizer(this.#context.client, this.#kind, object, finalizer);
      if (task.object !== object) task.written.push(task.object.metadata.resourceVersion);
      return;
    }
    const present = object.metadata.finalizers ?? [];
    task.leaving = [name, ...former].some((finalizer) => present.includes(finalizer));
    if (!task.leaving) task.result = 'done';
  }

  async #pass(tasks: readonly OpenTask<T>[], pass: Pass<T>): Promise<void> {
    if (tasks.length === 0) return;
    let outcomes: readonly Outcome<StatusOf<T>>[];
    try {
      outcomes = await pass(tasks.map(({ object }) => object));
      if (outcomes.length !== tasks.length) {
        throw new Error(`the controller gave ${outcomes.length} outcomes for ${tasks.length} objects`);
      }
    } catch (error) {
      for (const task of tasks) {
        this.#failed(task.key, asError(error));
        task.result = tasks.length > 1 ? 'failed together' : 'failed';
      }
      return;
    }
    const settled = outcomes.map(async (outcome, i) => {
      const task = tasks[i];
      if (task !== undefined) task.result = await this.#settle(task, outcome);
    });
    await Promise.all(settled);
  }

  async #settle(task: OpenTask<T>, outcome: Outcome<StatusOf<T>>): Promise<WorkResult> {
    const { client } = this.#context;
    const { key, object, leaving } = task;
    try {
      const written =
        outcome.status === undefined ? object : await writeStatus(client, this.#kind, object, outcome.status);
      if (written !== object) task.written.push(written.metadata.resourceVersion);
      if (leaving && outcome.end === 'done' && this.#finalizer !== undefined) {
        const { name, former = [] } = this.#finalizer;
        await removeFinalizers(client, this.#kind, written, [name, ...former]);
      }
    } catch (error) {
      // Deleted in between: the cache will say so in a moment.
      if (!isMissing(error)) return this.#failed(key, asError(error));
    }
    if (outcome.end === 'failed') return this.#failed(key, outcome.error);
    this.#failing.delete(key);
    return outcome.end === 'wait' && outcome.after !== undefined ? { after: outcome.after } : 'done';
  }

  #failed(key: string, error: Error): WorkResult {
    const { log, system, signal } = this.#context;
    if (signal.aborted) return 'failed';
    const object = describeRef(this.#kind, refOfKey(key));
    if (isConflict(error)) {
      // Somebody else was faster; the newer object is on its way to us.
      this.#counters.conflicts += 1;
      log.debug('the object was changed meanwhile; will look again', { object });
      return 'failed';
    }
    this.#counters.failures += 1;
    this.#failing.set(key, error.message);
    this.#lastFailure = { object, message: error.message, at: system.now() };
    log[isFaultOfOurs(error) ? 'error' : 'warn']('a pass failed; will try again', { object, error });
    return 'failed';
  }
}

export interface PassReport {
  passes: number;
  failures: number;
  /** Writes refused because somebody else had changed the object: usual, and not counted as failures. */
  conflicts: number;
  /** Spent in passes. */
  seconds: number;
  /** How many objects did not come through their last pass. */
  failing: number;
  lastFailure?: Failure;
}

export interface Failure {
  object: string;
  message: string;
  /** Milliseconds since 1970. */
  at: number;
}

type Pass<T extends ApiObject> = (objects: readonly T[]) => Promise<readonly Outcome<StatusOf<T>>[]>;

interface Task<T> {
  readonly key: string;
  object: T | undefined;
  /** Being deleted, and waiting for us. */
  leaving: boolean;
  /** The versions that our writes led to. */
  readonly written: string[];
  /** Set when there is nothing left to do. */
  result?: WorkResult;
}
type OpenTask<T> = Task<T> & { object: T };

const isOpen = <T>(task: Task<T>): task is OpenTask<T> => task.result === undefined && task.object !== undefined;

/** A queue that hands out one key at a time makes a batch of one. What was thrown becomes that object's outcome. */
const oneByOne =
  <T extends ApiObject>(one: (object: T) => Promise<Outcome<StatusOf<T>>>): Pass<T> =>
  (objects) =>
    Promise.all(objects.map((object) => one(object).catch((error) => failed<StatusOf<T>>(asError(error)))));
