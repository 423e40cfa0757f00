import type { JsonSchema } from '../../../api/json-schema.ts';
import type { FieldError } from '../../../api/status.ts';
import { forbidden, invalid, notSupported, required } from './schema-fault.ts';

/** What the type of a list demands of the list and of its items. */
export function listFaults(schema: JsonSchema, path: string): FieldError[] {
  const faults: FieldError[] = [];
  const listType: string | undefined = schema['x-kubernetes-list-type'];
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const at = `${path}.x-kubernetes-list-type`;
  if (listType !== undefined) {
    const rule = 'must be array if x-kubernetes-list-type is specified';
    if (schema.type === undefined) faults.push(required(`${path}.type`, rule));
    else if (schema.type !== 'array') faults.push(invalid(`${path}.type`, schema.type, rule));
    else if (listType === 'set') faults.push(...setFaults(schema, path));
    if (!['atomic', 'set', 'map'].includes(listType)) faults.push(notSupported(at, listType, ['atomic', 'set', 'map']));
  }
  if (keys.length > 0 && listType !== 'map') {
    const rule = 'must be map if x-kubernetes-list-map-keys is non-empty';
    faults.push(listType === undefined ? required(at, rule) : invalid(at, listType, rule));
  }
  if (listType === 'map') faults.push(...mapFaults(schema, path, keys));
  if ((listType === 'map' || listType === 'set') && schema.items?.nullable === true) {
    faults.push(forbidden(`${path}.items.nullable`, `cannot be nullable when x-kubernetes-list-type is ${listType}`));
  }
  return faults;
}

/** Items of a set are told apart as wholes. */
function setFaults({ items }: JsonSchema, path: string): FieldError[] {
  const rule = 'must be atomic as item of a list with x-kubernetes-list-type=set';
  const listType = items?.['x-kubernetes-list-type'];
  const mapType = items?.['x-kubernetes-map-type'];
  if (items?.type === 'array' && listType !== undefined && listType !== 'atomic') {
    return [invalid(`${path}.items.x-kubernetes-list-type`, listType, rule)];
  }
  return items?.type === 'object' && mapType !== 'atomic'
    ? [invalid(`${path}.items.x-kubernetes-map-type`, mapType, rule)]
    : [];
}

/** Items of a map are told apart by fields that every item has. */
function mapFaults({ items }: JsonSchema, path: string, keys: readonly string[]): FieldError[] {
  const faults: FieldError[] = [];
  const at = `${path}.x-kubernetes-list-map-keys`;
  if (keys.length === 0) faults.push(required(at, 'must not be empty if x-kubernetes-list-type is map'));
  if (items === undefined) {
    faults.push(required(`${path}.items`, 'must have a schema if x-kubernetes-list-type is map'));
    return faults;
  }
  if (items.type !== 'object') {
    const rule = "must be object if parent array's x-kubernetes-list-type is map";
    faults.push(invalid(`${path}.items.type`, items.type ?? '', rule));
    return faults;
  }
  const { properties = {} } = items;
  const requiredNames = new Set(items.required);
  if (new Set(keys).size < keys.length) faults.push(invalid(at, keys, 'must not contain duplicate entries'));
  for (const key of keys) {
    const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (property === undefined) {
      faults.push(invalid(at, keys, 'entries must all be names of item properties'));
      continue;
    }
    const field = `${path}.items.properties[${key}]`;
    if (property.type === 'array' || property.type === 'object') {
      const rule = "must be a scalar type if parent array's x-kubernetes-list-type is map";
      faults.push(invalid(`${field}.type`, property.type, rule));
    }
    if (property.default === undefined && !requiredNames.has(key)) {
      const rule =
        'this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property';
      faults.push(required(`${field}.default`, rule));
    }
    if (property.nullable === true) {
      const rule = 'this property is in x-kubernetes-list-map-keys, so it cannot be nullable';
      faults.push(forbidden(`${field}.nullable`, rule));
    }
  }
  return faults;
}
