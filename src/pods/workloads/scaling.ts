import type { Deployment, ReplicaSet } from '../../api/apps/workloads.ts';
import { allOf, availableIn, isRolling, leeway, podsIn, type Rollout, sizeOf, total, wantedOf } from './deployment.ts';
import { desiredIn, isObserved, mostIn } from './revisions.ts';

/** A ReplicaSet shall have so many pods. */
export interface Scaling {
  readonly set: ReplicaSet;
  readonly to: number;
}

/** What a new ReplicaSet begins with, or may have by now: as many as there is room for. */
export function roomFor({ deployment, current, old }: Rollout): number {
  const wanted = wantedOf(deployment);
  const size = current === undefined ? 0 : sizeOf(current);
  if (!isRolling(deployment)) return wanted;
  const room = wanted + leeway(deployment).surge - total(old, presentIn) - size;
  return room <= 0 ? size : size + Math.min(room, wanted - size);
}

/** Pods that are to go count until they do; of a set that has not looked at its size yet, nobody knows how many there are. */
const presentIn = (set: ReplicaSet): number =>
  isObserved(set) ? Math.max(sizeOf(set), podsIn(set)) : Number.POSITIVE_INFINITY;

/** What is said of a set counts once it is about the set as it is now. */
const servingIn = (set: ReplicaSet): number => (isObserved(set) ? Math.min(sizeOf(set), availableIn(set)) : 0);
const uselessIn = (set: ReplicaSet): number => (isObserved(set) ? Math.max(0, sizeOf(set) - availableIn(set)) : 0);

/** The next step from the old pods to the new ones: never more than surge allows, never fewer that serve than wanted. */
export function nextStep(rollout: Rollout): Scaling[] {
  return isRolling(rollout.deployment) ? rollingStep(rollout) : recreatingStep(rollout);
}

function rollingStep(rollout: Rollout): Scaling[] {
  const grown = growth(rollout);
  return grown.length > 0 ? grown : shrinkage(rollout);
}

function growth(rollout: Rollout): Scaling[] {
  const { deployment, current } = rollout;
  if (current === undefined) return [];
  const wanted = wantedOf(deployment);
  const to = sizeOf(current) > wanted ? wanted : roomFor(rollout);
  return to === sizeOf(current) ? [] : [{ set: current, to }];
}

/** Old pods that do not serve go first: they are no loss. Then as many of the others as the new ones make up for. */
function shrinkage(rollout: Rollout): Scaling[] {
  const { deployment, current, old } = rollout;
  if (current === undefined) return [];
  const all = allOf(rollout);
  const least = wantedOf(deployment) - leeway(deployment).unavailable;
  const most = total(all, sizeOf) - least - (sizeOf(current) - servingIn(current));
  const sizes = new Map(old.map((set) => [set, sizeOf(set)]));
  let useless = Math.max(0, most);
  for (const set of old) {
    const idle = Math.min(useless, uselessIn(set));
    sizes.set(set, sizeOf(set) - idle);
    useless -= idle;
  }
  let spare = most <= 0 ? 0 : Math.max(0, total(all, servingIn) - least);
  for (const set of old) {
    const size = sizes.get(set) ?? 0;
    const gone = Math.min(size, spare);
    sizes.set(set, size - gone);
    spare -= gone;
  }
  return old.map((set) => ({ set, to: sizes.get(set) ?? 0 })).filter(({ set, to }) => to !== sizeOf(set));
}

function recreatingStep({ deployment, current, old }: Rollout): Scaling[] {
  const ending = old.filter((set) => sizeOf(set) > 0).map((set) => ({ set, to: 0 }));
  if (ending.length > 0) return ending;
  const wanted = wantedOf(deployment);
  return current === undefined || sizeOf(current) === wanted ? [] : [{ set: current, to: wanted }];
}

/** Whether the number of pods wanted has changed since the last step. */
export const isResized = (rollout: Rollout): boolean =>
  allOf(rollout).some((set) => {
    const desired = desiredIn(set);
    return sizeOf(set) > 0 && desired !== undefined && desired !== wantedOf(rollout.deployment);
  });

/** Another number of pods while several ReplicaSets have some: each grows or shrinks by its share. */
export function resize(rollout: Rollout): Scaling[] {
  const { deployment, current, old } = rollout;
  const wanted = wantedOf(deployment);
  const active = allOf(rollout).filter((set) => sizeOf(set) > 0);
  const [only, ...more] = active;
  if (more.length === 0) {
    const set = only ?? current ?? old.at(-1);
    return set === undefined ? [] : [{ set, to: wanted }];
  }
  if (current !== undefined && isSaturated(current, wanted)) {
    return old.filter((set) => sizeOf(set) > 0).map((set) => ({ set, to: 0 }));
  }
  return isRolling(deployment) ? proportions(deployment, active) : [];
}

/** Of a size that was wanted for it, and all of it serves. */
const isSaturated = (set: ReplicaSet, wanted: number): boolean =>
  sizeOf(set) === wanted && desiredIn(set) === wanted && availableIn(set) === wanted;

function proportions(deployment: Deployment, active: readonly ReplicaSet[]): Scaling[] {
  const wanted = wantedOf(deployment);
  const allowed = wanted > 0 ? wanted + leeway(deployment).surge : 0;
  const change = allowed - total(active, sizeOf);
  // The largest first; among equals, new ones gain first and old ones lose first.
  const newerFirst = change > 0;
  const ordered = [...(newerFirst ? [...active].reverse() : active)].sort((a, b) => sizeOf(b) - sizeOf(a));
  let left = change;
  const sizes = ordered.map((set): { set: ReplicaSet; to: number } => {
    const share = left === 0 ? 0 : shareOf(set, deployment, allowed);
    const part = change > 0 ? Math.min(share, left) : Math.max(share, left);
    left -= part;
    return { set, to: sizeOf(set) + part };
  });
  const [largest] = sizes;
  if (largest !== undefined) largest.to = Math.max(0, largest.to + left);
  return sizes;
}

/** By how much a ReplicaSet would change, so that it stays the same part of the whole. */
function shareOf(set: ReplicaSet, deployment: Deployment, allowed: number): number {
  if (wantedOf(deployment) === 0) return -sizeOf(set);
  const before = mostIn(set) ?? deployment.status?.replicas ?? 0;
  if (before === 0) return 0;
  const share = Math.round((sizeOf(set) * allowed) / before);
  return share - sizeOf(set);
}

/** Pods of old ReplicaSets that are still there: a Deployment that recreates waits for their end. */
export const remaining = ({ old }: Rollout): number => total(old, podsIn);
