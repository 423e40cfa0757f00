import { Deployment, ReplicaSet, StatefulSet } from '../../api/apps/workloads.ts';
import { Pod } from '../../api/core/pod.ts';
import type { OwnerReference } from '../../api/object.ts';
import { PodDisruptionBudget } from '../../api/policy/pod-disruption-budget.ts';
import type { Caches } from '../../runtime/cache.ts';
import { type Controller, controller } from '../../runtime/controller.ts';
import { done, wait } from '../../runtime/outcome.ts';
import { type Ref, refOf } from '../../runtime/ref.ts';
import { selectorOf } from '../workloads/selecting.ts';
import { accountOf, type Keeper } from './budget.ts';

/** Keeps the books of disruption budgets, by which evictions are granted or refused. */
export const budgets = (): Controller =>
  controller({
    name: 'disruption-budgets',
    for: PodDisruptionBudget,
    watches: [
      { kind: Pod, wakes: (pod, caches) => budgetsOver(pod, caches) },
      { kind: ReplicaSet, wakes: ({ metadata }, caches) => budgetsIn(metadata.namespace, caches) },
      { kind: Deployment, wakes: ({ metadata }, caches) => budgetsIn(metadata.namespace, caches) },
      { kind: StatefulSet, wakes: ({ metadata }, caches) => budgetsIn(metadata.namespace, caches) },
    ],
    parallel: 4,
    async reconcile(budget, { caches, system }) {
      const selector = selectorOf(budget);
      const pods = caches.of(Pod).list(budget.metadata.namespace);
      const ours = pods.filter(({ metadata }) => selector.matches(metadata.labels));
      const { status, nextAt } = accountOf(budget, ours, (pod) => keeperOf(pod, caches), system.now());
      return nextAt === undefined ? done({ status }) : wait({ status, after: Math.max(0, nextAt - system.now()) });
    },
  });

const budgetsOver = ({ metadata }: Pod, caches: Caches): Ref[] =>
  caches
    .of(PodDisruptionBudget)
    .list(metadata.namespace)
    .filter((budget) => selectorOf(budget).matches(metadata.labels))
    .map(refOf);

/** How many pods a workload is to have matters only to those that count parts of them. */
const budgetsIn = (namespace: string | undefined, caches: Caches): Ref[] =>
  caches
    .of(PodDisruptionBudget)
    .list(namespace)
    .filter(({ spec }) => typeof spec.minAvailable !== 'number')
    .map(refOf);

function keeperOf(pod: Pod, caches: Caches): Keeper {
  const { namespace = '', name } = pod.metadata;
  const owner = controllerOf(pod.metadata.ownerReferences);
  if (owner === undefined) return 'nobody';
  const unknown = { unknown: `nobody can say how many pods ${owner.kind} ${owner.name} of pod ${name} is to have` };
  if (owner.kind === StatefulSet.kind)
    return scaleOf(caches.of(StatefulSet).get({ namespace, name: owner.name }), unknown);
  if (owner.kind !== ReplicaSet.kind) return unknown;
  const set = caches.of(ReplicaSet).get({ namespace, name: owner.name });
  const above = controllerOf(set?.metadata.ownerReferences);
  if (above?.kind !== Deployment.kind) return scaleOf(set, unknown);
  return scaleOf(caches.of(Deployment).get({ namespace, name: above.name }), unknown);
}

const scaleOf = (workload: Deployment | ReplicaSet | StatefulSet | undefined, otherwise: Keeper): Keeper =>
  workload === undefined ? otherwise : { uid: workload.metadata.uid, replicas: workload.spec.replicas ?? 1 };

const controllerOf = (owners: readonly OwnerReference[] = []): OwnerReference | undefined =>
  owners.find(({ controller }) => controller === true);
