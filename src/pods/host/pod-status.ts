import type { Condition } from '../../api/condition.ts';
import type { Container, ContainerStateReport, ContainerStatus, Pod, PodStatus } from '../../api/core/pod.ts';
import { timestamp } from '../../runtime/timestamp.ts';
import { isFinished, isTerminating, withCondition } from '../pod-state.ts';
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
import { backoffAfter, durationText } from './restart-backoff.ts';
import { containerIdOf, type Run, UNKNOWN } from './runs.ts';

/** The pod is not to run any more. Without a phase: how its containers ended says which. */
export interface Verdict {
  readonly phase: 'Succeeded' | 'Failed' | undefined;
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
}

/** What is true of the pod, in the words of a kubelet. What others have said in the status stays. */
export function podStatus(facts: PodFacts, verdict: Verdict | undefined, backingOff: ReadonlySet<string>): PodStatus {
  const { pod, sandbox, hostIPs, seenAt } = facts;
  const { reason: _, message: __, initContainerStatuses: ___, containerStatuses: ____, ...before } = pod.status ?? {};
  const leaving = facts.gone || isTerminating(pod) || verdict !== undefined;
  const describe = (container: Container) => containerStatus(facts, container, { leaving, backingOff });
  const initContainerStatuses = initContainersOf(pod).map(describe);
  const containerStatuses = pod.spec.containers.map(describe);
  // Others may take the place of a pod that has failed, so it has only when nothing of it runs any more.
  const isOver = isFinished(pod) || !anyIsAlive(facts);
  const { reason, message, phase: settled }: Partial<Verdict> = isOver ? (verdict ?? {}) : {};
  const phase = settled ?? phaseOf(facts, leaving);
  // Of containers that were never to begin nothing is said: people would be shown for what these wait, and not why the pod failed.
  const isRefused =
    reason !== undefined && allContainersOf(pod).every(({ name }) => factsOf(facts, name).runs.length === 0);
  const podIPs = podIPsOf(facts);
  const [hostIP] = hostIPs;
  const [podIP] = podIPs;
  const status: PodStatus = {
    ...before,
    phase,
    ...(reason === undefined ? {} : { reason }),
    ...(message === undefined ? {} : { message }),
    startTime: before.startTime ?? timestamp(seenAt),
    ...(hostIP === undefined ? {} : { hostIP, hostIPs: hostIPs.map((ip) => ({ ip })) }),
    ...(podIP === undefined ? {} : { podIP, podIPs: podIPs.map((ip) => ({ ip })) }),
    ...(isRefused ? {} : said(initContainerStatuses, containerStatuses)),
  };
  const statements = [
    statement('PodReadyToStartContainers', sandbox.state === 'ready'),
    initialized(facts, initContainerStatuses, phase),
    ...disruption(facts),
    ...readiness(pod, [...initContainerStatuses.filter((_, i) => isSidecarAt(pod, i)), ...containerStatuses], phase),
  ];
  const conditions = statements.reduce(
    (all: Condition[], each) => withCondition(all, each, facts.now),
    before.conditions ?? [],
  );
  return { ...status, conditions };
}

const said = (initContainerStatuses: ContainerStatus[], containerStatuses: ContainerStatus[]): Partial<PodStatus> => ({
  ...(initContainerStatuses.length === 0 ? {} : { initContainerStatuses }),
  containerStatuses,
});

const anyIsAlive = (facts: PodFacts): boolean =>
  allContainersOf(facts.pod).some(({ name }) => isAlive(factsOf(facts, name)));

const isSidecarAt = (pod: Pod, index: number): boolean => initContainersOf(pod)[index]?.restartPolicy === 'Always';

function podIPsOf({ pod, sandbox, hostIPs }: PodFacts): readonly string[] {
  if (sandbox.state === 'ready') return pod.spec.hostNetwork === true ? hostIPs : sandbox.podIPs;
  return (pod.status?.podIPs ?? []).map(({ ip }) => ip);
}

function phaseOf(facts: PodFacts, leaving: boolean): 'Pending' | 'Running' | 'Succeeded' | 'Failed' {
  const { pod } = facts;
  const all = pod.spec.containers.map(({ name }) => factsOf(facts, name));
  const ends = all.map((known) => latestRun(known)?.end);
  if (leaving && !anyIsAlive(facts)) {
    return ends.every((end) => end?.exitCode === 0) ? 'Succeeded' : 'Failed';
  }
  return all.every(({ runs }) => runs.length > 0) ? 'Running' : 'Pending';
}

interface Situation {
  readonly leaving: boolean;
  readonly backingOff: ReadonlySet<string>;
}

function containerStatus(facts: PodFacts, container: Container, situation: Situation): ContainerStatus {
  const known = factsOf(facts, container.name);
  const run = latestRun(known);
  const state = stateOf(facts, container, known, situation);
  const isWaiting = state.waiting !== undefined;
  const last = isWaiting ? run : known.runs.at(-2);
  const lastState = last?.end === undefined ? {} : { terminated: terminated(last) };
  const isInit = initContainersOf(facts.pod).includes(container) && !isSidecar(container);
  const started = !isInit && isRunning(known) && !known.starting && known.probed.started;
  const containerID = run === undefined ? undefined : containerIdOf(run);
  return {
    name: container.name,
    image: container.image ?? '',
    imageID: '',
    ...(containerID === undefined ? {} : { containerID }),
    ready: isInit
      ? state.terminated?.exitCode === 0
      : started && known.probed.ready && known.unfit === undefined && !known.ending,
    started,
    restartCount: run?.attempt ?? 0,
    state,
    lastState,
  };
}

function stateOf(
  facts: PodFacts,
  container: Container,
  known: ContainerFacts,
  { leaving, backingOff }: Situation,
): ContainerStateReport {
  const { pod } = facts;
  const run = latestRun(known);
  if (run !== undefined && run.end === undefined) return { running: { startedAt: timestamp(run.startedAt) } };
  if (leaving && run !== undefined) return { terminated: terminated(run) };
  if (known.obstacle !== undefined) return { waiting: { ...known.obstacle } };
  if (run !== undefined && backingOff.has(container.name)) {
    const { namespace = '', name, uid } = pod.metadata;
    const about = `container=${container.name} pod=${name}_${namespace}(${uid})`;
    const message = `back-off ${durationText(backoffAfter(run))} restarting failed ${about}`;
    return { waiting: { reason: 'CrashLoopBackOff', message } };
  }
  if (run !== undefined && !run.past) return { terminated: terminated(run) };
  return { waiting: waitingFor(facts, container) };
}

/** Before its first run in this sandbox. */
function waitingFor(facts: PodFacts, container: Container): Obstacle | { reason: string } {
  const { pod, obstacle } = facts;
  if (obstacle !== undefined) return { reason: 'ContainerCreating', message: obstacle.message };
  const first = initContainersOf(pod)[0];
  return { reason: first === undefined || first === container ? 'ContainerCreating' : 'PodInitializing' };
}

function terminated(run: Run): NonNullable<ContainerStateReport['terminated']> {
  const { at = run.startedAt, exitCode = 0, reason = '', signal, message } = run.end ?? {};
  const containerID = containerIdOf(run);
  return {
    exitCode,
    ...(signal === undefined ? {} : { signal }),
    reason,
    ...(message === undefined ? {} : { message }),
    startedAt: timestamp(run.startedAt),
    ...(reason === UNKNOWN ? {} : { finishedAt: timestamp(at) }),
    ...(containerID === undefined ? {} : { containerID }),
  };
}

type Statement = Omit<Condition, 'lastTransitionTime' | 'severity'>;

const statement = (type: string, holds: boolean, reason?: string, message?: string): Statement => ({
  type,
  status: holds ? 'True' : 'False',
  ...(reason === undefined ? {} : { reason }),
  ...(message === undefined ? {} : { message }),
});

/** For those who ask whether the pod is to blame. */
const disruption = ({ eviction }: PodFacts): Statement[] =>
  eviction?.isDisruption === true
    ? [statement('DisruptionTarget', true, 'TerminationByKubelet', eviction.message)]
    : [];

function initialized(facts: PodFacts, statuses: readonly ContainerStatus[], phase: string): Statement {
  const type = 'Initialized';
  if (phase === 'Succeeded') return statement(type, true, 'PodCompleted');
  const { pod } = facts;
  if (pod.spec.containers.some(({ name }) => factsOf(facts, name).runs.some(({ past }) => !past)))
    return statement(type, true);
  const incomplete = statuses.filter(({ ready, started }, i) => !(isSidecarAt(pod, i) ? started : ready));
  if (incomplete.length === 0) return statement(type, true);
  const message = `containers with incomplete status: [${incomplete.map(({ name }) => name).join(' ')}]`;
  return statement(type, false, 'ContainersNotInitialized', message);
}

function readiness(pod: Pod, statuses: readonly ContainerStatus[], phase: string): Statement[] {
  const [ready, containersReady] = ['Ready', 'ContainersReady'];
  const both = (reason: string, message?: string): Statement[] => [
    statement(ready, false, reason, message),
    statement(containersReady, false, reason, message),
  ];
  if (phase === 'Succeeded') return both('PodCompleted');
  if (phase === 'Failed') return both('PodFailed');
  const unready = statuses.filter((status) => !status.ready).map(({ name }) => name);
  if (unready.length > 0) return both('ContainersNotReady', `containers with unready status: [${unready.join(' ')}]`);
  const missing = (pod.spec.readinessGates ?? []).flatMap(({ conditionType }) => {
    const found = pod.status?.conditions?.find(({ type }) => type === conditionType);
    if (found?.status === 'True') return [];
    return found === undefined
      ? [`corresponding condition of pod readiness gate "${conditionType}" does not exist.`]
      : [`the status of pod readiness gate "${conditionType}" is not "True", but ${found.status}`];
  });
  return [
    missing.length === 0
      ? statement(ready, true)
      : statement(ready, false, 'ReadinessGatesNotReady', missing.join(', ')),
    statement(containersReady, true),
  ];
}
