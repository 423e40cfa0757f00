import type { JsonSchema } from '../../../api/json-schema.ts';
import type { FieldError } from '../../../api/status.ts';
import type { Faults } from '../faults.ts';
import { alternativesOf } from './alternatives.ts';
import { listFaults } from './lists.ts';
import { compileFaults, ruleTextFaults } from './rules.ts';
import { forbidden, invalid, notSupported, required } from './schema-fault.ts';

export interface OpenApiFaults {
  readonly schema: Faults;
  /** Of CEL rules, which are compiled only where the schema around them is sound. */
  readonly rules: Faults;
}

/** What is inherited from the nodes above. */
export interface Surroundings {
  readonly isRoot?: boolean;
  readonly insideMetadata?: boolean;
  /** Why no default may be here. */
  readonly noDefaults?: string;
  /** The list whose items cannot be found in its old value: below it, no rule may ask for one. */
  readonly uncorrelatable?: string;
  readonly compilesRules: boolean;
}

const TYPES = ['array', 'boolean', 'integer', 'number', 'object', 'string'];
const RESOURCE_FIELDS = new Set(['metadata', 'kind', 'apiVersion']);
/** Keywords of other dialects. */
const UNSUPPORTED = ['id', 'additionalItems', 'patternProperties', 'definitions', 'dependencies', '$ref'];

/** What of OpenAPI a definition may use, node by node. */
export function checkOpenApi(schema: JsonSchema, path: string, faults: OpenApiFaults, around: Surroundings): void {
  const before = faults.schema.list.length;
  faults.schema.addEach(ownFaults(schema, path, around));
  const descend = (child: JsonSchema, childPath: string, changed: Partial<Surroundings>): void =>
    checkOpenApi(child, childPath, faults, { ...around, isRoot: false, ...changed });
  const { additionalProperties, items } = schema;
  if (typeof additionalProperties === 'object') {
    const why = 'inside additionalProperties applying to object metadata';
    descend(additionalProperties, `${path}.additionalProperties`, around.insideMetadata ? { noDefaults: why } : {});
  }
  const isResource = around.isRoot === true || schema['x-kubernetes-embedded-resource'] === true;
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const isMetadata = isResource && RESOURCE_FIELDS.has(name);
    descend(property, `${path}.properties[${name}]`, {
      ...(isMetadata ? { insideMetadata: true } : {}),
      ...(isMetadata && around.isRoot ? { noDefaults: `in top-level ${name}` } : {}),
    });
  }
  for (const [alternative, at] of alternativesOf(schema, path)) descend(alternative, at, { compilesRules: false });
  if (items !== undefined && !Array.isArray(items)) {
    const isKeyed = schema['x-kubernetes-list-type'] === 'map';
    descend(items, `${path}.items`, isKeyed ? {} : { uncorrelatable: around.uncorrelatable ?? path });
  }
  faults.schema.addEach(listFaults(schema, path));
  faults.schema.addEach(ruleTextFaults(schema, path));
  if (around.compilesRules && faults.schema.list.length === before && !faults.schema.isFull) {
    const { uncorrelatable } = around;
    faults.rules.addEach(compileFaults(schema, path, { isResource, uncorrelatable }));
  }
}

function ownFaults(schema: JsonSchema, path: string, around: Surroundings): FieldError[] {
  const faults: FieldError[] = [];
  const type: string | undefined = schema.type;
  if (type === 'null') {
    faults.push(forbidden(`${path}.type`, 'type cannot be set to null, use nullable as an alternative'));
  } else if (type !== undefined && !TYPES.includes(type)) faults.push(notSupported(`${path}.type`, type, TYPES));
  if (schema.default !== undefined && around.noDefaults !== undefined) {
    faults.push(forbidden(`${path}.default`, `must not be set ${around.noDefaults}`));
  }
  for (const keyword of UNSUPPORTED) {
    if (keyword in schema) faults.push(forbidden(`${path}.${keyword}`, `${keyword} is not supported`));
  }
  if (Array.isArray(schema.items)) {
    faults.push(forbidden(`${path}.items`, 'items must be a schema object and not an array'));
  }
  if (around.insideMetadata && schema['x-kubernetes-embedded-resource']) {
    faults.push(forbidden(`${path}.x-kubernetes-embedded-resource`, 'must not be used inside of resource meta'));
  }
  if (schema.uniqueItems === true) {
    const why = 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic';
    faults.push(forbidden(`${path}.uniqueItems`, why));
  }
  const { additionalProperties, properties = {} } = schema;
  if (additionalProperties !== undefined && additionalProperties !== true && Object.keys(properties).length > 0) {
    faults.push(forbidden(`${path}.additionalProperties`, 'additionalProperties and properties are mutual exclusive'));
  }
  if (schema['x-kubernetes-preserve-unknown-fields'] === false) {
    faults.push(invalid(`${path}.x-kubernetes-preserve-unknown-fields`, false, 'must be true or undefined'));
  }
  return [...faults, ...mapTypeFaults(schema, path)];
}

function mapTypeFaults(schema: JsonSchema, path: string): FieldError[] {
  const mapType: string | undefined = schema['x-kubernetes-map-type'];
  if (mapType === undefined) return [];
  const faults: FieldError[] = [];
  const rule = 'must be object if x-kubernetes-map-type is specified';
  if (schema.type === undefined) faults.push(required(`${path}.type`, rule));
  else if (schema.type !== 'object') faults.push(invalid(`${path}.type`, schema.type, rule));
  if (mapType !== 'atomic' && mapType !== 'granular') {
    faults.push(notSupported(`${path}.x-kubernetes-map-type`, mapType, ['atomic', 'granular']));
  }
  return faults;
}
