import { Node } from '../../api/core/node.ts';
import { Pod } from '../../api/core/pod.ts';
import { index } from '../../runtime/cache.ts';
import { type Context, type Controller, controller, type Host } from '../../runtime/controller.ts';
import type { StatusOf } from '../../runtime/draft.ts';
import { done, type Outcome, wait } from '../../runtime/outcome.ts';
import { refOf } from '../../runtime/ref.ts';
import { withCondition } from '../pod-state.ts';
import { readiness } from './health.ts';
import { fateOf } from './pod-fate.ts';

const byNode = index(Pod, ({ spec }) => (spec.nodeName === undefined || spec.nodeName === '' ? [] : [spec.nodeName]));

/** A node that comes back under its name within this time has not been gone. In milliseconds. */
const QUARANTINE = 10_000;

/** Sees to pods whose node is lost, tainted or gone. */
export const evictions = (): Controller => ({
  name: 'taint-eviction-controller',
  start(host) {
    const changed = follow(host);
    /** Node → since when, on our clock, it is not there. */
    const missing = new Map<string, number>();
    return controller({
      name: 'taint-eviction-controller',
      for: Pod,
      watches: [
        {
          kind: Node,
          wakes: ({ metadata: { name } }, caches) => {
            if (!changed.delete(name)) return [];
            if (caches.of(Node).get({ namespace: '', name }) !== undefined) missing.delete(name);
            return caches.of(Pod).by(byNode, name).map(refOf);
          },
        },
      ],
      parallel: 16,
      reconcile: (pod, context) => decide(pod, missing, context),
    }).start(host);
  },
});

/** The nodes whose state matters to their pods and has changed: not every heartbeat. */
function follow({ informers }: Host): Set<string> {
  const changed = new Set<string>();
  const matters = (node: Node | undefined): string =>
    node === undefined ? '' : JSON.stringify([node.metadata.uid, readiness(node), node.spec.taints]);
  informers.of(Node).onChange(({ before, now }) => {
    if (matters(before) !== matters(now)) changed.add((now ?? before).metadata.name);
  });
  return changed;
}

async function decide(pod: Pod, missing: Map<string, number>, context: Context): Promise<Outcome<StatusOf<Pod>>> {
  const { nodeName = '' } = pod.spec;
  if (nodeName === '') return done();
  const { caches, client, system } = context;
  const now = system.now();
  const fate = fateOf(pod, caches.of(Node).get({ namespace: '', name: nodeName }), now);
  switch (fate.is) {
    case 'stays': {
      const after = fate.until === undefined ? {} : { after: fate.until - now };
      if (!fate.isReadyNoMore) return wait(after);
      const message = `Nothing is heard of node ${nodeName}`;
      const condition = { type: 'Ready', status: 'False' as const, reason: 'NodeNotReady', message };
      return wait({
        ...after,
        status: { ...pod.status, conditions: withCondition(pod.status?.conditions, condition, now) },
      });
    }
    case 'evicted':
      await evict(pod, context);
      return done();
    case 'removed': {
      if (fate.because === 'its node is gone') {
        const since = missing.get(nodeName) ?? system.uptime();
        missing.set(nodeName, since);
        const left = since + QUARANTINE - system.uptime();
        if (left > 0) return wait({ after: left });
        if ((await client.get(Node, nodeName)) !== undefined) return wait({ after: QUARANTINE });
      }
      context.log.info('removing a pod', {
        pod: `${pod.metadata.namespace}/${pod.metadata.name}`,
        because: fate.because,
      });
      await client.delete(Pod, refOf(pod), { uid: pod.metadata.uid, gracePeriodSeconds: 0 });
      return done();
    }
  }
}

async function evict(pod: Pod, { client, events, system }: Context): Promise<void> {
  const { uid, resourceVersion, namespace, name } = pod.metadata;
  const condition = {
    type: 'DisruptionTarget',
    status: 'True' as const,
    reason: 'DeletionByTaintManager',
    message: 'Taint manager: deleting due to NoExecute taint',
  };
  const conditions = withCondition(pod.status?.conditions, condition, system.now());
  await client.patch(Pod, refOf(pod), { merge: { metadata: { resourceVersion }, status: { conditions } } }, 'status');
  events.normal(pod, 'TaintManagerEviction', `Marking for deletion Pod ${namespace}/${name}`);
  await client.delete(Pod, refOf(pod), { uid });
}
