import { Deployment, ReplicaSet } from '../../api/apps/workloads.ts';
import { Node } from '../../api/core/node.ts';
import { Pod } from '../../api/core/pod.ts';
import type { JsonObject } from '../../api/json.ts';
import { ApiError } from '../../api/status.ts';
import type { Caches } from '../../runtime/cache.ts';
import { type Context, type Controller, controller } from '../../runtime/controller.ts';
import type { StatusOf } from '../../runtime/draft.ts';
import { asError } from '../../runtime/log.ts';
import { mergePatch } from '../../runtime/merge-patch.ts';
import { done, failed, type Outcome, wait } from '../../runtime/outcome.ts';
import { controllerOf } from '../../runtime/owner.ts';
import { type Ref, refOf } from '../../runtime/ref.ts';
import { readiness } from '../nodes/health.ts';
import { isFinished } from '../pod-state.ts';
import { claim } from './claim.ts';
import { isComplete, isRolling, type Rollout, rolloutOf } from './deployment.ts';
import {
  counted,
  type Deed,
  type DeploymentStatus,
  isNewToProgress,
  progressDue,
  withProgress,
} from './deployment-status.ts';
import { podsByController, replicaSetsByController } from './pods-of.ts';
import { createSet, describeSet, NameTaken, nameOfNew, scaleSets, type Tools } from './replica-set-writes.ts';
import { annotationChanges, forgettable, REVISION, revisionOf } from './revisions.ts';
import { isResized, nextStep, remaining, resize } from './scaling.ts';
import { bySelector, orphansOf, suitors } from './selecting.ts';
import { Unheard } from './unheard.ts';

const deploymentsBySelector = bySelector(Deployment);

/** While news of own writes are missing, they are looked for every so many milliseconds. */
const NEWS = 5_000;
/** How often somebody looks whether the pods to be recreated are gone, or their nodes lost. */
const ENDS = 5_000;

/** Replaces pods step by step when what they should be changes, and remembers what they were. */
export const deployments = (): Controller => ({
  name: 'deployment-controller',
  start(host) {
    const unheard = new Unheard(host.informers.of(ReplicaSet), host.system);
    return controller({
      name: 'deployment-controller',
      for: Deployment,
      owns: [ReplicaSet],
      watches: [
        { kind: ReplicaSet, wakes: (set, caches) => suitors(set, Deployment, deploymentsBySelector, caches) },
        { kind: Pod, wakes: recreatorOf },
        { kind: Node, wakes: () => [] },
      ],
      parallel: 8,
      reconcile: (deployment, context) => reconcile(deployment, { ...context, unheard }),
    }).start(host);
  },
});

/** A Deployment that recreates waits for the last of its old pods; for all others ReplicaSets count them. */
function recreatorOf(pod: Pod, caches: Caches): Ref[] {
  const set = controllerOf(pod, ReplicaSet);
  const found = set === undefined ? undefined : caches.of(ReplicaSet).get(set);
  const above = found === undefined ? undefined : controllerOf(found, Deployment);
  const deployment = above === undefined ? undefined : caches.of(Deployment).get(above);
  return deployment === undefined || isRolling(deployment) ? [] : [refOf(deployment)];
}

async function reconcile(deployment: Deployment, tools: Tools): Promise<Outcome<StatusOf<Deployment>>> {
  const { client, system, unheard } = tools;
  const { metadata, spec } = deployment;
  if (await unheard.isBehind(metadata.uid, client)) return wait({ after: NEWS });
  let rollout = rolloutOf(deployment, await ownSets(deployment, tools));
  if (metadata.deletionTimestamp !== undefined) return done({ status: counted(rollout, system.now()) });
  if (rollout.current !== undefined) {
    const changes = annotationChanges(rollout, rollout.current);
    rollout = { ...rollout, current: await describeSet(deployment, rollout.current, changes, tools) };
  }
  if (spec.paused === true || isResized(rollout)) {
    const isScaled = await scaleSets(deployment, resize(rollout), tools);
    if (isScaled || spec.paused === true) {
      if (!isScaled) await forget(rollout, tools);
      return conclude(rollout, counted(rollout, system.now()), tools);
    }
  }
  return proceed(rollout, tools);
}

function ownSets(deployment: Deployment, { caches, client }: Tools): Promise<ReplicaSet[]> {
  const { uid, namespace } = deployment.metadata;
  const sets = caches.of(ReplicaSet);
  const candidates = [
    ...sets.by(replicaSetsByController, uid),
    ...sets.by(replicaSetsByController, orphansOf(namespace)),
  ];
  return claim(deployment, { ownerKind: Deployment, kind: ReplicaSet, candidates, client });
}

/** One step on, and what came of it. */
async function proceed(rollout: Rollout, tools: Tools): Promise<Outcome<StatusOf<Deployment>>> {
  const { deployment } = rollout;
  const now = tools.system.now();
  const known = rollout.current;
  const { reached, deed, error } = await ensureCurrent(rollout, tools);
  if (error !== undefined) {
    if (isForEndOfNamespace(error)) return done();
    if (error instanceof NameTaken) return countCollision(deployment, tools);
    return failed(error, { status: withProgress(reached, counted(reached, now), deed, now) });
  }
  const isWaiting = reached.current === undefined;
  const steps = isWaiting || known === undefined ? [] : nextStep(reached);
  const isScaled = await scaleSets(deployment, steps, tools);
  const status = withProgress(reached, counted(reached, now), deed, now);
  if (!isScaled && isComplete(deployment, status)) await forget(reached, tools);
  return conclude(reached, status, tools, isWaiting ? ENDS : undefined);
}

interface Reached {
  readonly reached: Rollout;
  readonly deed?: Deed;
  readonly error?: Error;
}

/** Sees to it that there is a ReplicaSet for the template, unless old pods have to go first. */
async function ensureCurrent(rollout: Rollout, tools: Tools): Promise<Reached> {
  const { deployment, current } = rollout;
  if (current !== undefined) {
    const deed: Deed = { did: 'find', set: current.metadata.name };
    return isNewToProgress(deployment) ? { reached: rollout, deed } : { reached: rollout };
  }
  if (!isRolling(deployment)) {
    const isScaled = await scaleSets(deployment, nextStep(rollout), tools);
    if (isScaled || stillRunning(rollout, tools)) return { reached: rollout };
  }
  try {
    const created = await createSet(rollout, tools);
    return { reached: { ...rollout, current: created }, deed: { did: 'create', set: created.metadata.name } };
  } catch (error) {
    if (!(error instanceof ApiError) || isForEndOfNamespace(error)) return { reached: rollout, error: asError(error) };
    const message = `Failed to create new replica set "${nameOfNew(deployment)}": ${error.message}`;
    tools.events.warning(deployment, 'ReplicaSetCreateError', message);
    return { reached: rollout, error, deed: { did: 'fail', message } };
  }
}

/**
 * Whether pods of old ReplicaSets may still be at work. One that had to end by now on a node that nobody hears of is not
 * waited for: who needs to be sure that it has ended uses a StatefulSet.
 */
function stillRunning(rollout: Rollout, { caches, system }: Tools): boolean {
  if (remaining(rollout) > 0) return true;
  const pods = rollout.old.flatMap(({ metadata }) => caches.of(Pod).by(podsByController, metadata.uid));
  return pods.some((pod) => !isFinished(pod) && !isLost(pod, caches, system.now()));
}

function isLost({ metadata, spec }: Pod, caches: Caches, now: number): boolean {
  if (metadata.deletionTimestamp === undefined || Date.parse(metadata.deletionTimestamp) > now) return false;
  const node = caches.of(Node).get({ namespace: '', name: spec.nodeName ?? '' });
  return node === undefined || readiness(node) !== 'True';
}

async function forget(rollout: Rollout, { client }: Context): Promise<void> {
  for (const { metadata } of forgettable(rollout)) {
    const { uid, resourceVersion } = metadata;
    await client.delete(ReplicaSet, refOf({ metadata }), { uid, resourceVersion, propagation: 'Background' });
  }
}

async function countCollision(deployment: Deployment, { client }: Context) {
  const { resourceVersion } = deployment.metadata;
  const collisionCount = (deployment.status?.collisionCount ?? 0) + 1;
  const merge = { metadata: { resourceVersion }, status: { collisionCount } };
  await client.patch(Deployment, refOf(deployment), { merge }, 'status');
  return wait<StatusOf<Deployment>>({ after: 0 });
}

/** Writes down how things are. The revision is an annotation, and goes with the status: it is no change of what is wanted. */
async function conclude(
  { deployment, current }: Rollout,
  status: DeploymentStatus,
  { client, system }: Context,
  lookAgain?: number,
): Promise<Outcome<StatusOf<Deployment>>> {
  const { metadata } = deployment;
  const due = progressDue(deployment, status, system.now());
  const after = Math.min(lookAgain ?? Number.POSITIVE_INFINITY, due ?? Number.POSITIVE_INFINITY);
  const end = Number.isFinite(after) ? { after } : {};
  const revision = current === undefined ? undefined : String(revisionOf(current));
  if (revision === undefined || metadata.annotations?.[REVISION] === revision) return wait({ status, ...end });
  const changes = mergePatch(asJson(deployment.status ?? {}), asJson(status));
  const merge: JsonObject = {
    metadata: { resourceVersion: metadata.resourceVersion, annotations: { [REVISION]: revision } },
    ...(changes === undefined ? {} : { status: changes }),
  };
  await client.patch(Deployment, refOf(deployment), { merge }, 'status');
  return wait(end);
}

const isForEndOfNamespace = (error: Error): boolean =>
  error instanceof ApiError &&
  error.status.details?.causes?.some(({ reason }) => reason === 'NamespaceTerminating') === true;

const asJson = (value: object): JsonObject => JSON.parse(JSON.stringify(value));
