import { Namespace } from '../api/core/namespace.ts';
import { Node } from '../api/core/node.ts';
import { Pod } from '../api/core/pod.ts';
import { isConflict, isMissing } from '../runtime/client.ts';
import { type Context, type Controller, controller, type Host } from '../runtime/controller.ts';
import type { StatusOf } from '../runtime/draft.ts';
import type { Change } from '../runtime/informer.ts';
import { asError } from '../runtime/log.ts';
import { done, failed, type Outcome, wait } from '../runtime/outcome.ts';
import { keyOfObject, refOf } from '../runtime/ref.ts';
import { conditionOf, isFinished, isTerminating, withCondition } from './pod-state.ts';
import { choose, type Unschedulable } from './scheduling/choose.ts';
import { Cluster } from './scheduling/cluster.ts';
import { Waiting } from './scheduling/waiting.ts';

type PodOutcome = Outcome<StatusOf<Pod>>;

export const DEFAULT_SCHEDULER = 'default-scheduler';

/**
 * Gives every pod a node, those of higher priority first. A pod that fits nowhere says why, and is looked at again when
 * something changes that kept it out.
 */
export const scheduler = (): Controller => ({
  name: DEFAULT_SCHEDULER,
  start(host) {
    const waiting = new Waiting();
    const cluster = follow(host, waiting);
    return controller({
      name: DEFAULT_SCHEDULER,
      for: Pod,
      watches: [
        { kind: Node, wakes: () => waiting.takeWoken() },
        { kind: Pod, wakes: () => waiting.takeWoken() },
        { kind: Namespace, wakes: () => waiting.takeWoken() },
      ],
      batch: { max: 1024 },
      reconcileMany: (pods, context) => new Round(cluster, waiting, context).place(pods),
      gone: (ref) => waiting.remove(ref),
    }).start(host);
  },
});

/** Listens before the controller does, so that its passes find the cluster as their waking change left it. */
function follow({ informers }: Host, waiting: Waiting): Cluster {
  const namespaces = informers.of(Namespace).cache;
  const cluster = new Cluster({
    namespacesBy: (selector) =>
      namespaces
        .list()
        .filter(({ metadata }) => selector.matches(metadata.labels))
        .map(({ metadata }) => metadata.name),
  });
  informers.of(Node).onChange(({ before, now }) => {
    cluster.setNode((now ?? before).metadata.name, now);
    if (matters(before) !== matters(now)) waiting.wake('node');
    // Only a node that exists counts where pods are spread.
    if (before === undefined || now === undefined) waiting.wake('company');
  });
  informers.of(Namespace).onChange(({ before, now }) => {
    if (JSON.stringify(before?.metadata.labels) !== JSON.stringify(now?.metadata.labels)) waiting.wake('company');
  });
  informers.of(Pod).onChange((change) => {
    const { before, now } = change;
    const key = keyOfObject(now ?? before);
    const held = cluster.placeOf(key);
    if (now === undefined) cluster.removePod(key);
    else cluster.setPod(now);
    // Also a place that was only meant for it.
    if (held !== undefined && held !== cluster.placeOf(key)) waiting.wake('space', 'company');
    if (companyOf(change.before) !== companyOf(change.now)) waiting.wake('company');
  });
  return cluster;
}

/** What decides about a node; the rest of it is its heartbeat. */
const matters = (node: Node | undefined): string =>
  node === undefined
    ? ''
    : JSON.stringify([
        node.metadata.labels,
        node.spec.taints?.map(({ key, value, effect }) => [key, value, effect]),
        node.spec.unschedulable,
        node.status?.allocatable,
      ]);

const occupies = (pod: Change<Pod>['before']): boolean =>
  pod !== undefined && (pod.spec.nodeName ?? '') !== '' && !isFinished(pod);

const companyOf = (pod: Change<Pod>['before']): string =>
  pod === undefined || !occupies(pod) ? '' : JSON.stringify([pod.metadata.labels, isTerminating(pod)]);

/** So many pods are decided about in one go before others have their turn. */
const STRIDE = 64;

class Round {
  readonly #cluster: Cluster;
  readonly #waiting: Waiting;
  readonly #context: Context;
  readonly #outcomes = new Map<Pod, PodOutcome>();

  constructor(cluster: Cluster, waiting: Waiting, context: Context) {
    this.#cluster = cluster;
    this.#waiting = waiting;
    this.#context = context;
  }

  async place(pods: readonly Pod[]): Promise<PodOutcome[]> {
    const open = pods.filter((pod) => isOurs(pod) && !this.#cluster.isAssumed(pod)).sort(byPriority);
    for (let i = 0; i < open.length; i += STRIDE) {
      const stride = open.slice(i, i + STRIDE);
      const bindings = stride.map((pod) => this.#decide(pod));
      await Promise.all(bindings);
    }
    return pods.map((pod) => this.#outcomes.get(pod) ?? done());
  }

  async #decide(pod: Pod): Promise<void> {
    const gates = pod.spec.schedulingGates ?? [];
    if (gates.length > 0) {
      this.#outcomes.set(
        pod,
        this.#unscheduled(pod, 'SchedulingGated', 'Scheduling is blocked due to non-empty scheduling gates'),
      );
      return;
    }
    const choice = choose(pod, this.#cluster);
    if ('node' in choice) {
      this.#cluster.assume(pod, choice.node);
      this.#outcomes.set(pod, await this.#bind(pod, choice.node));
    } else {
      this.#outcomes.set(pod, this.#unschedulable(pod, choice));
    }
  }

  async #bind(pod: Pod, node: string): Promise<PodOutcome> {
    const { name, namespace = '', uid } = pod.metadata;
    const body = {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name, namespace, uid },
      target: { apiVersion: 'v1', kind: 'Node', name: node },
    };
    try {
      await this.#context.client.act(Pod, refOf(pod), 'binding', body);
    } catch (error) {
      this.#cluster.forget(pod);
      this.#waiting.wake('space', 'company');
      // Gone, or somebody else was faster: the server will tell what is so.
      return isMissing(error) || isConflict(error) ? done() : failed(asError(error));
    }
    this.#context.events.normal(pod, 'Scheduled', `Successfully assigned ${namespace}/${name} to ${node}`);
    return done();
  }

  #unschedulable(pod: Pod, { message, obstacles }: Unschedulable): PodOutcome {
    this.#waiting.add(refOf(pod), obstacles);
    if (conditionOf(pod, 'PodScheduled')?.message !== message) {
      this.#context.events.warning(pod, 'FailedScheduling', message);
    }
    return this.#unscheduled(pod, 'Unschedulable', message);
  }

  #unscheduled(pod: Pod, reason: string, message: string): PodOutcome {
    const condition = { type: 'PodScheduled', status: 'False' as const, reason, message };
    const conditions = withCondition(pod.status?.conditions, condition, this.#context.system.now());
    return wait({ status: { ...pod.status, conditions } });
  }
}

const isOurs = (pod: Pod): boolean =>
  (pod.spec.nodeName ?? '') === '' &&
  (pod.spec.schedulerName ?? DEFAULT_SCHEDULER) === DEFAULT_SCHEDULER &&
  !isTerminating(pod) &&
  !isFinished(pod);

/** Among equals the one that has waited longest. */
function byPriority(a: Pod, b: Pod): number {
  const difference = (b.spec.priority ?? 0) - (a.spec.priority ?? 0);
  if (difference !== 0) return difference;
  const [first, second] = [a.metadata.creationTimestamp, b.metadata.creationTimestamp];
  return first < second ? -1 : first > second ? 1 : 0;
}
