import type { Container, Pod, PodStatus } from '../../api/core/pod.ts';
import { isFinished, isTerminating } from '../pod-state.ts';
import {
  allContainersOf,
  type ContainerFacts,
  factsOf,
  initContainersOf,
  isAlive,
  isRunning,
  isSidecar,
  latestRun,
  type Obstacle,
  type PodFacts,
} from './pod-facts.ts';
import { podStatus, type Verdict } from './pod-status.ts';
import { nextBackoff, restartAt } from './restart-backoff.ts';
import { refusalOf } from './unsupported.ts';

/** What to do next for a pod. Every step may be repeated, and is planned again until the facts say that it has been done. */
export interface PodPlan {
  readonly steps: readonly Step[];
  readonly status: PodStatus;
  /** It is to end: nothing of it is started any more. */
  readonly leaving: boolean;
  /** What keeps it from running on, or from running here at all, though nobody deletes it. */
  readonly refusal: Obstacle | undefined;
  /** Containers whose next start is put off, as they keep ending. */
  readonly backingOff: ReadonlySet<string>;
  /** When to plan anew even if nothing happens, in milliseconds since 1970. */
  readonly wakeAt: number | undefined;
}

export type Step =
  /** A sandbox with its network, and volumes. */
  | { readonly do: 'prepare' }
  | { readonly do: 'start'; readonly container: Container; readonly attempt: number; readonly backoff: number }
  | {
      readonly do: 'end';
      readonly container: Container;
      readonly run: string;
      readonly graceMs: number;
      readonly message: string;
    }
  /** Of a run that nobody will ask about any more. */
  | { readonly do: 'forget'; readonly run: string }
  /** Gives back what only a pod that runs needs of the host; its logs stay. */
  | { readonly do: 'release' }
  /** Nothing of it stays, neither here nor in the API. */
  | { readonly do: 'remove' };

export function planPod(facts: PodFacts): PodPlan {
  const verdict = verdictOf(facts);
  const leaving = facts.gone || isTerminating(facts.pod) || verdict !== undefined;
  if (!leaving && facts.admission === 'awaited') return holdStill(facts);
  const moves = leaving ? leave(facts) : proceed(facts);
  return {
    leaving,
    refusal: isFinished(facts.pod) ? undefined : (rejectionOf(facts) ?? refusalIn(verdict)),
    backingOff: moves.backingOff,
    steps: [...moves.steps, ...forgetOld(facts)],
    status: podStatus(facts, verdict, moves.backingOff),
    wakeAt: leaving ? undefined : earliest(moves.wakeAt, deadlineOf(facts)),
  };
}

/** Nothing is said of it either: what has a start time has begun. */
const holdStill = ({ pod }: PodFacts): PodPlan => ({
  leaving: false,
  refusal: undefined,
  backingOff: new Set(),
  steps: [],
  status: pod.status ?? {},
  wakeAt: undefined,
});

const earliest = (...moments: readonly (number | undefined)[]): number | undefined =>
  moments.reduce((first, moment) => (first === undefined || (moment ?? first) < first ? moment : first), undefined);

interface Moves {
  readonly steps: readonly Step[];
  /** Names of containers whose next start is put off. */
  readonly backingOff: ReadonlySet<string>;
  readonly wakeAt?: number | undefined;
}

/** Why the pod is not to run any more though nobody deletes it. */
function verdictOf(facts: PodFacts): Verdict | undefined {
  const { pod, now } = facts;
  const { phase, reason, message } = pod.status ?? {};
  if (isFinished(pod) && (phase === 'Succeeded' || phase === 'Failed')) return { phase, reason, message };
  const refusal = refusalOf(pod);
  if (refusal !== undefined) return { phase: 'Failed', ...refusal };
  const rejection = rejectionOf(facts);
  if (rejection !== undefined) {
    return { phase: 'Failed', reason: rejection.reason, message: `Pod was rejected: ${rejection.message}` };
  }
  if (facts.eviction !== undefined) return { phase: 'Failed', ...facts.eviction };
  const deadline = deadlineOf(facts);
  if (deadline !== undefined && deadline <= now) return { phase: 'Failed', ...DEADLINE_EXCEEDED };
  if (hasRunItsCourse(facts)) return { phase: undefined };
  return undefined;
}

const rejectionOf = ({ admission }: PodFacts): Obstacle | undefined =>
  typeof admission === 'object' ? admission : undefined;

const refusalIn = ({ reason, message = '' }: Verdict = { phase: undefined }): Obstacle | undefined =>
  reason === undefined ? undefined : { reason, message };

/** Its restart policy will not start anything again. */
function hasRunItsCourse(facts: PodFacts): boolean {
  const { pod } = facts;
  const { restartPolicy } = pod.spec;
  if (restartPolicy === 'Never' && failedInitContainer(facts) !== undefined) return true;
  return pod.spec.containers.every((container) => {
    const known = factsOf(facts, container.name);
    const run = latestRun(known);
    return run?.end !== undefined && !isAlive(known) && !restarts(restartPolicy, run.end.exitCode);
  });
}

const failedInitContainer = (facts: PodFacts): Container | undefined =>
  initContainersOf(facts.pod).find((container) => {
    const known = factsOf(facts, container.name);
    const end = latestRun(known)?.end;
    return !isSidecar(container) && end !== undefined && end.exitCode !== 0 && !isAlive(known);
  });

const restarts = (policy: Pod['spec']['restartPolicy'] = 'Always', exitCode: number): boolean =>
  policy === 'Always' || (policy === 'OnFailure' && exitCode !== 0);

function deadlineOf({ pod, seenAt }: PodFacts): number | undefined {
  const { activeDeadlineSeconds } = pod.spec;
  return activeDeadlineSeconds === undefined ? undefined : seenAt + activeDeadlineSeconds * 1000;
}

/** Init containers one after another, sidecars among them before what follows; then all others. */
function proceed(facts: PodFacts): Moves {
  if (facts.sandbox.state !== 'ready' || !facts.sandbox.volumes) {
    return { steps: [{ do: 'prepare' }], backingOff: new Set() };
  }
  const course = new Course(facts);
  const { pod } = facts;
  const isInitialized = hasInitialized(facts);
  let inTheWay = false;
  for (const container of initContainersOf(pod)) {
    const known = factsOf(facts, container.name);
    if (isSidecar(container)) {
      course.keep(container, () => true);
      inTheWay ||= !isInitialized && !isUp(known);
    } else if (!isInitialized && !isDone(known)) {
      course.keep(container, () => true);
      inTheWay = true;
    }
    if (inTheWay) return course;
  }
  for (const container of pod.spec.containers) {
    course.keep(container, (exitCode) => restarts(pod.spec.restartPolicy, exitCode));
    // The next one is not started before the postStart hook of this one is over.
    if (course.isStarting(container)) break;
  }
  return course;
}

/** Some container was started in this sandbox, so all init containers have been through. */
export const hasInitialized = (facts: PodFacts): boolean =>
  facts.pod.spec.containers.some(({ name }) => {
    const known = factsOf(facts, name);
    return known.starting || known.runs.some(({ past }) => !past);
  });

/** Whether an init container has done its work in this sandbox. */
export function isDone(known: ContainerFacts): boolean {
  const run = latestRun(known);
  return run !== undefined && !run.past && run.end?.exitCode === 0;
}

/** Whether what comes after a sidecar may begin. */
export const isUp = (known: ContainerFacts): boolean => isRunning(known) && !known.starting && known.probed.started;

/** Collects what containers need that are to run. */
class Course implements Moves {
  readonly steps: Step[] = [];
  readonly backingOff = new Set<string>();
  readonly #facts: PodFacts;
  #wakeAt: number | undefined;

  constructor(facts: PodFacts) {
    this.#facts = facts;
  }

  get wakeAt(): number | undefined {
    return this.#wakeAt;
  }

  /** One that cannot be started keeps nobody waiting. */
  isStarting({ name }: Container): boolean {
    const { starting, obstacle } = factsOf(this.#facts, name);
    return starting || (obstacle === undefined && this.steps.some((step) => isStartOf(step, name)));
  }

  keep(container: Container, isToRunAgain: (exitCode: number) => boolean): void {
    const { pod, now } = this.#facts;
    const known = factsOf(this.#facts, container.name);
    const run = latestRun(known);
    if (isRunning(known)) {
      if (known.unfit !== undefined && run !== undefined) {
        const { message, graceSeconds = graceSecondsOf(pod) } = known.unfit;
        this.steps.push({ do: 'end', container, run: run.id, graceMs: atLeastShort(graceSeconds), message });
      }
      return;
    }
    if (known.starting || (run?.end !== undefined && !isToRunAgain(run.end.exitCode))) return;
    const due = run === undefined ? now : restartAt(run);
    if (due > now) {
      this.backingOff.add(container.name);
      this.#wakeAt = Math.min(this.#wakeAt ?? due, due);
    } else {
      const attempt = run === undefined ? 0 : run.attempt + 1;
      this.steps.push({ do: 'start', container, attempt, backoff: nextBackoff(run) });
    }
  }
}

const isStartOf = (step: Step, name: string): boolean => step.do === 'start' && step.container.name === name;

/** All others end together; then the sidecars, the last one first. */
function leave(facts: PodFacts): Moves {
  const { pod } = facts;
  const alive = allContainersOf(pod).filter(({ name }) => isAlive(factsOf(facts, name)));
  const backingOff = new Set<string>();
  if (alive.length === 0) return { steps: farewell(facts), backingOff };
  const others = alive.filter((container) => !(isSidecar(container) && initContainersOf(pod).includes(container)));
  const ending = others.length > 0 ? others : alive.slice(-1);
  return { steps: ending.flatMap((container) => endStep(facts, container)), backingOff };
}

function endStep(facts: PodFacts, container: Container): Step[] {
  const known = factsOf(facts, container.name);
  const run = latestRun(known);
  if (run === undefined || run.end !== undefined) return [];
  const { now, leavingSince = now } = facts;
  const graceMs = Math.max(atLeastShort(leavingGraceSeconds(facts)) - (now - leavingSince), SHORT);
  return [{ do: 'end', container, run: run.id, graceMs, message: `Stopping container ${container.name}` }];
}

function farewell({ pod, gone, sandbox }: PodFacts): Step[] {
  if (gone || isTerminating(pod)) return [{ do: 'remove' }];
  return sandbox.state === 'released' ? [] : [{ do: 'release' }];
}

const graceSecondsOf = ({ spec }: Pod): number => spec.terminationGracePeriodSeconds ?? 30;

function leavingGraceSeconds({ pod, gone, eviction }: PodFacts): number {
  // Who took it out of the API did not want to wait, and what it does to this host is to end soon.
  if (gone || eviction !== undefined) return 0;
  return pod.metadata.deletionGracePeriodSeconds ?? graceSecondsOf(pod);
}

/** Everybody gets a moment to go by himself. */
const SHORT = 2_000;
const atLeastShort = (seconds: number): number => Math.max(seconds * 1000, SHORT);

/** The run before the latest one can still be asked for its log. */
function forgetOld(facts: PodFacts): Step[] {
  return allContainersOf(facts.pod).flatMap(({ name }) =>
    factsOf(facts, name)
      .runs.slice(0, -2)
      .filter(({ past }) => !past)
      .map(({ id }): Step => ({ do: 'forget', run: id })),
  );
}

const DEADLINE_EXCEEDED = {
  reason: 'DeadlineExceeded',
  message: 'Pod was active on the node longer than the specified deadline',
};
