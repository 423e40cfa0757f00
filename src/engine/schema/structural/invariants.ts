import type { JsonSchema } from '../../../api/json-schema.ts';
import type { FieldError } from '../../../api/status.ts';
import type { Faults } from '../faults.ts';
import { checkAlternatives, isEmptyExcept, patternFaults } from './alternatives.ts';
import { forbidden, invalid, required } from './schema-fault.ts';

type Level = 'root' | 'item' | 'field';

/** Whether every node on the way to a value says what the value is: what makes a schema structural. */
export function checkInvariants(schema: JsonSchema, path: string, faults: Faults, level: Level = 'root'): void {
  const { type, items, properties = {}, additionalProperties } = schema;
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true;
  if (type === 'array' && items === undefined) faults.add(required(`${path}.items`, 'must be specified'));
  if (items !== undefined) checkInvariants(items, `${path}.items`, faults, 'item');
  for (const [name, property] of Object.entries(properties)) {
    checkInvariants(property, `${path}.properties[${name}]`, faults, 'field');
  }
  if (additionalProperties !== undefined) {
    const at = `${path}.additionalProperties`;
    if (level === 'root') faults.add(forbidden(at, 'must not be used at the root'));
    if (isEmbedded) faults.add(forbidden(at, 'must not be used if x-kubernetes-embedded-resource is set'));
    if (typeof additionalProperties === 'object') checkInvariants(additionalProperties, at, faults, 'field');
  }
  faults.addEach(extensionFaults(schema, path));
  faults.addEach(typeFaults(schema, path, level));
  faults.addEach(patternFaults(schema, path));
  faults.addEach(resourceFaults(schema, path, level));
  checkAlternatives(schema, path, faults);
  const preserves = schema['x-kubernetes-preserve-unknown-fields'] === true;
  if (isEmbedded && !preserves && Object.keys(properties).length === 0) {
    const why =
      'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields';
    faults.add(required(`${path}.properties`, why));
  }
}

function extensionFaults(schema: JsonSchema, path: string): FieldError[] {
  if (schema['x-kubernetes-int-or-string'] !== true) return [];
  return (['x-kubernetes-preserve-unknown-fields', 'x-kubernetes-embedded-resource'] as const)
    .filter((extension) => schema[extension] === true)
    .map((extension) => invalid(`${path}.${extension}`, true, 'must be false if x-kubernetes-int-or-string is true'));
}

const UNTYPED: Readonly<Record<Level, string>> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
};

function typeFaults(schema: JsonSchema, path: string, level: Level): FieldError[] {
  const { type } = schema;
  const at = `${path}.type`;
  if (schema['x-kubernetes-embedded-resource'] === true && type !== 'object') {
    const rule = 'must be object if x-kubernetes-embedded-resource is true';
    return [type === undefined ? required(at, rule) : invalid(at, type, rule)];
  }
  if (type === undefined) {
    const isOpen = schema['x-kubernetes-int-or-string'] || schema['x-kubernetes-preserve-unknown-fields'];
    return isOpen ? [] : [required(at, UNTYPED[level])];
  }
  return level === 'root' && type !== 'object' ? [invalid(at, type, 'must be object at the root')] : [];
}

/** A whole object has a kind, an apiVersion and metadata like every other; of metadata, only the name can be restricted. */
function resourceFaults(schema: JsonSchema, path: string, level: Level): FieldError[] {
  const faults: FieldError[] = [];
  const isResource = level === 'root' || schema['x-kubernetes-embedded-resource'] === true;
  const { properties = {} } = schema;
  if (isResource) {
    for (const name of ['kind', 'apiVersion']) {
      const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
      if (property !== undefined && property.type !== 'string') {
        faults.push(invalid(`${path}.properties[${name}].type`, property.type ?? '', 'must be string'));
      }
    }
  }
  const metadata = Object.hasOwn(properties, 'metadata') ? properties['metadata'] : undefined;
  if (metadata === undefined) return faults;
  const at = `${path}.properties[metadata]`;
  if (isResource && metadata.type !== 'object')
    faults.push(invalid(`${at}.type`, metadata.type ?? '', 'must be object'));
  if (level === 'root' && !restrictsNameOnly(metadata)) {
    faults.push(
      forbidden(at, 'must not specify anything other than name and generateName, but metadata is implicitly specified'),
    );
  }
  return faults;
}

const restrictsNameOnly = (metadata: JsonSchema): boolean =>
  isEmptyExcept(metadata, ['type', 'properties', 'default', 'externalDocs', 'example']) &&
  Object.keys(metadata.properties ?? {}).every((name) => name === 'name' || name === 'generateName');
