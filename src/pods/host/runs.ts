import type { ContainerStatus } from '../../api/core/pod.ts';
import type { ContainerState } from './runtime.ts';

/** One start of a container: `runtime.ts` knows those that this host still has, the status of the pod those before. */
export interface Run {
  readonly id: string;
  readonly attempt: number;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  /** Milliseconds that the next start waits after the end of this one. */
  readonly backoff: number;
  readonly end?: RunEnd;
  /** Known from the status alone: the sandbox that it ran in is gone. */
  readonly past: boolean;
}

export interface RunEnd {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly exitCode: number;
  readonly signal?: number;
  readonly reason: string;
  readonly message?: string;
}

/** The name of the label that tells the next agent how long the start after this one has to wait. */
export const BACKOFF_LABEL = 'netloom.io/restart-backoff';

export function runOf(state: ContainerState, message?: string): Run {
  const { id, attempt, startedAt, labels } = state;
  const backoff = Number(labels[BACKOFF_LABEL] ?? 0);
  const run = { id, attempt, startedAt, backoff: Number.isFinite(backoff) ? backoff : 0, past: false };
  return state.phase === 'running' ? run : { ...run, end: endOf(state, message) };
}

function endOf(state: ContainerState, message: string | undefined): RunEnd {
  const { startedAt, endedAt = startedAt, signal, outOfMemory } = state;
  const exitCode = state.exitCode ?? (signal === undefined ? LOST : 128 + signal);
  return {
    at: endedAt,
    exitCode,
    reason: outOfMemory === true ? 'OOMKilled' : exitCode === 0 ? 'Completed' : 'Error',
    ...(signal === undefined ? {} : { signal }),
    ...(message === undefined || message === '' ? {} : { message }),
  };
}

/** A start that came to nothing, as a kubelet reports it. */
export function failedRun(
  { id, attempt, backoff }: Pick<Run, 'id' | 'attempt' | 'backoff'>,
  { reason, message }: { reason: string; message: string },
  at: number,
): Run {
  return { id, attempt, backoff, startedAt: 0, past: false, end: { at, exitCode: NOT_STARTED, reason, message } };
}

/** What ran when the host, or what runs its containers, went away: nobody knows how it ended. */
export const lostRun = (run: Run): Run => ({
  ...run,
  past: true,
  end: run.end ?? { at: run.startedAt, exitCode: LOST, reason: UNKNOWN, message: LOST_MESSAGE },
});

/** What the status of a pod remembers of a container that this host does not know. */
export function remembered(status: ContainerStatus | undefined): Run | undefined {
  const { state, lastState, restartCount = 0 } = status ?? {};
  const { running } = state ?? {};
  if (running !== undefined) {
    const id = idOf(status?.containerID);
    return lostRun({ id, attempt: restartCount, startedAt: Date.parse(running.startedAt), backoff: 0, past: true });
  }
  const ended = state?.terminated ?? lastState?.terminated;
  if (ended === undefined) return undefined;
  const at = Date.parse(ended.finishedAt ?? '') || 0;
  return {
    id: idOf(ended.containerID),
    attempt: restartCount,
    startedAt: Date.parse(ended.startedAt ?? '') || 0,
    backoff: 0,
    past: true,
    end: {
      at,
      exitCode: ended.exitCode,
      reason: ended.reason ?? 'Error',
      ...(ended.signal === undefined ? {} : { signal: ended.signal }),
      ...(ended.message === undefined ? {} : { message: ended.message }),
    },
  };
}

const SCHEME = 'netloom://';
export const containerIdOf = (run: Run): string | undefined => (run.id === '' ? undefined : `${SCHEME}${run.id}`);
const idOf = (containerId = ''): string =>
  containerId.startsWith(SCHEME) ? containerId.slice(SCHEME.length) : containerId;

/** Nobody knows when it ended either. */
export const UNKNOWN = 'ContainerStatusUnknown';
/** As after KILL: nothing better is known. */
const LOST = 137;
const NOT_STARTED = 128;
const LOST_MESSAGE = 'The container could not be located when the pod was terminated';
