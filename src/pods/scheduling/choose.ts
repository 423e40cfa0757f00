import type { Node, Taint } from '../../api/core/node.ts';
import type { Pod } from '../../api/core/pod.ts';
import { isTolerated, untolerated } from '../tolerations.ts';
import type { Cluster } from './cluster.ts';
import { hostPortsOf, NO_FREE_PORTS } from './host-ports.ts';
import { fitsNodeAffinity, NO_SUCH_NODE, nodePreference } from './node-affinity.ts';
import type { NodeSpace } from './node-space.ts';
import { companyRules, companyWishes } from './pod-affinity.ts';
import { requestsOf } from './requests.ts';
import { hardSpreads, softSpreads } from './spread.ts';

export type Choice = { readonly node: string } | Unschedulable;

export interface Unschedulable {
  /** In the words of kube-scheduler. */
  readonly message: string;
  /** What would have to change. */
  readonly obstacles: ReadonlySet<Obstacle>;
}

/** Of a node: only a change of it helps. Of pods: one that comes, changes or goes may help. */
export type Obstacle = 'node' | 'space' | 'company';

type Space = NodeSpace & { node: Node };

/** The best node for the pod, or why there is none. Nobody is pushed out for it. */
export function choose(pod: Pod, cluster: Cluster): Choice {
  const nodes = [...cluster.nodes()];
  if (nodes.length === 0) return { message: 'no nodes available to schedule pods', obstacles: new Set(['node']) };
  const check = checks(pod, cluster);
  const reasons = new Map<string, number>();
  const obstacles = new Set<Obstacle>(['node']);
  const candidates: Space[] = [];
  for (const space of nodes) {
    const found = check(space);
    if (found === undefined) {
      candidates.push(space);
      continue;
    }
    obstacles.add(found.obstacle);
    for (const reason of found.reasons) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  }
  const best = bestOf(pod, candidates, cluster);
  if (best !== undefined) return { node: best };
  const parts = [...reasons].map(([reason, count]) => `${count} ${reason}`).sort();
  const message = `0/${nodes.length} nodes are available: ${parts.join(', ')}.`;
  return { message: expectsVictims(pod, obstacles) ? `${message} ${NO_VICTIMS}` : message, obstacles };
}

const NO_VICTIMS = 'preemption: pods that run are never ended to make room for others.';

/** Whether another scheduler might have ended pods of lower priority: who counts on that is told that nobody does. */
const expectsVictims = ({ spec }: Pod, obstacles: ReadonlySet<Obstacle>): boolean =>
  (spec.priority ?? 0) > 0 && spec.preemptionPolicy !== 'Never' && (obstacles.has('space') || obstacles.has('company'));

interface Refusal {
  readonly reasons: readonly string[];
  readonly obstacle: Obstacle;
}

/** What speaks against a node. As in kube-scheduler, the first check that fails is the one that is told. */
function checks(pod: Pod, cluster: Cluster): (space: Space) => Refusal | undefined {
  const tolerations = pod.spec.tolerations ?? [];
  const amounts = requestsOf(pod);
  const ports = hostPortsOf(pod);
  const spread = hardSpreads(pod, cluster);
  const company = companyRules(pod, cluster);
  const because = (obstacle: Obstacle, ...reasons: string[]): Refusal => ({ obstacle, reasons });

  return (space) => {
    const { node } = space;
    if (node.spec.unschedulable === true && !isTolerated(UNSCHEDULABLE, tolerations)) {
      return because('node', 'node(s) were unschedulable');
    }
    const taint = untolerated(node.spec.taints ?? [], tolerations);
    if (taint !== undefined) {
      return because('node', `node(s) had untolerated taint {${taint.key}: ${taint.value ?? ''}}`);
    }
    if (!fitsNodeAffinity(pod, node)) return because('node', NO_SUCH_NODE);
    if (!space.ports.areFree(ports)) return because('space', NO_FREE_PORTS);
    const shortages = space.shortages(amounts);
    if (shortages.length > 0) {
      return because(
        'space',
        ...shortages.map(({ resource }) => (resource === 'pods' ? 'Too many pods' : `Insufficient ${resource}`)),
      );
    }
    const uneven = spread(node);
    if (uneven !== undefined) return because('company', uneven);
    const unwanted = company(node);
    return unwanted === undefined ? undefined : because('company', unwanted);
  };
}

/** The taint that `kubectl cordon` stands for. */
export const UNSCHEDULABLE: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };

/** How much each wish counts: what people wrote before what is only thrifty. */
const WEIGHTS = { taints: 3, nodeAffinity: 2, company: 2, spread: 2, siblings: 2, free: 1, balance: 1 };

function bestOf(pod: Pod, candidates: readonly Space[], cluster: Cluster): string | undefined {
  if (candidates.length <= 1) return candidates[0]?.name;
  const tolerations = pod.spec.tolerations ?? [];
  const amounts = requestsOf(pod);
  const crowded = softSpreads(pod, cluster);
  const wishes = companyWishes(pod, cluster);
  const scores = candidates.map(() => 0);
  const add = (weight: number, points: readonly number[]): void => {
    points.forEach((point, i) => {
      scores[i] = (scores[i] ?? 0) + weight * point;
    });
  };
  const raw = (measure: (space: Space) => number): number[] => candidates.map(measure);

  add(WEIGHTS.taints, fewest(raw(({ node }) => badTaints(node, tolerations))));
  add(WEIGHTS.nodeAffinity, most(raw(({ node }) => nodePreference(pod, node))));
  add(WEIGHTS.company, most(raw(({ node }) => wishes(node))));
  add(WEIGHTS.spread, fewest(raw(({ node }) => crowded(node))));
  add(WEIGHTS.siblings, fewest(raw((space) => space.siblingsOf(pod))));
  const used = candidates.map((space) => [space.usedPart('cpu', amounts), space.usedPart('memory', amounts)] as const);
  add(
    WEIGHTS.free,
    used.map(([cpu, memory]) => 100 * (1 - (cpu + memory) / 2)),
  );
  add(
    WEIGHTS.balance,
    used.map(([cpu, memory]) => 100 * (1 - Math.abs(cpu - memory) / 2)),
  );

  let best = 0;
  for (let i = 1; i < candidates.length; i += 1) if (isBetter(i, best)) best = i;
  return candidates[best]?.name;

  /** Equally good: the emptier one, and at last any order that is always the same. */
  function isBetter(i: number, than: number): boolean {
    const [a, b] = [candidates[i], candidates[than]];
    if (a === undefined || b === undefined) return false;
    const difference = (scores[i] ?? 0) - (scores[than] ?? 0);
    if (Math.abs(difference) > 1e-9) return difference > 0;
    return a.pods === b.pods ? a.name < b.name : a.pods < b.pods;
  }
}

const badTaints = ({ spec: { taints = [] } }: Node, tolerations: Parameters<typeof isTolerated>[1]): number =>
  taints.filter((taint) => taint.effect === 'PreferNoSchedule' && !isTolerated(taint, tolerations)).length;

/** From 0 to 100, the largest being best. All equal: nothing to choose by. */
function most(values: readonly number[]): number[] {
  const least = Math.min(...values);
  const span = Math.max(...values) - least;
  return values.map((value) => (span === 0 ? 0 : (100 * (value - least)) / span));
}
const fewest = (values: readonly number[]): number[] => most(values.map((value) => -value));
