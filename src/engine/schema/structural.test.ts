import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { JsonSchema, ValidationRule } from '../../api/json-schema.ts';
import { fieldMessage } from '../../api/status.ts';
import { arbitrarySchema } from './arbitrary.fixture.ts';
import { structuralFaults } from './structural.ts';

/** Of a root schema, with its path cut short. */
const told = (schema: JsonSchema): string[] =>
  structuralFaults(schema, 'S').map((fault) => `${fault.field}: ${fieldMessage(fault)}`);
/** Of a schema that stands at `spec`. */
const toldOf = (spec: JsonSchema): string[] => told({ type: 'object', properties: { spec } });
const withRules = (...rules: ValidationRule[]): JsonSchema => ({
  type: 'object',
  properties: { a: { type: 'string' } },
  'x-kubernetes-validations': rules,
});
/** What a client may send is not always what the type admits. */
const foreign = (schema: object): JsonSchema => JSON.parse(JSON.stringify(schema));

const AT = 'S.properties[spec]';
for (const [what, spec, ...faults] of [
  [
    'an object of scalars',
    { type: 'object', properties: { a: { type: 'string' }, b: { type: 'array', items: { type: 'integer' } } } },
  ],
  [
    'an integer or string',
    { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }], pattern: '^a$' },
  ],
  [
    'an integer or string within allOf',
    {
      'x-kubernetes-int-or-string': true,
      allOf: [{ anyOf: [{ type: 'integer' }, { type: 'string' }] }, { pattern: 'a' }],
    },
  ],
  ['an open object', { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }],
  [
    'an embedded resource',
    { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
  ],
  [
    'alternatives of restrictions',
    {
      type: 'object',
      properties: { a: { type: 'string' } },
      oneOf: [{ required: ['a'] }, { properties: { a: { pattern: 'x' } }, not: { required: ['a'] } }],
    },
  ],
  [
    'a node without a type',
    { properties: {} },
    `${AT}.type: Required value: must not be empty for specified object fields`,
  ],
  [
    'items without a type',
    { type: 'array', items: {} },
    `${AT}.items.type: Required value: must not be empty for specified array items`,
  ],
  ['a list without items', { type: 'array' }, `${AT}.items: Required value: must be specified`],
  [
    'an unknown type',
    foreign({ type: 'text' }),
    `${AT}.type: Unsupported value: "text": supported values: "array", "boolean", "integer", "number", "object", "string"`,
  ],
  [
    'the type null',
    foreign({ type: 'null' }),
    `${AT}.type: Forbidden: type cannot be set to null, use nullable as an alternative`,
  ],
  [
    'both kinds of fields',
    { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: { type: 'string' } },
    `${AT}.additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive`,
  ],
  [
    'unique items',
    { type: 'array', items: { type: 'string' }, uniqueItems: true },
    `${AT}.uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic`,
  ],
  [
    'a pattern that is none',
    { type: 'string', pattern: '(?=a)' },
    `${AT}.pattern: Invalid value: "(?=a)": must be a valid regular expression, but isn't: error parsing regexp: invalid or unsupported Perl syntax: \`(?=\``,
  ],
  ['a reference', foreign({ type: 'object', $ref: '#/x' }), `${AT}.$ref: Forbidden: $ref is not supported`],
  [
    'preserving switched off',
    { type: 'object', 'x-kubernetes-preserve-unknown-fields': false },
    `${AT}.x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or undefined`,
  ],
  [
    'int-or-string that is open',
    { 'x-kubernetes-int-or-string': true, 'x-kubernetes-preserve-unknown-fields': true },
    `${AT}.x-kubernetes-preserve-unknown-fields: Invalid value: true: must be false if x-kubernetes-int-or-string is true`,
  ],
  [
    'an embedded resource of nothing',
    { type: 'object', 'x-kubernetes-embedded-resource': true },
    `${AT}.properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields`,
  ],
  [
    'an embedded resource that is no object',
    { type: 'string', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
    `${AT}.type: Invalid value: "string": must be object if x-kubernetes-embedded-resource is true`,
  ],
  [
    'a type in an alternative',
    { type: 'object', anyOf: [{ type: 'object' }] },
    `${AT}.anyOf[0].type: Forbidden: must be empty to be structural`,
  ],
  [
    'a default in an alternative',
    {
      type: 'object',
      properties: { a: { type: 'string' } },
      allOf: [{ properties: { a: { default: 'x', nullable: true } } }],
    },
    `${AT}.allOf[0].properties[a].default: Forbidden: must be undefined to be structural`,
    `${AT}.allOf[0].properties[a].nullable: Forbidden: must be false to be structural`,
  ],
  [
    'a description in not',
    { type: 'string', not: { description: 'x' } },
    `${AT}.not.description: Forbidden: must be empty to be structural`,
  ],
  [
    'rules in an alternative',
    { type: 'string', allOf: [{ 'x-kubernetes-validations': [{ rule: 'true' }] }] },
    `${AT}.allOf[0].x-kubernetes-validations: Forbidden: must be empty to be structural`,
  ],
  [
    'metadata in an alternative',
    { type: 'object', properties: { metadata: { type: 'object' } }, allOf: [{ properties: { metadata: {} } }] },
    `${AT}.allOf[0].properties[metadata]: Forbidden: must not be specified in a nested context`,
  ],
  ['a set of scalars', { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' }],
  [
    'a set of granular objects',
    { type: 'array', items: { type: 'object' }, 'x-kubernetes-list-type': 'set' },
    `${AT}.items.x-kubernetes-map-type: Invalid value: "null": must be atomic as item of a list with x-kubernetes-list-type=set`,
  ],
  [
    'a set of nullable items',
    { type: 'array', items: { type: 'string', nullable: true }, 'x-kubernetes-list-type': 'set' },
    `${AT}.items.nullable: Forbidden: cannot be nullable when x-kubernetes-list-type is set`,
  ],
  [
    'a list type of no list',
    { type: 'string', 'x-kubernetes-list-type': 'set' },
    `${AT}.type: Invalid value: "string": must be array if x-kubernetes-list-type is specified`,
  ],
  [
    'an unknown list type',
    foreign({ type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'bag' }),
    `${AT}.x-kubernetes-list-type: Unsupported value: "bag": supported values: "atomic", "set", "map"`,
  ],
  [
    'a map without keys',
    { type: 'array', items: { type: 'object' }, 'x-kubernetes-list-type': 'map' },
    `${AT}.x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map`,
  ],
  [
    'a map of scalars',
    { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] },
    `${AT}.items.type: Invalid value: "string": must be object if parent array's x-kubernetes-list-type is map`,
  ],
  [
    'keys that are no fields',
    { type: 'array', items: { type: 'object' }, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] },
    `${AT}.x-kubernetes-list-map-keys: Invalid value: ["k"]: entries must all be names of item properties`,
  ],
  [
    'keys that may be missing',
    {
      type: 'array',
      items: { type: 'object', properties: { k: { type: 'string' }, l: { type: 'string', default: '' } } },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k', 'l'],
    },
    `${AT}.items.properties[k].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property`,
  ],
  [
    'keys of no map',
    { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-map-keys': ['k'] },
    `${AT}.x-kubernetes-list-type: Required value: must be map if x-kubernetes-list-map-keys is non-empty`,
  ],
  [
    'an unknown map type',
    foreign({ type: 'object', 'x-kubernetes-map-type': 'x' }),
    `${AT}.x-kubernetes-map-type: Unsupported value: "x": supported values: "atomic", "granular"`,
  ],
  ['a default', { type: 'object', properties: { a: { type: 'string' } }, default: { a: 'x' } }],
  [
    'a default of another type',
    { type: 'string', default: 1 },
    `${AT}.default: Invalid value: "integer":  in body must be of type string: "integer"`,
  ],
  [
    'a default with a wrong field',
    { type: 'object', properties: { a: { type: 'string', maxLength: 1 } }, default: { a: 'xx' } },
    `${AT}.default.a: Too long: may not be more than 1 bytes`,
  ],
  [
    'a default with unknown fields',
    { type: 'object', properties: {}, default: { a: 'x' } },
    `${AT}.default: Invalid value: {"a":"x"}: must not have unknown fields`,
  ],
  [
    'a default against the rules',
    { type: 'integer', default: 1, 'x-kubernetes-validations': [{ rule: 'self > 1', message: 'more' }] },
    `${AT}.default: Invalid value: "integer": more`,
  ],
] as [string, JsonSchema, ...string[]][]) {
  test(`${what} is ${faults.length === 0 ? 'structural' : 'refused'}`, () => assert.deepEqual(toldOf(spec), faults));
}

test('the root is an object', () => {
  assert.deepEqual(told({}), ['S.type: Required value: must not be empty at the root']);
  assert.deepEqual(told({ type: 'array', items: { type: 'string' } }), [
    'S.type: Invalid value: "array": must be object at the root',
  ]);
  assert.deepEqual(told({ type: 'object', additionalProperties: { type: 'string' } }), [
    'S.additionalProperties: Forbidden: must not be used at the root',
  ]);
  assert.deepEqual(told({ type: 'object', nullable: true }), [
    'S.nullable: Forbidden: nullable cannot be true at the root',
  ]);
});

test('metadata at the root may restrict names only', () => {
  const metadata = (schema: JsonSchema) => told({ type: 'object', properties: { metadata: schema } });
  assert.deepEqual(metadata({ type: 'object' }), []);
  assert.deepEqual(metadata({ type: 'object', properties: { name: { type: 'string', maxLength: 5 } } }), []);
  const refusal =
    'S.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified';
  assert.deepEqual(metadata({ type: 'object', properties: { labels: { type: 'object' } } }), [refusal]);
  assert.deepEqual(metadata({ type: 'object', required: ['name'] }), [refusal]);
  assert.deepEqual(told({ type: 'object', properties: { kind: { type: 'integer' } } }), [
    'S.properties[kind].type: Invalid value: "integer": must be string',
  ]);
});

test('no default may be set for what every object has', () => {
  assert.deepEqual(told({ type: 'object', properties: { kind: { type: 'string', default: 'A' } } }), [
    'S.properties[kind].default: Forbidden: must not be set in top-level kind',
  ]);
});

test('alternatives at the root speak of known fields only', () => {
  assert.deepEqual(told({ type: 'object', anyOf: [{ properties: { x: {} } }] }), [
    'S.properties[x]: Required value: because it is defined in S.anyOf[0].properties[x]',
  ]);
});

const RULE = `${AT}.x-kubernetes-validations[0]`;
for (const [what, rule, ...faults] of [
  [
    'a rule',
    {
      rule: 'self.a != ""',
      message: 'm',
      reason: 'FieldValueRequired',
      fieldPath: '.a',
      messageExpression: '"x" + self.a',
    },
  ],
  ['an empty rule', { rule: ' ' }, `${RULE}.rule: Required value: rule is not specified`],
  [
    'an empty message',
    { rule: 'true', message: ' ' },
    `${RULE}.message: Invalid value: " ": message must be non-empty if specified`,
  ],
  [
    'a message of two lines',
    { rule: 'true', message: 'a\nb' },
    `${RULE}.message: Invalid value: "a\\nb": message must not contain line breaks`,
  ],
  [
    'a rule of two lines without a message',
    { rule: 'true\n|| false' },
    `${RULE}.message: Required value: message must be specified if rule contains line breaks`,
  ],
  [
    'an unknown reason',
    foreign({ rule: 'true', reason: 'X' }) as ValidationRule,
    `${RULE}.reason: Unsupported value: "X": supported values: "FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"`,
  ],
  [
    'a path to nowhere',
    { rule: 'true', fieldPath: '.b' },
    `${RULE}.fieldPath: Invalid value: ".b": fieldPath must be a valid path`,
  ],
  [
    'a rule that does not compile',
    { rule: 'self.b' },
    `${RULE}.rule: Invalid value: {"rule":"self.b"}: compilation failed: ERROR: <input>:1:6: undefined field 'b'\n | self.b\n | .....^`,
  ],
  [
    'a rule that is no bool',
    { rule: 'self.a' },
    `${RULE}.rule: Invalid value: {"rule":"self.a"}: cel expression must evaluate to a bool`,
  ],
  [
    'a message that is no string',
    { rule: 'true', messageExpression: '1' },
    `${RULE}.messageExpression: Invalid value: {"rule":"true","messageExpression":"1"}: messageExpression must evaluate to a string`,
  ],
  [
    'an optional old value that is not used',
    { rule: 'true', optionalOldSelf: true },
    `${RULE}.optionalOldSelf: Invalid value: true: may not be set if oldSelf is not used in rule`,
  ],
  ['an optional old value', { rule: '!oldSelf.hasValue() || oldSelf.value().a == self.a', optionalOldSelf: true }],
] as [string, ValidationRule, ...string[]][]) {
  test(`${what} is ${faults.length === 0 ? 'accepted' : 'refused'}`, () =>
    assert.deepEqual(toldOf(withRules(rule)), faults));
}

test('no rule may ask for an old value where items cannot be told apart', () => {
  const item = withRules({ rule: 'self == oldSelf' });
  assert.deepEqual(toldOf({ type: 'array', items: item }), [
    `${AT}.items.x-kubernetes-validations[0].rule: Invalid value: "self == oldSelf": oldSelf cannot be used on the uncorrelatable portion of the schema within ${AT}`,
  ]);
  const keyed: JsonSchema = {
    type: 'array',
    items: { ...item, required: ['a'] },
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['a'],
  };
  assert.deepEqual(toldOf(keyed), []);
});

test('rules of the whole object see its metadata', () => {
  assert.deepEqual(
    told({ ...withRules({ rule: 'self.metadata.name.size() < 9' }), properties: { metadata: { type: 'object' } } }),
    [],
  );
});

test('rules are compiled once the schema is sound', () => {
  const [fault, ...others] = toldOf({ ...withRules({ rule: 'nonsense' }), uniqueItems: true });
  assert.match(fault ?? '', /uniqueItems/);
  assert.deepEqual(others, []);
});

test('schemas that would be endless are refused', () => {
  const circular: JsonSchema = { type: 'object', properties: {} };
  circular.properties = { again: circular };
  assert.deepEqual(told(circular), ['S.properties[again]: Forbidden: a schema must not contain itself']);
  let deep: JsonSchema = { type: 'string' };
  for (let i = 0; i < 5000; i++) deep = { type: 'array', items: deep };
  assert.deepEqual(toldOf(deep), ['S: Forbidden: a schema must not nest more than 200 levels deep']);
  assert.deepEqual(toldOf(withRules(...Array(2001).fill({ rule: 'true' }))), [
    'S: Forbidden: a schema must not have more than 2000 x-kubernetes-validations',
  ]);
});

test('thousands of faults are survived', () => {
  const properties = Object.fromEntries(
    Array.from({ length: 5_000 }, (_, i) => [`f${i}`, { anyOf: [{ type: 'string' }] }]),
  );
  assert.equal(
    toldOf(foreign({ type: 'object', properties, anyOf: Array(5_000).fill({ type: 'string' }) })).length,
    501,
  );
});

test('whatever the schema, there is an answer', () => {
  fc.assert(
    fc.property(arbitrarySchema, (schema) => {
      assert.ok(Array.isArray(toldOf(schema)));
    }),
  );
});
