import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Json } from '../../../api/json.ts';
import type { JsonSchema, ValidationRule } from '../../../api/json-schema.ts';
import { fieldMessage } from '../../../api/status.ts';
import { arbitraryJson, arbitrarySchema } from '../arbitrary.fixture.ts';
import { validate } from '../validate.ts';
import { escapeName } from './escape.ts';
import { normalizedFieldPath } from './field-path.ts';

const told = (value: Json, schema: JsonSchema, old?: Json): string[] =>
  validate(value, schema, { old }).map((fault) => `${fault.field}: ${fieldMessage(fault)}`);
const object = (properties: Record<string, JsonSchema>, ...rules: ValidationRule[]): JsonSchema => ({
  type: 'object',
  properties,
  ...(rules.length > 0 ? { 'x-kubernetes-validations': rules } : {}),
});
const list = (items: JsonSchema, more: JsonSchema = {}): JsonSchema => ({ type: 'array', items, ...more });
const RANGE = object(
  { min: { type: 'integer' }, max: { type: 'integer', maximum: 100 } },
  { rule: 'self.min <= self.max', message: 'min may not be above max' },
);

test('a rule that does not hold is a fault of its node, with the type of the value', () => {
  assert.deepEqual(told({ spec: { min: 2, max: 1 } }, object({ spec: RANGE })), [
    'spec: Invalid value: "object": min may not be above max',
  ]);
  assert.deepEqual(told({ spec: { min: 1, max: 1 } }, object({ spec: RANGE })), []);
});

test('a rule without a message is told itself', () => {
  assert.deepEqual(
    told({ n: 1 }, object({ n: { type: 'integer', 'x-kubernetes-validations': [{ rule: ' self > 1 ' }] } })),
    ['n: Invalid value: "integer": failed rule: self > 1'],
  );
});

test('a rule of the whole object sees its name, and its faults are about no field', () => {
  const schema = object(
    { metadata: { type: 'object' }, spec: { type: 'object' } },
    { rule: 'self.metadata.name.startsWith("net-") && self.kind == "Net"', message: 'not my name' },
  );
  const named = (name: string) => ({ apiVersion: 'a/v1', kind: 'Net', metadata: { name }, spec: {} });
  assert.deepEqual(told(named('net-1'), schema), []);
  assert.deepEqual(told(named('x'), schema), ['<nil>: Invalid value: "object": not my name']);
});

test('rules are checked in items and values, which are named by index and key', () => {
  const schema = object({ list: list(RANGE), map: { type: 'object', additionalProperties: RANGE } });
  const bad = { min: 2, max: 1 };
  assert.deepEqual(told({ list: [{ min: 0, max: 0 }, bad], map: { k: bad } }, schema), [
    'list[1]: Invalid value: "object": min may not be above max',
    'map[k]: Invalid value: "object": min may not be above max',
  ]);
});

test('a message may be computed, and is fixed where computing fails', () => {
  const rule = {
    rule: 'self.size() < 3',
    messageExpression: '"%d are too many".format([self.size()])',
    message: 'fixed',
  };
  const schema = (messageExpression: string) =>
    object({ l: list({ type: 'string' }, { 'x-kubernetes-validations': [{ ...rule, messageExpression }] }) });
  const value = { l: ['a', 'b', 'c'] };
  assert.deepEqual(told(value, schema(rule.messageExpression)), ['l: Invalid value: "array": 3 are too many']);
  for (const unfit of ['self[9]', '""', '"two\\nlines"', `"${'x'.repeat(6000)}"`]) {
    assert.deepEqual(told(value, schema(unfit)), ['l: Invalid value: "array": fixed']);
  }
});

test('a reason says what kind of fault it is, and a path where', () => {
  const fault = (rule: Partial<ValidationRule>) =>
    told(
      { spec: { a: { b: 'x' } } },
      object({ spec: object({ a: object({ b: { type: 'string' } }) }, { rule: 'false', message: 'm', ...rule }) }),
    );
  assert.deepEqual(fault({ reason: 'FieldValueForbidden' }), ['spec: Forbidden: m']);
  assert.deepEqual(fault({ reason: 'FieldValueRequired', fieldPath: '.a.b' }), ['spec.a.b: Required value: m']);
  assert.deepEqual(fault({ reason: 'FieldValueDuplicate', fieldPath: ".a['b']" }), [
    'spec.a.b: Duplicate value: "object"',
  ]);
  assert.deepEqual(fault({ reason: 'FieldValueInvalid', fieldPath: '.a' }), ['spec.a: Invalid value: "object": m']);
});

test('a rule that has no answer is a fault', () => {
  assert.deepEqual(told({ spec: { min: 1 } }, object({ spec: RANGE })), [
    'spec: Invalid value: "object": no such key: max evaluating rule: min may not be above max',
  ]);
  const port: JsonSchema = { 'x-kubernetes-int-or-string': true, 'x-kubernetes-validations': [{ rule: 'self > 5' }] };
  assert.deepEqual(told({ port: 'x' }, object({ port })), [
    `port: Invalid value: "": 'no such overload: dyn<string> > int': call arguments did not match a supported operator, function or macro signature for rule: self > 5`,
  ]);
});

test('a rule that costs too much ends the checking', () => {
  const numbers = list(
    { type: 'integer' },
    { 'x-kubernetes-validations': [{ rule: 'self.all(a, self.all(b, a + b >= 0))' }, { rule: 'false' }] },
  );
  assert.deepEqual(told({ numbers: Array(2000).fill(1), zz: { min: 2, max: 1 } }, object({ numbers, zz: RANGE })), [
    `numbers: Invalid value: "array": 'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: self.all(a, self.all(b, a + b >= 0))`,
  ]);
});

test('the rules of one object together cost no more than ten times the limit of one', () => {
  const row = list(
    { type: 'integer' },
    { 'x-kubernetes-validations': [{ rule: 'self.all(a, self.all(b, a + b >= 0))' }] },
  );
  const start = performance.now();
  const faults = told({ rows: Array(100).fill(Array(300).fill(1)) }, object({ rows: list(row) }));
  assert.deepEqual(
    faults.map((fault) => fault.replace(/\d+/, 'N')),
    [
      'rows[N]: Invalid value: "array": validation failed due to running out of cost budget, no further validation rules will be run',
    ],
  );
  assert.ok(performance.now() - start < 10_000);
});

test('null is no value to check', () => {
  const name: JsonSchema = { type: 'string', nullable: true, 'x-kubernetes-validations': [{ rule: 'self != ""' }] };
  assert.deepEqual(told({ name: null }, object({ name })), []);
});

test('rules wait until the object is sound, and the fault says so', () => {
  const schema = object({ spec: RANGE, name: { type: 'string', maxLength: 2 } });
  const notChecked =
    '<nil>: Invalid value: "null": some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';
  assert.deepEqual(told({ spec: { min: 2, max: 1 }, name: 'long' }, schema), [
    'name: Too long: may not be more than 2 bytes',
    notChecked,
  ]);
  assert.deepEqual(told({ name: 'long' }, object({ name: { type: 'string', maxLength: 2 } })).length, 1);
});

test('a value out of bounds does not keep rules from being checked', () => {
  assert.deepEqual(told({ spec: { min: 200, max: 101 } }, object({ spec: RANGE })), [
    'spec.max: Invalid value: 101: spec.max in body should be less than or equal to 100',
    'spec: Invalid value: "object": min may not be above max',
  ]);
});

const FIXED: JsonSchema = object({
  id: { type: 'string', 'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'id is immutable' }] },
});

test('a rule about a transition is checked on updates only', () => {
  assert.deepEqual(told({ id: 'b' }, FIXED), []);
  assert.deepEqual(told({ id: 'b' }, FIXED, { id: 'a' }), ['id: Invalid value: "string": id is immutable']);
  assert.deepEqual(told({ id: 'a' }, FIXED, { id: 'a' }), []);
  assert.deepEqual(told({ id: 'a' }, FIXED, {}), []);
});

test('transitions of items are followed by the keys of the list', () => {
  const keyed: JsonSchema = { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] };
  const item = object(
    { k: { type: 'string' }, v: { type: 'integer' } },
    { rule: 'self.v >= oldSelf.v', message: 'v may not fall' },
  );
  const schema = object({ l: list(item, keyed) });
  const old = {
    l: [
      { k: 'a', v: 1 },
      { k: 'b', v: 5 },
    ],
  };
  assert.deepEqual(
    told(
      {
        l: [
          { k: 'b', v: 4 },
          { k: 'c', v: 0 },
          { k: 'a', v: 1 },
        ],
      },
      schema,
      old,
    ),
    ['l[0]: Invalid value: "object": v may not fall'],
  );
});

test('transitions of items of other lists are not followed', () => {
  const item: JsonSchema = { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self == oldSelf' }] };
  assert.deepEqual(told({ l: [2] }, object({ l: list(item) }), { l: [1] }), []);
});

test('a rule that can do without an old value is checked on creation too', () => {
  const once: JsonSchema = {
    type: 'string',
    'x-kubernetes-validations': [
      {
        rule: 'oldSelf.hasValue() ? self == oldSelf.value() : self != ""',
        optionalOldSelf: true,
        message: 'not empty, and then fixed',
      },
    ],
  };
  const schema = object({ id: once });
  assert.deepEqual(told({ id: '' }, schema), ['id: Invalid value: "string": not empty, and then fixed']);
  assert.deepEqual(told({ id: 'a' }, schema), []);
  assert.deepEqual(told({ id: 'b' }, schema, { id: 'a' }), ['id: Invalid value: "string": not empty, and then fixed']);
});

test('what did not hold before and did not change is no fault of an update, except of transitions', () => {
  const schema = object({ spec: RANGE, other: { type: 'string' }, ...FIXED.properties });
  const old = { spec: { min: 2, max: 1 }, id: 'a' };
  assert.deepEqual(told({ ...old, other: 'x' }, schema, old), []);
  assert.deepEqual(told({ ...old, spec: { min: 3, max: 1 } }, schema, old), [
    'spec: Invalid value: "object": min may not be above max',
  ]);
  const never: JsonSchema = {
    type: 'string',
    'x-kubernetes-validations': [{ rule: 'self == oldSelf && false', message: 'never' }],
  };
  assert.deepEqual(told({ s: 'a' }, object({ s: never }), { s: 'a' }), ['s: Invalid value: "string": never']);
});

test('an object that is changed in place is seen as it is', () => {
  const schema = object({ spec: RANGE });
  const value = { spec: { min: 2, max: 1 } };
  assert.equal(told(value, schema).length, 1);
  value.spec.min = 0;
  assert.deepEqual(told(value, schema), []);
});

test('names are escaped as Kubernetes escapes them', () => {
  for (const [name, escaped] of [
    ['a', 'a'],
    ['namespace', '__namespace__'],
    ['a-b', 'a__dash__b'],
    ['a.b/c', 'a__dot__b__slash__c'],
    ['a__b', 'a__underscores__b'],
    ['-a', '__dash__a'],
    ['1a', undefined],
    ['a b', undefined],
    ['', undefined],
    ['é', undefined],
  ] as const) {
    assert.equal(escapeName(name), escaped);
  }
});

test('a field path leads to a field of the schema, or is none', () => {
  const schema = object({ a: object({ 'b.c': { type: 'object', additionalProperties: { type: 'string' } } }) });
  assert.equal(normalizedFieldPath('.a', schema), 'a');
  assert.equal(normalizedFieldPath(".a['b.c'].k", schema), 'a.b.c[k]');
  for (const wrong of ['a', '.b', '.a.', '.a[0]', ".a['b.c", '.a..b', '.a.b.c']) {
    assert.equal(normalizedFieldPath(wrong, schema), undefined);
  }
});

const RULES = fc.constantFrom(
  'self == oldSelf',
  'has(self.a)',
  'self.size() > 0',
  'self.all(x, true)',
  'self > 0',
  'self.b == self.c',
  'true',
  'nope(',
);

test('whatever the schema, the rule and the value, there is an answer', () => {
  fc.assert(
    fc.property(arbitraryJson, arbitraryJson, arbitrarySchema, RULES, (value, old, schema, rule) => {
      const ruled = { ...schema, 'x-kubernetes-validations': [{ rule }] };
      for (const fault of validate(value, ruled, { old })) assert.equal(typeof fieldMessage(fault), 'string');
      assert.ok(Array.isArray(validate({ x: value }, object({ x: ruled }))));
    }),
  );
});
