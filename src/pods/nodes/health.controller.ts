import { Node } from '../../api/core/node.ts';
import { Lease } from '../../runtime/builtin.ts';
import { type Context, type Controller, controller, type Host } from '../../runtime/controller.ts';
import type { StatusOf } from '../../runtime/draft.ts';
import { done, type Outcome, wait } from '../../runtime/outcome.ts';
import { refOf } from '../../runtime/ref.ts';
import { lostConditions, readiness, wantedTaints } from './health.ts';

export const LEASE_NAMESPACE = 'kube-node-lease';

/** The Lease of a node as we saw it last, and our own clock then: clocks of hosts are never compared with ours. */
interface Sign {
  resourceVersion: string | undefined;
  at: number;
}

/** Says of nodes that do not renew their Lease for `patience` milliseconds that nothing is known of them. */
export const nodeHealth = ({ patience }: { patience: number }): Controller => ({
  name: 'node-health',
  start(host) {
    const signs = listen(host);
    return controller({
      name: 'node-health',
      for: Node,
      // Heard of by `listen`: a sign of life needs no pass.
      watches: [{ kind: Lease, where: { namespace: LEASE_NAMESPACE }, wakes: () => [] }],
      parallel: 16,
      reconcile: (node, context) => examine(node, signs, patience, context),
      gone: ({ name }) => {
        signs.delete(name);
      },
    }).start(host);
  },
});

function listen({ informers, system }: Host): Map<string, Sign> {
  const signs = new Map<string, Sign>();
  informers.of(Lease, { namespace: LEASE_NAMESPACE }).onChange(({ now }) => {
    if (now === undefined) return;
    const { name, resourceVersion } = now.metadata;
    signs.set(name, { resourceVersion, at: system.uptime() });
  });
  return signs;
}

async function examine(
  node: Node,
  signs: Map<string, Sign>,
  patience: number,
  { client, system }: Context,
): Promise<Outcome<StatusOf<Node>>> {
  const { name } = node.metadata;
  const sign = signs.get(name) ?? { resourceVersion: undefined, at: system.uptime() };
  signs.set(name, sign);
  const left = sign.at + patience - system.uptime();
  if (left > 0) return wait({ after: left });

  // Perhaps it is we who hear nothing any more: the server itself knows.
  const lease = await client.get(Lease, name, LEASE_NAMESPACE);
  if (lease !== undefined && lease.metadata.resourceVersion !== sign.resourceVersion) {
    signs.set(name, { resourceVersion: lease.metadata.resourceVersion, at: system.uptime() });
    return wait({ after: patience });
  }
  const outcome = { after: patience };
  if (readiness(node) === 'Unknown') return wait(outcome);
  return wait({ ...outcome, status: { ...node.status, conditions: lostConditions(node, system.now()) } });
}

/** Keeps pods away from nodes that cannot have them, and lets those leave that are on a lost one. */
export const nodeTaints = (): Controller =>
  controller({
    name: 'node-taints',
    for: Node,
    watches: [
      {
        // One that works again, or the last one that does not any more, decides about all that are lost.
        kind: Node,
        wakes: (_, caches) =>
          caches
            .of(Node)
            .list()
            .filter((node) => readiness(node) === 'Unknown')
            .map(refOf),
      },
    ],
    reconcile: async (node, { caches, client, system }) => {
      const anyReady = caches
        .of(Node)
        .list()
        .some((other) => readiness(other) === 'True');
      const taints = wantedTaints(node, { anyReady, now: system.now() });
      const before = node.spec.taints ?? [];
      if (taints.length === before.length && taints.every((taint, i) => taint === before[i])) return done();
      const { resourceVersion } = node.metadata;
      const plain = taints.map((taint) => ({ ...taint }));
      await client.patch(Node, refOf(node), {
        merge: { metadata: { resourceVersion }, spec: { taints: plain.length === 0 ? null : plain } },
      });
      return done();
    },
  });
