import type { Json } from '../../../api/json.ts';
import type { FieldError } from '../../../api/status.ts';
import { invalidValue, nonNegative } from '../field-errors.ts';

const PERCENT = /^[0-9]+%$/;
const PERCENT_FAULT =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";

/** A number of pods, or a percentage of them. */
export function validateAmount(amount: Json | undefined, path: string): FieldError[] {
  if (typeof amount === 'string') return PERCENT.test(amount) ? [] : [invalidValue(path, amount, PERCENT_FAULT)];
  return nonNegative(path, typeof amount === 'number' ? amount : 0);
}

/** Nothing can be more than all of the pods. */
export function validateAtMostAll(amount: Json | undefined, path: string): FieldError[] {
  if (typeof amount !== 'string' || !PERCENT.test(amount) || numberIn(amount) <= 100) return [];
  return [invalidValue(path, amount, 'must not be greater than 100%')];
}

/** The number in an amount, whatever it counts: pods, or percent of them. */
export const numberIn = (amount: Json | undefined): number => {
  if (typeof amount === 'number') return amount;
  return typeof amount === 'string' ? Number.parseInt(amount, 10) || 0 : 0;
};
