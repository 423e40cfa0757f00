import type { JsonObject } from '../../../api/json.ts';
import type { FieldError } from '../../../api/status.ts';
import { invalidValue, nonNegative } from '../field-errors.ts';
import { numberAt } from '../reading.ts';

/** Numbers of pods are not negative. */
export const validateCounts = (status: JsonObject, fields: readonly string[]): FieldError[] =>
  fields.flatMap((field) => nonNegative(`status.${field}`, numberAt(status, field)));

/** Of some pods there are no more than of those that they are part of. */
export const validateLimits = (
  status: JsonObject,
  fields: readonly string[],
  limit: string,
  detail = `cannot be greater than status.${limit}`,
): FieldError[] =>
  fields
    .filter((field) => numberAt(status, field) > numberAt(status, limit))
    .map((field) => invalidValue(`status.${field}`, numberAt(status, field), detail));

/** How often a name was taken is only counted up: a smaller number would lead to a name that is taken. */
export function validateCollisions(status: JsonObject, before: JsonObject): FieldError[] {
  const collisions = numberAt(status, 'collisionCount');
  if (collisions >= numberAt(before, 'collisionCount')) return [];
  return [invalidValue('status.collisionCount', collisions, 'cannot be decremented')];
}
