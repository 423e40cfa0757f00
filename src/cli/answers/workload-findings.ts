import type { Pod } from '../../api/core/pod.ts';
import type { ApiObject } from '../../api/object.ts';
import { isActive } from '../../pods/pod-state.ts';
import { called, conditionsOf, type Finding, named, note, problem } from './finding.ts';
import { podServes } from './pod-findings.ts';

export interface WorkloadFacts {
  /** What keeps pods: a Deployment, a StatefulSet, and so on. */
  readonly object: ApiObject;
  /** How many pods there should be. */
  readonly wanted: number;
  /** Everything that is its own, or that of what it owns. */
  readonly pods: readonly Pod[];
  /** By UID of a pod that is not Ready, why; as far as somebody looked. */
  readonly reasons: ReadonlyMap<string, readonly Finding[]>;
  /** The newest Warning about it, or about what it owns that keeps pods. */
  readonly warning: string | undefined;
  readonly paused: boolean;
}

/** Whether as many pods are Ready as there should be. */
export const workloadServes = ({ wanted, pods }: Pick<WorkloadFacts, 'wanted' | 'pods'>): boolean =>
  pods.filter(isActive).filter(podServes).length >= wanted;

/** Why not all pods are there and Ready that there should be. */
export function workloadFindings(facts: WorkloadFacts): Finding[] {
  const { object, wanted, pods, paused } = facts;
  const about = named(object);
  const active = pods.filter(isActive);
  const ready = active.filter(podServes).length;
  const halted = paused ? [note(about, 'it is paused: changes of its template wait for kubectl rollout resume')] : [];
  if (ready >= wanted) return [...halted, ...trouble(object)];
  const because = [...missing(facts, active.length), ...notReady(active, facts)];
  const says = `${ready} of ${wanted} pods ${ready === 1 ? 'is' : 'are'} Ready`;
  return [problem(about, says, { because }), ...trouble(object), ...halted];
}

function missing({ object, wanted, warning }: WorkloadFacts, there: number): Finding[] {
  if (there >= wanted) return [];
  const about = named(object);
  const says = there === 0 ? 'there is none yet' : `there ${there === 1 ? 'is only one' : `are only ${there}`} yet`;
  return [problem(about, warning === undefined ? says : `${says}: ${warning}`)];
}

/** Pods that are held up by the same are told of once. */
function notReady(active: readonly Pod[], { reasons }: WorkloadFacts): Finding[] {
  /** What is said of it, without its name → the pods. */
  const alike = new Map<string, { pods: Pod[]; because: readonly Finding[] }>();
  for (const pod of active) {
    if (podServes(pod)) continue;
    const because = reasons.get(pod.metadata.uid) ?? [];
    const text = because.map(({ says }) => says).join('\n');
    const group = alike.get(text) ?? { pods: [], because };
    alike.set(text, group);
    group.pods.push(pod);
  }
  return [...alike.values()].flatMap(({ pods: [first, ...more], because }) => {
    if (first === undefined) return [];
    const about = named(first);
    const others = more.length === 0 ? 'is' : `and ${more.length === 1 ? 'another one' : `${more.length} others`} are`;
    return [problem(about, `${called(about)} ${others} not Ready`, { because })];
  });
}

/** What its controller has to complain about. */
const trouble = (object: ApiObject): Finding[] =>
  conditionsOf(object)
    .filter(
      ({ type, status, reason }) =>
        (type === 'ReplicaFailure' && status === 'True') ||
        (type === 'Progressing' && status === 'False' && reason !== 'DeploymentPaused'),
    )
    .map(({ message, reason }) => problem(named(object), message ?? reason ?? 'it does not get on'));
