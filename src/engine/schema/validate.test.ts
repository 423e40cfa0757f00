import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Json } from '../../api/json.ts';
import type { JsonSchema } from '../../api/json-schema.ts';
import { fieldMessage } from '../../api/status.ts';
import { arbitraryJson, arbitrarySchema } from './arbitrary.fixture.ts';
import { applyDefaults } from './defaults.ts';
import { MAX_DEPTH } from './depth.ts';
import { prune } from './prune.ts';
import { validate } from './validate.ts';

/** Faults as the API tells them. */
const told = (value: Json, schema: JsonSchema, old?: Json): string[] =>
  validate(value, schema, { old }).map((fault) => `${fault.field}: ${fieldMessage(fault)}`);
const spec = (schema: JsonSchema): JsonSchema => ({ type: 'object', properties: { spec: schema } });
const object = (properties: Record<string, JsonSchema>, more: JsonSchema = {}): JsonSchema => ({
  type: 'object',
  properties,
  ...more,
});

for (const [what, schema, value, ...faults] of [
  [
    'a value of another type',
    { type: 'integer' },
    'x',
    'spec: Invalid value: "string": spec in body must be of type integer: "string"',
  ],
  [
    'a fraction where an integer should be',
    { type: 'integer' },
    1.5,
    'spec: Invalid value: "number": spec in body must be of type integer: "number"',
  ],
  [
    'a list where an object should be',
    { type: 'object' },
    [],
    'spec: Invalid value: "array": spec in body must be of type object: "array"',
  ],
  [
    'a null that may not be',
    { type: 'string' },
    null,
    'spec: Invalid value: "null": spec in body must be of type string: "null"',
  ],
  ['a null that may be', { type: 'string', nullable: true, minLength: 1 }, null],
  ['an integer where a number should be', { type: 'number' }, 1],
  [
    'an integer or string that is neither',
    { 'x-kubernetes-int-or-string': true },
    true,
    'spec: Invalid value: "boolean": spec in body must be of type integer,string: "boolean"',
  ],
  [
    'an integer or string',
    { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
    '10%',
  ],
  [
    'a value that is not listed',
    { type: 'string', enum: ['a', 'b'] },
    'c',
    'spec: Unsupported value: "c": supported values: "a", "b"',
  ],
  [
    'a number that is not listed',
    { type: 'integer', enum: [1, 2] },
    3,
    'spec: Unsupported value: 3: supported values: "1", "2"',
  ],
  [
    'a null beside an enum',
    { type: 'string', enum: ['a'], nullable: true },
    null,
    'spec: Unsupported value: "null": supported values: "a"',
  ],
  [
    'too large a number',
    { type: 'integer', maximum: 4094 },
    4095,
    'spec: Invalid value: 4095: spec in body should be less than or equal to 4094',
  ],
  [
    'a number at an excluded maximum',
    { type: 'number', maximum: 1, exclusiveMaximum: true },
    1,
    'spec: Invalid value: 1: spec in body should be less than 1',
  ],
  [
    'too small a number',
    { type: 'integer', minimum: 1 },
    0,
    'spec: Invalid value: 0: spec in body should be greater than or equal to 1',
  ],
  [
    'a number at an excluded minimum',
    { type: 'number', minimum: 1, exclusiveMinimum: true },
    1,
    'spec: Invalid value: 1: spec in body should be greater than 1',
  ],
  [
    'a number that is no multiple',
    { type: 'number', multipleOf: 0.1 },
    0.35,
    'spec: Invalid value: 0.35: spec in body should be a multiple of 0.1',
  ],
  ['a number that is a multiple but for rounding', { type: 'number', multipleOf: 0.1 }, 0.3],
  ['too long a text', { type: 'string', maxLength: 2 }, 'abc', 'spec: Too long: may not be more than 2 bytes'],
  ['a text of few but long characters', { type: 'string', maxLength: 2 }, '😀😀'],
  [
    'too short a text',
    { type: 'string', minLength: 2 },
    '😀',
    'spec: Invalid value: "😀": spec in body should be at least 2 chars long',
  ],
  [
    'a text that does not match',
    { type: 'string', pattern: '^[a-z]+$' },
    'A',
    `spec: Invalid value: "A": spec in body should match '^[a-z]+$'`,
  ],
  [
    'a text that lacks its format',
    { type: 'string', format: 'ipv4' },
    'x',
    'spec: Invalid value: "x": spec in body must be of type ipv4: "x"',
  ],
  ['a format that nobody checks', { type: 'string', format: 'color-of-day' }, 'x'],
  [
    'too few items',
    { type: 'array', minItems: 1 },
    [],
    'spec: Invalid value: 0: spec in body should have at least 1 items',
  ],
  ['too many items', { type: 'array', maxItems: 1 }, [1, 2], 'spec: Too many: 2: must have at most 1 items'],
  [
    'repeated items',
    { type: 'array', uniqueItems: true },
    [
      { a: 1, b: 2 },
      { b: 2, a: 1 },
    ],
    `spec: Invalid value: "": spec in body shouldn't contain duplicates`,
  ],
  [
    'too few fields',
    { type: 'object', minProperties: 1 },
    {},
    'spec: Invalid value: 0: spec in body should have at least 1 properties',
  ],
  [
    'too many fields',
    { type: 'object', maxProperties: 1 },
    { a: 1, b: 2 },
    'spec: Too many: 2: must have at most 1 items',
  ],
  ['a missing field', { type: 'object', required: ['a'] }, {}, 'spec.a: Required value'],
  [
    'a field that may not be',
    { type: 'object', additionalProperties: false },
    { a: 1 },
    'spec: Invalid value: "a": spec.a in body is a forbidden property',
  ],
  [
    'a wrong value in a map',
    { type: 'object', additionalProperties: { type: 'string' } },
    { a: 1 },
    'spec.a: Invalid value: "integer": spec.a in body must be of type string: "integer"',
  ],
  [
    'a wrong item',
    { type: 'array', items: { type: 'string' } },
    ['a', 1],
    'spec[1]: Invalid value: "integer": spec[1] in body must be of type string: "integer"',
  ],
  [
    'a failing allOf',
    { type: 'integer', allOf: [{ minimum: 1 }, { maximum: 5 }] },
    9,
    'spec: Invalid value: 9: spec in body should be less than or equal to 5',
    '<nil>: Invalid value: "": "spec" must validate all the schemas (allOf)',
  ],
  [
    'a failing anyOf, with the faults of what fits best',
    { type: 'object', anyOf: [object({ a: { type: 'string' } }, { required: ['z'] }), { type: 'string' }] },
    { a: 'x' },
    '<nil>: Invalid value: "": "spec" must validate at least one schema (anyOf)',
    'spec.z: Required value',
  ],
  [
    'a oneOf that nothing fits',
    { type: 'object', oneOf: [{ required: ['a'] }, { required: ['b'] }] },
    {},
    '<nil>: Invalid value: "": "spec" must validate one and only one schema (oneOf). Found none valid',
    'spec.a: Required value',
  ],
  [
    'a oneOf that two fit',
    { type: 'object', oneOf: [{ required: ['a'] }, { required: ['b'] }] },
    { a: 1, b: 1 },
    '<nil>: Invalid value: "": "spec" must validate one and only one schema (oneOf). Found 2 valid alternatives',
  ],
  [
    'what may not be',
    { type: 'string', not: { enum: ['a'] } },
    'a',
    '<nil>: Invalid value: "": "spec" must not validate the schema (not)',
  ],
  [
    'a repeated item of a set',
    { type: 'array', 'x-kubernetes-list-type': 'set' },
    ['a', 'b', 'a', 'a'],
    'spec[2]: Duplicate value: "a"',
  ],
  [
    'a repeated key of a map',
    { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k', 'l'] },
    [
      { k: 1, l: 2, v: 1 },
      { k: 1, l: 3 },
      { l: 2, k: 1 },
    ],
    'spec[2]: Duplicate value: {"k":1,"l":2}',
  ],
] as [string, JsonSchema, Json, ...string[]][]) {
  test(`${what} is ${faults.length === 0 ? 'fine' : 'a fault'}`, () => {
    assert.deepEqual(told({ spec: value }, spec(schema)), faults);
  });
}

test('a fault of the whole value is about no field', () => {
  assert.deepEqual(told('x', { type: 'object' }), [
    '<nil>: Invalid value: "string":  in body must be of type object: "string"',
  ]);
});

test('keys of maps are written in brackets where lists are judged, as kube-apiserver does', () => {
  const lists: JsonSchema = { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' };
  const schema = spec({ type: 'object', additionalProperties: lists });
  assert.deepEqual(told({ spec: { k: ['a', 'a', 1] } }, schema), [
    'spec.k[2]: Invalid value: "integer": spec.k[2] in body must be of type string: "integer"',
    'spec[k][1]: Duplicate value: "a"',
  ]);
});

test('names that every object inherits satisfy no requirement', () => {
  assert.deepEqual(told({}, object({}, { required: ['constructor', '__proto__'] })), [
    'constructor: Required value',
    '__proto__: Required value',
  ]);
});

test('an embedded object must be one', () => {
  const schema = object({ template: { type: 'object', 'x-kubernetes-embedded-resource': true } });
  assert.deepEqual(told({ template: {} }, schema), [
    'template.apiVersion: Required value: must not be empty',
    'template.kind: Required value: must not be empty',
  ]);
  assert.deepEqual(
    told({ template: { apiVersion: 'a/b/c', kind: '', metadata: { name: 'a/b', labels: { x: 1 } } } }, schema),
    [
      'template.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
      'template.kind: Invalid value: "": must not be empty',
      `template.metadata.name: Invalid value: "a/b": may not contain '/'`,
      'template.metadata.labels.x: Invalid value: 1: must be a string',
    ],
  );
  assert.deepEqual(told({ template: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x' } } }, schema), []);
});

const LIMITED = object({
  spec: object({
    name: { type: 'string', maxLength: 2 },
    other: { type: 'string', maxLength: 2 },
    plain: { type: 'array', items: { type: 'integer' } },
    byName: {
      type: 'array',
      items: object({ name: { type: 'string' }, port: { type: 'integer', maximum: 9 }, x: { type: 'integer' } }),
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
    },
    set: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
  }),
});

test('what was wrong before and did not change is no fault of an update', () => {
  assert.deepEqual(told({ spec: { name: 'long', other: 'a' } }, LIMITED, { spec: { name: 'long' } }), []);
  assert.deepEqual(told({ spec: { name: 'longer' } }, LIMITED, { spec: { name: 'long' } }), [
    'spec.name: Too long: may not be more than 2 bytes',
  ]);
});

test('items of a list with keys are compared with what they were, wherever they stand', () => {
  const old = {
    spec: {
      byName: [
        { name: 'a', port: 10 },
        { name: 'b', port: 11 },
      ],
    },
  };
  const moved = {
    spec: {
      byName: [
        { name: 'b', port: 11 },
        { name: 'c', port: 1 },
        { name: 'a', port: 10, x: 1 },
      ],
    },
  };
  assert.deepEqual(told(moved, LIMITED, old), []);
  assert.deepEqual(told({ spec: { byName: [{ name: 'b', port: 12 }] } }, LIMITED, old), [
    'spec.byName[0].port: Invalid value: 12: spec.byName[0].port in body should be less than or equal to 9',
  ]);
});

test('items of a plain list are compared with it as a whole', () => {
  const old = { spec: { plain: ['x', 1] } };
  assert.deepEqual(told({ spec: { plain: ['x', 1], other: 'a' } }, LIMITED, old), []);
  assert.equal(told({ spec: { plain: ['x', 2] } }, LIMITED, old).length, 1);
});

test('duplicates in lists are no fault of an update when there were some before', () => {
  const twice = { spec: { set: ['a', 'a'] } };
  assert.deepEqual(told(twice, LIMITED, twice), []);
  assert.equal(told(twice, LIMITED, { spec: { set: ['a'] } }).length, 1);
});

test('an unchanged object is always a valid update', () => {
  fc.assert(
    fc.property(arbitraryJson, arbitrarySchema, (value, schema) => {
      // Embedded objects are judged without regard to what they were.
      const withoutEmbedded = JSON.parse(JSON.stringify(schema).replaceAll('embedded-resource', 'x'));
      const wrapped = spec(withoutEmbedded);
      assert.deepEqual(validate({ spec: value }, wrapped, { old: { spec: structuredClone(value) } }), []);
    }),
  );
});

test('whatever the value and the schema, there is an answer', () => {
  fc.assert(
    fc.property(arbitraryJson, arbitraryJson, arbitrarySchema, (value, old, schema) => {
      for (const fault of validate(value, schema, { old })) {
        assert.equal(typeof fieldMessage(fault), 'string');
        assert.notEqual(fault.field, '');
      }
      prune(value, schema);
      applyDefaults(value, schema);
      assert.ok(Array.isArray(validate(value, schema)));
    }),
  );
});

test('a bottomless value is a fault', () => {
  const tree: JsonSchema = { type: 'array' };
  tree.items = tree;
  let deep: Json = [];
  for (let i = 0; i < 10 * MAX_DEPTH; i++) deep = [deep];
  assert.match(told(deep, tree).join(), /objects and lists may not be nested more than 400 levels deep/);
});

test('a schema that is its own alternative is a fault of the schema, not the end of the server', () => {
  const circular: JsonSchema = { type: 'object' };
  circular.allOf = [circular];
  assert.match(told({}, circular).join(), /may not be nested/);
});

test('of twenty thousand faults five hundred are listed', () => {
  const faults = told({ spec: Array(20_000).fill('x') }, spec({ type: 'array', items: { type: 'integer' } }));
  assert.equal(faults.length, 501);
  assert.equal(
    faults[500],
    '<nil>: Invalid value: "null": there are more faults than the 500 listed; correct these first',
  );
});

test('a set of fifty thousand items is judged at once', () => {
  const schema: JsonSchema = {
    type: 'array',
    items: { type: 'string' },
    uniqueItems: true,
    'x-kubernetes-list-type': 'set',
  };
  const start = performance.now();
  assert.deepEqual(
    told(
      Array.from({ length: 50_000 }, (_, i) => `${i}`),
      schema,
    ),
    [],
  );
  assert.ok(performance.now() - start < 3000);
});
