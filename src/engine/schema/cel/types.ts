import type { Environment } from '@marcbachmann/cel-js';
import type { Json } from '../../../api/json.ts';
import { isJsonObject } from '../../../api/json.ts';
import type { JsonSchema } from '../../../api/json-schema.ts';
import { parseDuration } from '../duration.ts';
import { isDate, isDateTime } from '../formats.ts';
import { durationOf, equalObjects } from './equality.ts';
import { escapeName } from './escape.ts';
import type { LazyField } from './lazy-object.ts';
import { LazyObject } from './lazy-object.ts';

/** What CEL takes the values of a schema node for: the name of the type, and how a value becomes one of it. */
export interface CelType {
  readonly name: string;
  /** A value that does not fit stays as it is: the evaluator then says so, where a rule uses it. */
  read(value: Json): unknown;
}

/**
 * The types of one schema, in one environment. Only fields whose names occur in the rules are declared: no others can be
 * asked for, and schemas have thousands.
 */
export class CelTypes {
  readonly #env: Environment;
  readonly #mentioned: ReadonlySet<string>;
  #count = 0;

  constructor(env: Environment, mentioned: ReadonlySet<string>) {
    this.#env = env;
    this.#mentioned = mentioned;
  }

  /** Undefined for what rules cannot see: values of which the schema does not say enough. */
  of(schema: JsonSchema, isResource = false): CelType | undefined {
    if (schema['x-kubernetes-int-or-string']) return INT_OR_STRING;
    switch (schema.type) {
      case 'array':
        return this.#list(schema);
      case 'object':
        return typeof schema.additionalProperties === 'object'
          ? this.#map(schema.additionalProperties)
          : this.#object(schema, isResource);
      case 'string':
        return STRING_FORMATS.get(schema.format ?? '') ?? STRING;
      case 'boolean':
        return BOOL;
      case 'number':
        return DOUBLE;
      case 'integer':
        return INT;
      default:
        return undefined;
    }
  }

  /** Of a value inside another. Where it may be null its type is left open, since no type has null among its values. */
  #member(schema: JsonSchema): CelType | undefined {
    const type = this.of(schema, schema['x-kubernetes-embedded-resource']);
    if (type === undefined || schema.nullable !== true) return type;
    return { name: 'dyn', read: (value) => (value === null ? null : type.read(value)) };
  }

  #list({ items }: JsonSchema): CelType | undefined {
    const item = items === undefined ? undefined : this.#member(items);
    if (item === undefined) return undefined;
    return { name: `list<${item.name}>`, read: (value) => (Array.isArray(value) ? value.map(item.read) : value) };
  }

  #map(values: JsonSchema): CelType | undefined {
    const member = this.#member(values);
    if (member === undefined) return undefined;
    return {
      name: `map<string, ${member.name}>`,
      read: (value) =>
        isJsonObject(value) ? new Map(Object.entries(value).map(([key, each]) => [key, member.read(each)])) : value,
    };
  }

  #object(schema: JsonSchema, isResource: boolean): CelType {
    const name = `Object${++this.#count}`;
    const fields = new Map<string, LazyField>();
    const types: Record<string, string> = Object.create(null);
    const properties = isResource ? { ...schema.properties, ...RESOURCE_FIELDS } : (schema.properties ?? {});
    for (const [property, propertySchema] of Object.entries(properties)) {
      const escaped = escapeName(property);
      if (escaped === undefined || !this.#mentioned.has(escaped)) continue;
      const type = this.#member(propertySchema);
      if (type === undefined) continue;
      fields.set(escaped, { name: property, read: type.read });
      types[escaped] = type.name;
    }
    class SchemaObject extends LazyObject {
      override get fields(): ReadonlyMap<string, LazyField> {
        return fields;
      }
    }
    this.#env.registerType(name, { ctor: SchemaObject, fields: types });
    this.#env.registerOperator(`${name} == ${name}`, equalObjects);
    return { name, read: (value) => (isJsonObject(value) ? new SchemaObject(value) : value) };
  }
}

/** Every identifier in the text of rules, and more: what stands in strings and comments too. */
export const identifiersIn = (texts: readonly string[]): Set<string> =>
  new Set(texts.flatMap((text) => text.match(/[A-Za-z_][A-Za-z0-9_]*/g) ?? []));

/** What rules can see of every whole object, whatever its schema says. */
const RESOURCE_FIELDS: Record<string, JsonSchema> = {
  apiVersion: { type: 'string' },
  kind: { type: 'string' },
  metadata: { type: 'object', properties: { name: { type: 'string' }, generateName: { type: 'string' } } },
};

const asItIs = (value: Json): unknown => value;
const whole = (value: Json): unknown => (typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : value);
const text = (convert: (text: string) => unknown) => (value: Json) =>
  typeof value === 'string' ? (convert(value) ?? value) : value;

const STRING: CelType = { name: 'string', read: asItIs };
const BOOL: CelType = { name: 'bool', read: asItIs };
const DOUBLE: CelType = { name: 'double', read: asItIs };
const INT: CelType = { name: 'int', read: whole };
const INT_OR_STRING: CelType = { name: 'dyn', read: whole };

const STRING_FORMATS: ReadonlyMap<string, CelType> = new Map([
  ['byte', { name: 'bytes', read: text((encoded) => Buffer.from(encoded, 'base64')) }],
  ['duration', { name: 'google.protobuf.Duration', read: text(duration) }],
  ['date', { name: 'google.protobuf.Timestamp', read: text((day) => (isDate(day) ? new Date(day) : undefined)) }],
  ['date-time', { name: 'google.protobuf.Timestamp', read: text((at) => (isDateTime(at) ? new Date(at) : undefined)) }],
]);

function duration(written: string): unknown {
  const nanos = parseDuration(written);
  return nanos === undefined ? undefined : durationOf(nanos);
}
