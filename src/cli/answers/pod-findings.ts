import { type Node, Node as NodeKind } from '../../api/core/node.ts';
import type { Container, ContainerStateReport, ContainerStatus, Pod } from '../../api/core/pod.ts';
import { conditionOf, isReady } from '../../pods/pod-state.ts';
import { ago } from './ago.ts';
import { called, type Finding, named, note, problem } from './finding.ts';
import { nodeProblems } from './node-findings.ts';

export interface PodFacts {
  readonly pod: Pod;
  /** The one it was given to; undefined when there is none of that name. */
  readonly node: Node | undefined;
  /** The newest Warning about the pod. */
  readonly warning: string | undefined;
  readonly now: number;
}

/** Whether a pod does what it is there for. */
export const podServes = (pod: Pod): boolean => pod.status?.phase === 'Succeeded' || isReady(pod);

/** What keeps a pod from being Ready. */
export function podFindings(facts: PodFacts): Finding[] {
  const { pod, node, warning, now } = facts;
  const about = named(pod);
  if (pod.metadata.deletionTimestamp !== undefined) return [];
  if (pod.status?.phase === 'Succeeded') return [note(about, 'its containers have done their work and ended')];
  if (isReady(pod)) return [];
  const { nodeName } = pod.spec;
  if (nodeName === undefined) return [unscheduled(facts)];
  if (node === undefined) {
    const says = `its node ${nodeName} does not exist any more`;
    return [problem(about, says, { remedies: [`delete ${called(about)}, so that another one takes its place`] })];
  }
  const lost = nodeProblems(node, now);
  if (lost.length > 0) return [problem(named(node), `its node ${nodeName} is not Ready`, { because: lost })];
  const { phase, reason, message } = pod.status ?? {};
  const failed =
    phase === 'Failed' && (reason ?? message) !== undefined
      ? [problem(about, ['it has failed', reason, message].filter((text) => text !== undefined).join(': '))]
      : [];
  const found = [...failed, ...containerFindings(facts), ...gateFindings(pod)];
  if (found.length > 0) return found;
  if (warning !== undefined) return [problem(about, warning)];
  const says = `node ${nodeName} has not started it yet`;
  return [problem(about, says, { remedies: [`see whether the node is well: netloom explain node/${nodeName}`] })];
}

function unscheduled({ pod, warning }: PodFacts): Finding {
  const about = named(pod);
  const scheduled = conditionOf(pod, 'PodScheduled');
  const message = scheduled?.message ?? warning;
  if (scheduled?.reason === 'SchedulingGated') {
    const gates = (pod.spec.schedulingGates ?? []).map(({ name }) => name).join(', ');
    return problem(about, `it is held back by its scheduling gates: ${gates}`, {
      remedies: ['let whoever set the gates take them away'],
    });
  }
  if (message === undefined) {
    return problem(about, 'it has not been given to a node yet', {
      remedies: ['see whether a scheduler runs: "netloom up" has one, "netloom controllers" has with --pods on'],
    });
  }
  const none = /no nodes available/.test(message);
  return problem(about, `no node takes it: ${message}`, {
    remedies: none
      ? ['make this machine a node, as root: netloom agent (or netloom up, which brings its own)']
      : ['see what each node has left, and its taints: netloom describe nodes'],
  });
}

function containerFindings({ pod, warning, now }: PodFacts): Finding[] {
  const { initContainerStatuses = [], containerStatuses = [] } = pod.status ?? {};
  const first = initContainerStatuses.filter((status) => !isDone(status, pod.spec.initContainers ?? []));
  // As long as one of those that come first has not ended, the others wait for nothing else.
  const open = first.length > 0 ? first.slice(0, 1) : containerStatuses.filter(({ ready }) => !ready);
  return open.flatMap((status) => containerFinding(status, { pod, warning, now }));
}

function isDone({ name, state, started }: ContainerStatus, containers: readonly Container[]): boolean {
  const isSidecar = containers.find((each) => each.name === name)?.restartPolicy === 'Always';
  return isSidecar ? started === true : state?.terminated?.exitCode === 0;
}

function containerFinding(status: ContainerStatus, { pod, warning, now }: Omit<PodFacts, 'node'>): Finding[] {
  const about = named(pod);
  const { name, state = {}, lastState, restartCount } = status;
  const read = (previous: boolean): string =>
    `read what it wrote: netloom logs ${about.name} -c ${name}${previous ? ' --previous' : ''} -n ${about.namespace}`;
  const { waiting, terminated, running } = state;
  const ended = terminated ?? lastState?.terminated;
  const because = ended === undefined ? [] : [note(about, endedText(ended, restartCount, now))];
  if (terminated !== undefined && terminated.exitCode === 0) return [];
  if (terminated !== undefined) {
    return [problem(about, `container ${name} has ended`, { because, remedies: [read(false)] })];
  }
  if (running !== undefined) {
    const probe = warning !== undefined && /probe/i.test(warning) ? [note(about, warning)] : [];
    const says = `container ${name} runs, but is not ready`;
    return [problem(about, says, { because: [...probe, ...because], remedies: [read(false)] })];
  }
  const reason = waiting?.reason ?? 'nobody has said for what';
  const message = waiting?.message ?? (STARTING.has(reason) ? warning : undefined);
  return [
    problem(about, `container ${name} waits: ${reason}${message === undefined ? '' : `: ${message}`}`, {
      because,
      remedies: ended === undefined ? [] : [read(true)],
    }),
  ];
}

/** What is said of every container at first, whatever holds it up. */
const STARTING: ReadonlySet<string> = new Set(['ContainerCreating', 'PodInitializing']);

type Ended = NonNullable<ContainerStateReport['terminated']>;

function endedText({ exitCode, reason, message, finishedAt }: Ended, restarts: number, now: number): string {
  const when = finishedAt === undefined ? '' : ` ${ago(finishedAt, now)}`;
  const why = [reason, message?.trim()].filter((text) => text !== undefined && text !== '').join(': ');
  const often = restarts === 0 ? '' : `, and was started anew ${restarts === 1 ? 'once' : `${restarts} times`}`;
  return `it ended${when} with exit code ${exitCode}${why === '' ? '' : ` (${why})`}${often}`;
}

/** Others have a say in whether a pod is ready. */
function gateFindings(pod: Pod): Finding[] {
  const gates = pod.spec.readinessGates ?? [];
  return gates.flatMap(({ conditionType }) => {
    const condition = conditionOf(pod, conditionType);
    if (condition?.status === 'True') return [];
    const why = condition?.message ?? 'nobody has set it';
    return [problem(named(pod), `its readiness gate ${conditionType} does not hold: ${why}`)];
  });
}

/** Pods are listed with the nodes they are on. */
export const nodeOf = (pod: Pod, nodes: readonly Node[]): Node | undefined =>
  nodes.find(({ kind, metadata }) => kind === NodeKind.kind && metadata.name === pod.spec.nodeName);
