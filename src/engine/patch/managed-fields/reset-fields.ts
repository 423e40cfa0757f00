import { type FieldSet, fieldSet } from './field-set.ts';
import { fieldElement } from './path-element.ts';

const known = new Map<string, FieldSet>();

/**
 * Some endpoints put back what a client sends for certain fields: the main resource its `status`, /status its `spec`. Whoever
 * writes there must not own what it cannot change. The paths are constants of the server, so few sets ever exist.
 */
export function unreachableFields(resetFields: readonly string[]): FieldSet {
  const name = resetFields.join(' ');
  let fields = known.get(name);
  if (fields === undefined) {
    fields = fieldSet(...resetFields.map((path) => path.split('.').map(fieldElement)));
    known.set(name, fields);
  }
  return fields;
}
