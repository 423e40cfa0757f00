import type { JsonObject } from '../../../api/json.ts';
import { appliedFields } from './extract.ts';
import { difference, type FieldSet, intersection, isEmpty, union } from './field-set.ts';
import { removeFields, withDeclaredParents } from './remove.ts';
import type { Shape } from './shape.ts';

export interface Pruning {
  /** The live object with the new configuration merged in. */
  merged: JsonObject;
  /** What the manager applied last time. */
  before: FieldSet;
  /** What it applies now. */
  now: FieldSet;
  /** What every other manager owns; only asked for when something is abandoned. */
  others(): FieldSet;
  shape: Shape;
}

/**
 * Removes what the manager applied last time, does not apply now, and nobody else owns. What nobody owns goes only as content of
 * something that goes.
 */
export function pruneAbandoned({ merged, before, now, others, shape }: Pruning): JsonObject {
  if (isEmpty(difference(before, now))) return merged;
  const fieldsOf = (object: JsonObject) => withDeclaredParents(appliedFields(object, shape), shape);
  const claimed = withDeclaredParents(union(others(), now), shape);
  const abandoned = withDeclaredParents(before, shape);
  const present = fieldsOf(merged);

  const bare = removeFields(merged, abandoned, shape);
  const unclaimed = difference(present, union(fieldsOf(bare), claimed));
  const withClaimed = removeFields(merged, unclaimed, shape);
  // That took unowned fields too which only lived beside abandoned ones: those that the manager never applied come back.
  const gone = intersection(difference(present, fieldsOf(withClaimed)), difference(abandoned, claimed));
  return removeFields(merged, gone, shape);
}
