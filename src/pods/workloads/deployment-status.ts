import type { Deployment } from '../../api/apps/workloads.ts';
import { conditionOf, saying, sayingAgain, type WorkloadCondition, without } from './conditions.ts';
import {
  allOf,
  availableIn,
  deadlineOf,
  isComplete,
  leeway,
  podsIn,
  progressOf,
  type Rollout,
  sizeOf,
  total,
  wantedOf,
} from './deployment.ts';

export type DeploymentStatus = Exclude<Deployment['status'], undefined>;

/** What the pass did that is worth a condition. */
export type Deed =
  | { readonly did: 'create'; readonly set: string }
  | { readonly did: 'find'; readonly set: string }
  | { readonly did: 'fail'; readonly message: string };

/** The numbers, and whether enough pods serve. */
export function counted(rollout: Rollout, now: number): DeploymentStatus {
  const { deployment, current } = rollout;
  const all = allOf(rollout);
  const available = total(all, availableIn);
  const isEnough = available >= wantedOf(deployment) - leeway(deployment).unavailable;
  const collisions = deployment.status?.collisionCount;
  return {
    observedGeneration: deployment.metadata.generation ?? 0,
    replicas: total(all, podsIn),
    updatedReplicas: current === undefined ? 0 : podsIn(current),
    readyReplicas: total(all, ({ status }) => status?.readyReplicas ?? 0),
    availableReplicas: available,
    unavailableReplicas: Math.max(0, total(all, sizeOf) - available),
    ...(collisions === undefined ? {} : { collisionCount: collisions }),
    conditions: saying(
      pausing(deployment, now),
      {
        type: 'Available',
        ...(isEnough
          ? { status: 'True', reason: 'MinimumReplicasAvailable', message: 'Deployment has minimum availability.' }
          : {
              status: 'False',
              reason: 'MinimumReplicasUnavailable',
              message: 'Deployment does not have minimum availability.',
            }),
      },
      now,
    ),
  };
}

/** So that nobody is blamed for lack of progress who was told to wait. */
function pausing({ spec, status }: Deployment, now: number): WorkloadCondition[] {
  const conditions = status?.conditions ?? [];
  const before = conditionOf(conditions, 'Progressing');
  if (spec.progressDeadlineSeconds === undefined || before?.reason === 'ProgressDeadlineExceeded') return conditions;
  const isPaused = spec.paused === true;
  const wasPaused = before?.reason === 'DeploymentPaused';
  if (isPaused === wasPaused) return conditions;
  const statement = isPaused
    ? { reason: 'DeploymentPaused', message: 'Deployment is paused' }
    : { reason: 'DeploymentResumed', message: 'Deployment is resumed' };
  return saying(conditions, { type: 'Progressing', status: 'Unknown', ...statement }, now);
}

/** How the replacement of pods gets on. */
export function withProgress(rollout: Rollout, status: DeploymentStatus, deed: Deed | undefined, now: number) {
  const progressing = withFailures(rollout, progress(rollout, noted(rollout, status, deed, now), now));
  return { ...status, conditions: progressing };
}

function noted({ deployment }: Rollout, status: DeploymentStatus, deed: Deed | undefined, now: number) {
  const conditions = status.conditions ?? [];
  if (deadlineOf(deployment) === undefined) return { ...status, conditions: without(conditions, 'Progressing') };
  const statement = deed === undefined ? undefined : statementOf(deed);
  return statement === undefined ? status : { ...status, conditions: saying(conditions, statement, now) };
}

function statementOf(deed: Deed) {
  const type = 'Progressing';
  switch (deed.did) {
    case 'create':
      return {
        ...{ type, status: 'True' as const, reason: 'NewReplicaSetCreated' },
        message: `Created new replica set "${deed.set}"`,
      };
    case 'find':
      return {
        ...{ type, status: 'True' as const, reason: 'FoundNewReplicaSet' },
        message: `Found new replica set "${deed.set}"`,
      };
    case 'fail':
      return { type, status: 'False' as const, reason: 'ReplicaSetCreateError', message: deed.message };
  }
}

function progress({ deployment, current }: Rollout, status: DeploymentStatus, now: number): WorkloadCondition[] {
  const conditions = status.conditions ?? [];
  const deadline = deadlineOf(deployment);
  const before = conditionOf(conditions, 'Progressing');
  const wasComplete = status.replicas === status.updatedReplicas && before?.reason === 'NewReplicaSetAvailable';
  if (deadline === undefined || wasComplete) return conditions;
  const what =
    current === undefined ? `Deployment "${deployment.metadata.name}"` : `ReplicaSet "${current.metadata.name}"`;
  const type = 'Progressing';
  if (isComplete(deployment, status)) {
    const message = `${what} has successfully progressed.`;
    return saying(conditions, { type, status: 'True', reason: 'NewReplicaSetAvailable', message }, now);
  }
  if (hasProgressed(deployment.status ?? {}, status)) {
    const message = `${what} is progressing.`;
    return sayingAgain(conditions, { type, status: 'True', reason: 'ReplicaSetUpdated', message }, now);
  }
  if (before !== undefined && isOverdue(before, deadline, now)) {
    const message = `${what} has timed out progressing.`;
    return saying(conditions, { type, status: 'False', reason: 'ProgressDeadlineExceeded', message }, now);
  }
  return conditions;
}

function hasProgressed(before: DeploymentStatus, now: DeploymentStatus): boolean {
  const of = (status: DeploymentStatus) => ({
    updated: status.updatedReplicas ?? 0,
    old: (status.replicas ?? 0) - (status.updatedReplicas ?? 0),
    ready: status.readyReplicas ?? 0,
    available: status.availableReplicas ?? 0,
  });
  const [then, next] = [of(before), of(now)];
  return (
    next.updated > then.updated || next.old < then.old || next.ready > then.ready || next.available > then.available
  );
}

function isOverdue({ reason, lastUpdateTime = '' }: WorkloadCondition, deadline: number, now: number): boolean {
  // What has come to its end once is not blamed for what happens to its pods later.
  if (reason === 'NewReplicaSetAvailable') return false;
  return reason === 'ProgressDeadlineExceeded' || Date.parse(lastUpdateTime) + deadline < now;
}

/** The ReplicaSet that cannot make its pods says why; the Deployment says it too. */
function withFailures(rollout: Rollout, conditions: WorkloadCondition[]): WorkloadCondition[] {
  const { current, old } = rollout;
  const failure = [current, ...old]
    .map((set) => conditionOf(set?.status?.conditions, 'ReplicaFailure'))
    .find((condition) => condition !== undefined);
  if (failure === undefined) return without(conditions, 'ReplicaFailure');
  const said = conditionOf(conditions, 'ReplicaFailure');
  if (said?.status === failure.status && said.reason === failure.reason && said.message === failure.message) {
    return conditions;
  }
  return [...without(conditions, 'ReplicaFailure'), { ...failure, lastUpdateTime: failure.lastTransitionTime }];
}

/** When lack of progress must be noticed, in milliseconds from now; undefined when nobody waits for progress. */
export function progressDue(deployment: Deployment, status: DeploymentStatus, now: number): number | undefined {
  const deadline = deadlineOf(deployment);
  const condition = conditionOf(status.conditions, 'Progressing');
  if (deadline === undefined || condition === undefined || deployment.spec.paused === true) return undefined;
  if (isComplete(deployment, status)) return undefined;
  if (['ProgressDeadlineExceeded', 'NewReplicaSetAvailable'].includes(condition.reason ?? '')) return undefined;
  // Times of conditions are whole seconds.
  return Math.max(1_000, Date.parse(condition.lastUpdateTime ?? '') + deadline - now + 1_000);
}

export const isNewToProgress = (deployment: Deployment): boolean =>
  deadlineOf(deployment) !== undefined && progressOf(deployment) === undefined;
