import { ControllerRevision, type PodTemplate, StatefulSet } from '../../api/apps/workloads.ts';
import { Node } from '../../api/core/node.ts';
import { Pod } from '../../api/core/pod.ts';
import { type Context, type Controller, controller } from '../../runtime/controller.ts';
import type { StatusOf } from '../../runtime/draft.ts';
import { done, failed, type Outcome, wait } from '../../runtime/outcome.ts';
import { timestamp } from '../../runtime/timestamp.ts';
import { readiness } from '../nodes/health.ts';
import { isTerminating } from '../pod-state.ts';
import { claim } from './claim.ts';
import {
  forgetRevisions,
  presentRevision,
  REVISION_HASH,
  RevisionCollision,
  revisionsOf,
  templateIn,
} from './controller-revisions.ts';
import { deletePods, makePod } from './pod-writes.ts';
import { podsByController } from './pods-of.ts';
import { bySelector, orphansOf, suitors } from './selecting.ts';
import { nextStep, ordinalOf, type Revisions, statusOf } from './stateful-set.ts';
import { Unheard } from './unheard.ts';

const setsBySelector = bySelector(StatefulSet);
const NEWS = 5_000;
/** How often a set looks again at a pod that does not end, in milliseconds. */
const STUCK = 30_000;

/** Keeps pods that have names for life, and makes and ends them in order. */
export const statefulSets = (): Controller => ({
  name: 'statefulset-controller',
  start(host) {
    const unheard = new Unheard(host.informers.of(Pod), host.system);
    return controller({
      name: 'statefulset-controller',
      for: StatefulSet,
      owns: [Pod, ControllerRevision],
      watches: [
        { kind: Pod, wakes: (pod, caches) => suitors(pod, StatefulSet, setsBySelector, caches) },
        { kind: Node, wakes: () => [] },
      ],
      parallel: 8,
      reconcile: (set, context) => reconcile(set, { ...context, unheard }),
    }).start(host);
  },
});

type Tools = Context & { readonly unheard: Unheard<Pod> };

async function reconcile(set: StatefulSet, tools: Tools): Promise<Outcome<StatusOf<StatefulSet>>> {
  const { client, system, unheard } = tools;
  const isBehind = await unheard.isBehind(set.metadata.uid, client);
  const pods = await ownPods(set, tools);
  const volumes = set.spec.volumeClaimTemplates ?? [];
  if (volumes.length > 0) return refuseVolumes(set, pods, tools);
  const known = revisionsOf(set, tools);
  let update: ControllerRevision;
  try {
    update = await presentRevision(set, known, tools);
  } catch (error) {
    if (!(error instanceof RevisionCollision)) throw error;
    const collisionCount = (set.status?.collisionCount ?? 0) + 1;
    return wait({ after: 0, status: { ...(set.status ?? { replicas: 0 }), collisionCount } });
  }
  const former = known.find(({ metadata }) => metadata.name === set.status?.currentRevision);
  const revisions = { current: (former ?? update).metadata.name, update: update.metadata.name };
  const isEnding = set.metadata.deletionTimestamp !== undefined;
  const failure = isEnding || isBehind ? undefined : await step(set, pods, revisions, [...known, update], tools);
  const { status, nextAvailable } = statusOf(set, pods, revisions, system.now());
  if (failure !== undefined) return failed(failure, { status });
  if (!isEnding && !isBehind) {
    const inUse = new Set([status.currentRevision ?? '', status.updateRevision ?? '', ...pods.map(revisionOf)]);
    await forgetRevisions(set, known, inUse, tools);
  }
  const stuck = tellOfStuck(set, pods, tools) ? STUCK : Number.POSITIVE_INFINITY;
  const after = Math.min(nextAvailable ?? Number.POSITIVE_INFINITY, isBehind ? NEWS : Number.POSITIVE_INFINITY, stuck);
  return Number.isFinite(after) ? wait({ status, after }) : done({ status });
}

const revisionOf = ({ metadata }: Pod): string => metadata.labels?.[REVISION_HASH] ?? '';

async function ownPods(set: StatefulSet, { caches, client }: Tools): Promise<Pod[]> {
  const { uid, namespace } = set.metadata;
  const pods = caches.of(Pod);
  // Orphans are taken over only if their name is one that the set gives.
  const orphans = pods.by(podsByController, orphansOf(namespace)).filter((pod) => ordinalOf(pod, set) !== undefined);
  const candidates = [...pods.by(podsByController, uid), ...orphans];
  return claim(set, { ownerKind: StatefulSet, kind: Pod, candidates, client });
}

async function step(
  set: StatefulSet,
  pods: readonly Pod[],
  revisions: Revisions,
  known: readonly ControllerRevision[],
  tools: Tools,
): Promise<Error | undefined> {
  const { create, remove } = nextStep(set, pods, revisions, tools.system.now());
  for (const { ordinal, revision } of create) {
    const found = known.find(({ metadata }) => metadata.name === revision);
    const template = found === undefined ? set.spec.template : templateIn(found);
    const name = `${set.metadata.name}-${ordinal}`;
    const error = await makePod(set, templateFor(set, template, { name, ordinal, revision }), name, tools);
    if (error !== undefined) return error;
  }
  return deletePods(set, remove, tools);
}

function templateFor(
  set: StatefulSet,
  { metadata, spec }: PodTemplate,
  { name, ordinal, revision }: { name: string; ordinal: number; revision: string },
): PodTemplate {
  const { serviceName = '' } = set.spec;
  const labels = {
    ...metadata?.labels,
    [REVISION_HASH]: revision,
    'statefulset.kubernetes.io/pod-name': name,
    'apps.kubernetes.io/pod-index': String(ordinal),
  };
  const subdomain = serviceName === '' ? {} : { subdomain: serviceName };
  return { metadata: { ...metadata, labels }, spec: { ...spec, hostname: name, ...subdomain } };
}

/** Nobody here gives volumes that outlive pods; pods without theirs would lose what they are there to keep. */
function refuseVolumes(
  set: StatefulSet,
  pods: readonly Pod[],
  { events, system }: Tools,
): Outcome<StatusOf<StatefulSet>> {
  const message =
    'spec.volumeClaimTemplates asks for volumes that outlive pods, which Netloom does not have: use emptyDir or hostPath in spec.template instead';
  const type = 'VolumesSupported';
  const before = set.status?.conditions?.find((condition) => condition.type === type);
  if (before === undefined) events.warning(set, 'FailedCreate', message);
  const revision = set.status?.updateRevision ?? '';
  const { status } = statusOf(set, pods, { current: revision, update: revision }, system.now());
  const lastTransitionTime = before?.lastTransitionTime ?? timestamp(system.now());
  const condition = { type, status: 'False' as const, reason: 'VolumesNotSupported', message, lastTransitionTime };
  return done({ status: { ...status, conditions: [condition] } });
}

/** A pod that had to end by now, on a node that nobody hears of, may still run: its successor waits, and people are told. */
function tellOfStuck(set: StatefulSet, pods: readonly Pod[], { caches, events, system }: Tools): boolean {
  const ending = pods.filter(isTerminating);
  for (const { metadata, spec } of ending) {
    const node = caches.of(Node).get({ namespace: '', name: spec.nodeName ?? '' });
    const isLate = Date.parse(metadata.deletionTimestamp ?? '') < system.now();
    if (!isLate || node === undefined || readiness(node) === 'True') continue;
    events.warning(
      set,
      'PodMayStillRun',
      `Pod ${metadata.name} should have ended, but nothing is heard of its node ${spec.nodeName}. It is replaced when the node is back, is deleted, or has the taint node.kubernetes.io/out-of-service`,
    );
  }
  return ending.length > 0;
}
