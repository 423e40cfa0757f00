import fc from 'fast-check';
import type { Json } from '../../api/json.ts';
import type { JsonSchema } from '../../api/json-schema.ts';

/** Few names, so that values and schemas meet. */
const name = fc.constantFrom('a', 'b', 'c', '__proto__', 'apiVersion', 'metadata');
const scalar: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom(null, true, 0, 1, -1, 1.5, 2 ** 53, '', 'a', 'ab', '10%', '2024-01-01', '😀'),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.string({ unit: 'binary', maxLength: 5 }),
);

/** As it comes from a body: `__proto__` is a key like any other. */
export const arbitraryJson: fc.Arbitrary<Json> = fc
  .letrec<{ json: Json }>((tie) => ({
    json: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      scalar,
      fc.array(tie('json'), { maxLength: 4 }),
      fc.array(fc.tuple(name, tie('json')), { maxLength: 4 }).map((members) => Object.fromEntries(members)),
    ),
  }))
  .json.map((value) => JSON.parse(JSON.stringify(value)));

const nullable = fc.option(fc.constant(true), { nil: undefined });
const bound = fc.option(fc.constantFrom(0, 1, 2, 3), { nil: undefined });
const record = (fields: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<JsonSchema> =>
  fc.record(fields).map((all) => JSON.parse(JSON.stringify(all)));

const scalarSchema: fc.Arbitrary<JsonSchema> = fc.oneof(
  record({
    type: fc.constant('string'),
    minLength: bound,
    maxLength: bound,
    pattern: fc.constantFrom(undefined, '^a', '[a-z]+$', '^(a|b)*$'),
    format: fc.constantFrom(undefined, 'date', 'ipv4', 'unknown'),
    enum: fc.constantFrom(undefined, ['a', 'b']),
    default: fc.constantFrom(undefined, 'a', 'zzzz'),
    nullable,
  }),
  record({
    type: fc.constantFrom('integer', 'number'),
    minimum: bound,
    maximum: bound,
    exclusiveMinimum: nullable,
    multipleOf: fc.constantFrom(undefined, 2, 0.1),
    default: fc.constantFrom(undefined, 1),
    nullable,
  }),
  record({ type: fc.constant('boolean'), default: fc.constantFrom(undefined, true), nullable }),
  fc.constant<JsonSchema>({ 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] }),
  fc.constant<JsonSchema>({ 'x-kubernetes-preserve-unknown-fields': true }),
);

/** Structural schemas; defaults are not necessarily valid. */
export const arbitrarySchema: fc.Arbitrary<JsonSchema> = fc.letrec<{
  schema: JsonSchema;
  fields: Record<string, JsonSchema>;
}>((tie) => ({
  fields: fc.array(fc.tuple(name, tie('schema')), { maxLength: 4 }).map((fields) => Object.fromEntries(fields)),
  schema: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    scalarSchema,
    record({
      type: fc.constant('object'),
      properties: tie('fields'),
      required: fc.constantFrom(undefined, ['a'], ['a', 'b']),
      default: fc.constantFrom(undefined, {}, { a: {} }),
      nullable,
      maxProperties: bound,
      not: fc.constantFrom(undefined, { required: ['c'] }),
      oneOf: fc.constantFrom(undefined, [{ required: ['a'] }, { required: ['b'] }]),
      'x-kubernetes-preserve-unknown-fields': nullable,
      'x-kubernetes-embedded-resource': nullable,
    }),
    record({
      type: fc.constant('object'),
      additionalProperties: tie('schema'),
      minProperties: bound,
      nullable,
    }),
    record({
      type: fc.constant('array'),
      items: tie('schema'),
      minItems: bound,
      maxItems: bound,
      uniqueItems: nullable,
      default: fc.constantFrom(undefined, [], [{}]),
      nullable,
      'x-kubernetes-list-type': fc.constantFrom(undefined, 'set', 'atomic'),
    }),
    tie('fields').map<JsonSchema>((properties) => ({
      type: 'array',
      items: { type: 'object', properties: { ...properties, a: { type: 'string', default: 'x' } }, required: ['b'] },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['a', 'b'],
    })),
  ),
})).schema;
