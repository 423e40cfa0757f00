import type { Json } from '../../../api/json.ts';
import type { JsonSchema } from '../../../api/json-schema.ts';
import type { FieldError } from '../../../api/status.ts';
import { ruleFaults } from '../cel/rules.ts';
import type { Faults } from '../faults.ts';
import { NOWHERE } from '../place.ts';
import { prune } from '../prune.ts';
import { shapeFaults } from '../validate.ts';
import { invalid } from './schema-fault.ts';

/** A default must be a value that a client could have sent, without fields that would be dropped. */
export function checkDefaults(schema: JsonSchema, path: string, faults: Faults): void {
  const { items, properties = {} } = schema;
  if (schema.default !== undefined && schema.default !== null) {
    faults.addEach(ownFaults(schema.default, schema, `${path}.default`));
  }
  if (items !== undefined) checkDefaults(items, `${path}.items`, faults);
  for (const [name, property] of Object.entries(properties)) {
    checkDefaults(property, `${path}.properties[${name}]`, faults);
  }
}

function ownFaults(value: Json, schema: JsonSchema, path: string): FieldError[] {
  const isResource = schema['x-kubernetes-embedded-resource'] === true;
  const faults: FieldError[] = [];
  if (prune(structuredClone(value), schema, { resourceRoot: isResource }).length > 0) {
    faults.push(invalid(path, value, 'must not have unknown fields'));
  }
  const shape = shapeFaults(value, schema);
  // As when it is created, and as when it is written again.
  for (const old of [value, undefined]) {
    if (shape.length > 0) break;
    shape.push(...ruleFaults(value, schema, { old, isResource }).filter((fault) => !isCompileFault(fault)));
  }
  faults.push(...shape.map((fault) => ({ ...fault, field: below(path, fault.field) })));
  return faults;
}

/** Rules that do not compile are told of where they stand. */
const isCompileFault = ({ detail }: FieldError): boolean => detail.startsWith('rule compile error');

function below(path: string, field: string): string {
  if (field === NOWHERE) return path;
  return field.startsWith('[') ? path + field : `${path}.${field}`;
}
