import type { Condition } from '../../api/condition.ts';
import { timestamp } from '../../runtime/timestamp.ts';

/** Of workloads: also when they were last thought about. */
export type WorkloadCondition = Condition & { lastUpdateTime?: string };

type Statement = Pick<Condition, 'type' | 'status'> & { readonly reason: string; readonly message: string };

export const conditionOf = <C extends Condition>(conditions: readonly C[] = [], type: string): C | undefined =>
  conditions.find((condition) => condition.type === type);

export const without = <C extends Condition>(conditions: readonly C[], type: string): C[] =>
  conditions.filter((condition) => condition.type !== type);

/** With one condition said anew. What says the same for the same reason stays as it is, times and words included. */
export function saying(
  conditions: readonly WorkloadCondition[],
  statement: Statement,
  now: number,
): WorkloadCondition[] {
  const before = conditionOf(conditions, statement.type);
  if (before?.status === statement.status && before.reason === statement.reason) return [...conditions];
  return [...without(conditions, statement.type), dated(statement, before, now)];
}

/** As `saying`, but it counts as said now even if nothing else is new: there was progress. */
export function sayingAgain(
  conditions: readonly WorkloadCondition[],
  statement: Statement,
  now: number,
): WorkloadCondition[] {
  const before = conditionOf(conditions, statement.type);
  return [...without(conditions, statement.type), dated(statement, before, now)];
}

function dated(statement: Statement, before: Condition | undefined, now: number): WorkloadCondition {
  const time = timestamp(now);
  return {
    ...statement,
    lastUpdateTime: time,
    lastTransitionTime: before?.status === statement.status ? before.lastTransitionTime : time,
  };
}
