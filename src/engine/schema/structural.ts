import type { JsonSchema } from '../../api/json-schema.ts';
import type { FieldError } from '../../api/status.ts';
import { fieldMessage } from '../../api/status.ts';
import { MAX_DEPTH } from './depth.ts';
import { Faults, listed } from './faults.ts';
import { alternativesOf, checkCompleteness } from './structural/alternatives.ts';
import { checkDefaults } from './structural/default-values.ts';
import { checkInvariants } from './structural/invariants.ts';
import { checkOpenApi } from './structural/openapi.ts';
import { forbidden } from './structural/schema-fault.ts';

/** Compiling takes about a tenth of a millisecond and more each. */
const MAX_RULES = 2000;

/**
 * Why a CustomResourceDefinition with this schema is refused; nothing when it is structural. `path` is where the schema
 * stands, as in `spec.versions[0].schema.openAPIV3Schema`.
 */
export function structuralFaults(schema: JsonSchema, path: string): FieldError[] {
  const unwalkable = boundFault(schema, path);
  if (unwalkable !== undefined) return [unwalkable];
  const faults = new Faults();
  checkInvariants(schema, path, faults);
  checkCompleteness(schema, path, faults);
  faults.list.sort(byText);
  if (faults.list.length === 0) checkDefaults(schema, path, faults);
  const openApi = { schema: new Faults(), rules: new Faults() };
  checkOpenApi(schema, path, openApi, { isRoot: true, compilesRules: faults.list.length === 0 });
  if (schema.nullable === true) faults.add(forbidden(`${path}.nullable`, 'nullable cannot be true at the root'));
  return listed([...faults.list, ...openApi.schema.list, ...openApi.rules.list]);
}

/** What would make looking at the schema itself endless. */
function boundFault(root: JsonSchema, path: string): FieldError | undefined {
  const above = new Set<JsonSchema>();
  let rules = 0;
  const walk = (schema: JsonSchema, at: string): FieldError | undefined => {
    if (above.has(schema)) return forbidden(at, 'a schema must not contain itself');
    if (above.size > MAX_DEPTH / 2)
      return forbidden(path, `a schema must not nest more than ${MAX_DEPTH / 2} levels deep`);
    rules += schema['x-kubernetes-validations']?.length ?? 0;
    if (rules > MAX_RULES)
      return forbidden(path, `a schema must not have more than ${MAX_RULES} x-kubernetes-validations`);
    above.add(schema);
    for (const [child, childPath] of partsOf(schema, at)) {
      const fault = walk(child, childPath);
      if (fault !== undefined) return fault;
    }
    above.delete(schema);
    return undefined;
  };
  return walk(root, path);
}

function partsOf(schema: JsonSchema, path: string): [JsonSchema, string][] {
  const { items, additionalProperties } = schema;
  const parts: [JsonSchema, string][] = alternativesOf(schema, path).map(([each, at]) => [each, at]);
  if (items !== undefined) parts.push([items, `${path}.items`]);
  if (typeof additionalProperties === 'object') parts.push([additionalProperties, `${path}.additionalProperties`]);
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    parts.push([property, `${path}.properties[${name}]`]);
  }
  return parts;
}

const byText = (a: FieldError, b: FieldError): number => {
  const [left, right] = [`${a.field}: ${fieldMessage(a)}`, `${b.field}: ${fieldMessage(b)}`];
  return left < right ? -1 : Number(left > right);
};
