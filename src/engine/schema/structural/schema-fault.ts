import type { FieldError } from '../../../api/status.ts';

/* How faults of a schema are put together; `field` is where in the definition they are. */

export const required = (field: string, detail: string): FieldError => ({ type: 'Required', field, detail });
export const forbidden = (field: string, detail: string): FieldError => ({ type: 'Forbidden', field, detail });
export const invalid = (field: string, value: unknown, detail: string): FieldError => ({
  type: 'Invalid',
  field,
  value,
  detail,
});
export const notSupported = (field: string, value: unknown, supported: readonly string[]): FieldError => ({
  type: 'NotSupported',
  field,
  value,
  detail: `supported values: ${supported.map((each) => JSON.stringify(each)).join(', ')}`,
});
