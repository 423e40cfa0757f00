import { type Deployment, ReplicaSet } from '../../api/apps/workloads.ts';
import { ApiError } from '../../api/status.ts';
import type { Context } from '../../runtime/controller.ts';
import { ownedBy } from '../../runtime/owner.ts';
import { refOf } from '../../runtime/ref.ts';
import { type Rollout, sizeOf } from './deployment.ts';
import { annotationsOfNew, sizeAnnotations } from './revisions.ts';
import { roomFor, type Scaling } from './scaling.ts';
import { isSameTemplate, TEMPLATE_HASH, templateHash } from './template.ts';
import type { Unheard } from './unheard.ts';

export type Tools = Context & { readonly unheard: Unheard<ReplicaSet> };

/** Another template has the name: the count of such collisions must go up, and leads to another name. */
export class NameTaken extends Error {}

/** Makes the ReplicaSet for the template as it is now. Its name follows from the template, so it is not made twice. */
export async function createSet(rollout: Rollout, { client, events, unheard }: Tools): Promise<ReplicaSet> {
  const { deployment } = rollout;
  const { uid, namespace = '' } = deployment.metadata;
  const set = newSet(rollout);
  const { name } = set.metadata;
  unheard.expectNew(uid, { namespace, name });
  try {
    const created = await client.create(ReplicaSet, set);
    if (sizeOf(created) > 0) scaled(events, deployment, created, 0, sizeOf(created));
    return created;
  } catch (error) {
    unheard.failed(uid, { namespace, name }, error);
    if (!(error instanceof ApiError) || error.reason !== 'AlreadyExists') throw error;
    const found = await client.get(ReplicaSet, name, namespace);
    if (found === undefined) throw error;
    const isOurs = found.metadata.ownerReferences?.some((reference) => reference.controller && reference.uid === uid);
    const { template } = found.spec;
    if (isOurs !== true || !template || !isSameTemplate(template, deployment.spec.template)) throw new NameTaken(name);
    unheard.expectVersion(uid, found);
    return found;
  }
}

export const nameOfNew = ({ metadata, spec, status }: Deployment): string =>
  `${metadata.name}-${templateHash(spec.template, status?.collisionCount)}`;

function newSet(rollout: Rollout) {
  const { metadata, spec, status } = rollout.deployment;
  const hash = templateHash(spec.template, status?.collisionCount);
  const label = { [TEMPLATE_HASH]: hash };
  const { template, selector, minReadySeconds } = spec;
  return {
    metadata: {
      name: nameOfNew(rollout.deployment),
      namespace: metadata.namespace ?? '',
      labels: { ...template.metadata?.labels, ...label },
      annotations: annotationsOfNew(rollout),
      ownerReferences: [ownedBy(rollout.deployment)],
    },
    spec: {
      replicas: roomFor(rollout),
      ...(minReadySeconds === undefined ? {} : { minReadySeconds }),
      selector: { ...selector, matchLabels: { ...selector.matchLabels, ...label } },
      template: {
        ...template,
        metadata: { ...template.metadata, labels: { ...template.metadata?.labels, ...label } },
      },
    },
  };
}

/** Whether any of the sets was not of its size. */
export async function scaleSets(
  deployment: Deployment,
  scalings: readonly Scaling[],
  { client, events, unheard }: Tools,
): Promise<boolean> {
  let isScaled = false;
  for (const { set, to } of scalings) {
    const annotations = differing(sizeAnnotations(deployment), set.metadata.annotations);
    if (sizeOf(set) === to && Object.keys(annotations).length === 0) continue;
    const { resourceVersion } = set.metadata;
    const merge = { metadata: { resourceVersion, annotations }, spec: { replicas: to } };
    unheard.expectVersion(deployment.metadata.uid, await client.patch(ReplicaSet, refOf(set), { merge }));
    if (sizeOf(set) === to) continue;
    scaled(events, deployment, set, sizeOf(set), to);
    isScaled = true;
  }
  return isScaled;
}

export async function describeSet(
  deployment: Deployment,
  set: ReplicaSet,
  annotations: Record<string, string>,
  { client, unheard }: Tools,
): Promise<ReplicaSet> {
  const wanted = deployment.spec.minReadySeconds ?? 0;
  const isPatient = (set.spec.minReadySeconds ?? 0) === wanted;
  if (Object.keys(annotations).length === 0 && isPatient) return set;
  const { resourceVersion } = set.metadata;
  const merge = {
    metadata: { resourceVersion, annotations },
    ...(isPatient ? {} : { spec: { minReadySeconds: wanted } }),
  };
  const written = await client.patch(ReplicaSet, refOf(set), { merge });
  unheard.expectVersion(deployment.metadata.uid, written);
  return written;
}

function scaled(events: Context['events'], deployment: Deployment, { metadata }: ReplicaSet, from: number, to: number) {
  const way = to > from ? 'up' : 'down';
  events.normal(deployment, 'ScalingReplicaSet', `Scaled ${way} replica set ${metadata.name} from ${from} to ${to}`);
}

const differing = (wanted: Record<string, string>, found: Readonly<Record<string, string>> = {}) =>
  Object.fromEntries(Object.entries(wanted).filter(([key, value]) => found[key] !== value));
