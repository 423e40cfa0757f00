import type { Container, Pod } from '../../api/core/pod.ts';
import type { Run } from './runs.ts';

/** All that is known of a pod on this host at one moment: what `planPod` decides from. */
export interface PodFacts {
  readonly pod: Pod;
  /** The API has no such pod any more. */
  readonly gone: boolean;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** When this host first saw the pod. */
  readonly seenAt: number;
  /** Since when it is to end, whatever the reason. */
  readonly leavingSince: number | undefined;
  readonly admission: Admission;
  /** This host wants to be rid of it, and why. */
  readonly eviction: Eviction | undefined;
  readonly sandbox: SandboxFacts;
  readonly hostIPs: readonly string[];
  /** Why the sandbox or the volumes are not ready, in words for people. */
  readonly obstacle: Obstacle | undefined;
  /** By name; what is left out was never started and nothing is known of it. */
  readonly containers: ReadonlyMap<string, ContainerFacts>;
}

/** Whether the pod may begin here; or why not. */
export type Admission = 'awaited' | 'granted' | Obstacle;

export interface SandboxFacts {
  /** `released`: what it held of the host was given back after the pod had finished. */
  readonly state: 'absent' | 'ready' | 'released';
  readonly podIPs: readonly string[];
  /** Whether all volumes have been filled. */
  readonly volumes: boolean;
}

export interface Obstacle {
  readonly reason: string;
  readonly message: string;
}

export interface Eviction extends Obstacle {
  /** The pod has done nothing that it may not: a Job, say, does not count that as a failure of its own. */
  readonly isDisruption: boolean;
}

export interface ContainerFacts {
  /** Oldest first. */
  readonly runs: readonly Run[];
  /** A start is under way; up to the end of its postStart hook. */
  readonly starting: boolean;
  readonly ending: boolean;
  /** Why the last attempt to start it did not get as far as a run. */
  readonly obstacle: Obstacle | undefined;
  /** Of the latest run. */
  readonly probed: Probed;
  /** What the latest run is to be ended for, though the pod goes on. */
  readonly unfit: Unfit | undefined;
}

export interface Probed {
  /** The startup probe has succeeded, or there is none. */
  readonly started: boolean;
  /** The readiness probe says so, or there is none. */
  readonly ready: boolean;
}

export interface Unfit {
  /** `Container main failed liveness probe, will be restarted`. */
  readonly message: string;
  readonly graceSeconds?: number;
}

export const NOTHING_KNOWN: ContainerFacts = {
  runs: [],
  starting: false,
  ending: false,
  obstacle: undefined,
  probed: { started: false, ready: false },
  unfit: undefined,
};

export const factsOf = ({ containers }: Pick<PodFacts, 'containers'>, name: string): ContainerFacts =>
  containers.get(name) ?? NOTHING_KNOWN;

export const latestRun = ({ runs }: ContainerFacts): Run | undefined => runs.at(-1);

export const isRunning = (facts: ContainerFacts): boolean => {
  const run = latestRun(facts);
  return run !== undefined && run.end === undefined;
};

/** Its process may be there at this moment, or come any moment. */
export const isAlive = (facts: ContainerFacts): boolean => facts.starting || isRunning(facts);

export const isSidecar = (container: Container): boolean => container.restartPolicy === 'Always';

export const initContainersOf = ({ spec }: Pod): readonly Container[] => spec.initContainers ?? [];

export const allContainersOf = (pod: Pod): readonly Container[] => [...initContainersOf(pod), ...pod.spec.containers];
