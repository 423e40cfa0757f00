import type { FieldError } from '../../api/status.ts';
import { listed } from '../schema/faults.ts';

/** One fault of one field each, in the forms that kube-apiserver knows. */
export const required = (field: string, detail = ''): FieldError => ({ type: 'Required', field, detail });

export const invalidValue = (field: string, value: unknown, detail: string): FieldError => ({
  type: 'Invalid',
  field,
  value,
  detail,
});

export const unsupported = (field: string, value: unknown, supported: readonly string[]): FieldError => ({
  type: 'NotSupported',
  field,
  value,
  detail: `supported values: ${supported.map((text) => JSON.stringify(text)).join(', ')}`,
});

/** Nothing, if the value is one of the choices. */
export function oneOf(field: string, value: string, choices: readonly string[]): FieldError[] {
  if (value === '') return [required(field)];
  return choices.includes(value) ? [] : [unsupported(field, value, choices)];
}

export const forbiddenField = (field: string, detail: string): FieldError => ({ type: 'Forbidden', field, detail });

export const duplicate = (field: string, value: unknown, detail = ''): FieldError => ({
  type: 'Duplicate',
  field,
  value,
  detail,
});

export const missing = (field: string, value: unknown, detail = ''): FieldError => ({
  type: 'NotFound',
  field,
  value,
  detail,
});

export const tooLong = (field: string, limit: number): FieldError => ({
  type: 'TooLong',
  field,
  detail: `may not be more than ${limit} bytes`,
});

export const tooMany = (field: string, count: number, limit: number): FieldError => ({
  type: 'TooMany',
  field,
  value: count,
  detail: `must have at most ${limit} items`,
});

/** One fault of the value for each thing that is wrong with it. */
export const invalidFor = (field: string, value: unknown, faults: readonly string[]): FieldError[] =>
  faults.map((fault) => invalidValue(field, value, fault));

export const nonNegative = (field: string, value: number): FieldError[] =>
  value < 0 ? [invalidValue(field, value, 'must be greater than or equal to 0')] : [];

export const IMMUTABLE = 'field is immutable';

/** As many faults as somebody can read, each once. Comparing all of those that a hostile body has would take seconds. */
export const reported = (errors: readonly FieldError[]): FieldError[] => listed(errors.slice(0, 2000));
