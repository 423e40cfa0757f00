import { ControllerRevision, type PodTemplate, type StatefulSet } from '../../api/apps/workloads.ts';
import type { JsonObject } from '../../api/json.ts';
import { ApiError } from '../../api/status.ts';
import { index } from '../../runtime/cache.ts';
import type { Context } from '../../runtime/controller.ts';
import { ownedBy } from '../../runtime/owner.ts';
import { refOf } from '../../runtime/ref.ts';
import { isSameTemplate, templateHash } from './template.ts';

/** On pods and revisions: the name of the revision. */
export const REVISION_HASH = 'controller-revision-hash';
const HASH = 'controller.kubernetes.io/hash';

const byController = index(ControllerRevision, ({ metadata }) =>
  (metadata.ownerReferences ?? []).filter(({ controller }) => controller === true).map(({ uid }) => uid),
);

/** The templates that a StatefulSet has had, the oldest first. */
export const revisionsOf = ({ metadata }: StatefulSet, { caches }: Context): ControllerRevision[] =>
  caches
    .of(ControllerRevision)
    .by(byController, metadata.uid)
    .sort((a, b) => a.revision - b.revision);

/** The template that a revision brings back. */
export function templateIn({ data }: ControllerRevision): PodTemplate {
  const { spec } = data as { spec?: { template?: JsonObject } };
  const { $patch: _, ...template } = spec?.template ?? {};
  return template as unknown as PodTemplate;
}

/** Two different templates have come to one name. */
export class RevisionCollision extends Error {}

/** The revision of the template as it is now: found, or brought back to the front, or made. */
export async function presentRevision(
  set: StatefulSet,
  revisions: readonly ControllerRevision[],
  { client }: Context,
): Promise<ControllerRevision> {
  const same = revisions.findLast((revision) => isSameTemplate(templateIn(revision), set.spec.template));
  const newest = revisions.at(-1);
  if (same !== undefined && same === newest) return same;
  const number = (newest?.revision ?? 0) + 1;
  if (same === undefined) return make(set, number, client);
  const merge = { metadata: { resourceVersion: same.metadata.resourceVersion }, revision: number };
  return client.patch(ControllerRevision, refOf(same), { merge });
}

async function make(set: StatefulSet, number: number, client: Context['client']): Promise<ControllerRevision> {
  const { metadata, spec, status } = set;
  const hash = templateHash(spec.template, status?.collisionCount);
  const name = `${metadata.name}-${hash}`;
  const namespace = metadata.namespace ?? '';
  const { 'kubectl.kubernetes.io/last-applied-configuration': _, ...annotations } = metadata.annotations ?? {};
  const template = { ...spec.template, $patch: 'replace' } as unknown as JsonObject;
  const revision = {
    metadata: {
      name,
      namespace,
      labels: { ...spec.template.metadata?.labels, [HASH]: hash },
      annotations,
      ownerReferences: [ownedBy(set)],
    },
    data: { spec: { template } },
    revision: number,
  };
  try {
    return await client.create(ControllerRevision, revision);
  } catch (error) {
    if (!(error instanceof ApiError) || error.reason !== 'AlreadyExists') throw error;
    const found = await client.get(ControllerRevision, name, namespace);
    if (found === undefined) throw error;
    const isOurs = found.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid) === true;
    if (isOurs && isSameTemplate(templateIn(found), spec.template)) return found;
    throw new RevisionCollision(name);
  }
}

/** Forgets the oldest of those that neither the set nor any pod is of, beyond as many as shall be remembered. */
export async function forgetRevisions(
  set: StatefulSet,
  revisions: readonly ControllerRevision[],
  inUse: ReadonlySet<string>,
  { client }: Context,
): Promise<void> {
  const unused = revisions.filter(({ metadata }) => !inUse.has(metadata.name));
  const surplus = Math.max(0, unused.length - (set.spec.revisionHistoryLimit ?? 10));
  for (const { metadata } of unused.slice(0, surplus)) {
    const { uid, resourceVersion } = metadata;
    await client.delete(ControllerRevision, refOf({ metadata }), { uid, resourceVersion });
  }
}
