import { Deployment, ReplicaSet } from '../../api/apps/workloads.ts';
import { Pod } from '../../api/core/pod.ts';
import type { Context, Controller } from '../../runtime/controller.ts';
import { controller } from '../../runtime/controller.ts';
import type { StatusOf } from '../../runtime/draft.ts';
import { done, failed, type Outcome, wait } from '../../runtime/outcome.ts';
import { isActive } from '../pod-state.ts';
import { claim } from './claim.ts';
import type { Company } from './pod-order.ts';
import { createPods, deletePods, SpareNames } from './pod-writes.ts';
import { podsByController, replicaSetsByController } from './pods-of.ts';
import { correctionOf, statusOf } from './replica-set.ts';
import { bySelector, orphansOf, suitors } from './selecting.ts';
import { Unheard } from './unheard.ts';

const setsBySelector = bySelector(ReplicaSet);

/** While news of own writes are missing, they are looked for every so many milliseconds. */
const NEWS = 5_000;

/** Keeps as many pods of one kind as somebody wants. */
export const replicaSets = (): Controller => ({
  name: 'replicaset-controller',
  start(host) {
    const unheard = new Unheard(host.informers.of(Pod), host.system);
    const spare = new SpareNames();
    return controller({
      name: 'replicaset-controller',
      for: ReplicaSet,
      owns: [Pod],
      watches: [{ kind: Pod, wakes: (pod, caches) => suitors(pod, ReplicaSet, setsBySelector, caches) }],
      parallel: 8,
      reconcile: (set, context) => reconcile(set, { ...context, unheard, spare }),
    }).start(host);
  },
});

type Tools = Context & { readonly unheard: Unheard<Pod>; readonly spare: SpareNames };

async function reconcile(set: ReplicaSet, tools: Tools): Promise<Outcome<StatusOf<ReplicaSet>>> {
  const { client, system, unheard, spare } = tools;
  const { uid, deletionTimestamp } = set.metadata;
  // Asked before the cache is read: what was heard in between is in there.
  const isBehind = await unheard.isBehind(uid, client);
  const pods = await ownPods(set, tools);
  const isEnding = deletionTimestamp !== undefined;
  if (isEnding) spare.forget(uid);
  const failure = isEnding || isBehind ? undefined : await correct(set, pods, tools);
  // Who counts on pods that are about to end would end others too early.
  const staying = pods.filter((pod) => !unheard.isEnding(uid, pod));
  const { status, nextAvailable } = statusOf(
    set,
    { pods: staying, others: pods.length - staying.length + unheard.coming(uid) },
    failure,
    system.now(),
  );
  if (failure !== undefined) return failed(failure, { status });
  const after = Math.min(nextAvailable ?? Number.POSITIVE_INFINITY, isBehind ? NEWS : Number.POSITIVE_INFINITY);
  return Number.isFinite(after) ? wait({ status, after }) : done({ status });
}

function ownPods(set: ReplicaSet, { caches, client }: Tools): Promise<Pod[]> {
  const pods = caches.of(Pod);
  const { uid, namespace } = set.metadata;
  const candidates = [...pods.by(podsByController, uid), ...pods.by(podsByController, orphansOf(namespace))];
  return claim(set, { ownerKind: ReplicaSet, kind: Pod, candidates: candidates.filter(isActive), client });
}

async function correct(set: ReplicaSet, pods: readonly Pod[], tools: Tools): Promise<Error | undefined> {
  const correction = correctionOf(set, pods, {
    now: tools.system.now(),
    company: () => companyOf(set, pods, tools),
  });
  if ('remove' in correction) return deletePods(set, correction.remove, tools);
  if (set.spec.template === undefined) return undefined;
  return createPods(set, set.spec.template, correction.create, tools);
}

/** Pods of the other ReplicaSets of the same Deployment count as company too. */
function companyOf(set: ReplicaSet, pods: readonly Pod[], { caches }: Tools): Company {
  const counts = new Map<string, number>();
  const above = set.metadata.ownerReferences?.find((reference) => reference.controller === true);
  const sets = above?.kind === Deployment.kind ? caches.of(ReplicaSet).by(replicaSetsByController, above.uid) : [];
  const others = sets
    .filter(({ metadata }) => metadata.uid !== set.metadata.uid)
    .flatMap(({ metadata }) => caches.of(Pod).by(podsByController, metadata.uid))
    .filter(isActive);
  for (const { spec } of [...pods, ...others]) {
    counts.set(spec.nodeName ?? '', (counts.get(spec.nodeName ?? '') ?? 0) + 1);
  }
  return ({ spec }) => ((spec.nodeName ?? '') === '' ? 0 : (counts.get(spec.nodeName ?? '') ?? 0));
}
