import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Json } from '../../api/json.ts';
import type { JsonSchema } from '../../api/json-schema.ts';
import { arbitraryJson, arbitrarySchema } from './arbitrary.fixture.ts';
import { applyDefaults } from './defaults.ts';
import { prune } from './prune.ts';

const object = (properties: Record<string, JsonSchema>): JsonSchema => ({ type: 'object', properties });

function defaulted(value: Json, schema: JsonSchema): Json {
  applyDefaults(value, schema);
  return value;
}

test('a missing field gets its default, a given one keeps its value', () => {
  const schema = object({ a: { type: 'integer', default: 1 }, b: { type: 'string', default: 'x' } });
  assert.deepEqual(defaulted({ b: '' }, schema), { a: 1, b: '' });
});

test('inside a missing object nothing is filled in', () => {
  const schema = object({ outer: object({ a: { type: 'integer', default: 1 } }) });
  assert.deepEqual(defaulted({}, schema), {});
  assert.deepEqual(defaulted({ outer: {} }, schema), { outer: { a: 1 } });
});

test('a default is itself filled in', () => {
  const schema = object({ outer: { ...object({ a: { type: 'integer', default: 1 } }), default: {} } });
  assert.deepEqual(defaulted({}, schema), { outer: { a: 1 } });
});

test('a null that may not be is replaced by the default, or goes', () => {
  const schema = object({
    a: { type: 'integer', default: 1 },
    b: { type: 'string' },
    c: { type: 'string', nullable: true, default: 'x' },
  });
  assert.deepEqual(defaulted({ a: null, b: null, c: null, d: null }, schema), { a: 1, c: null, d: null });
});

test('items of lists and values of maps are filled in', () => {
  const item: JsonSchema = object({ a: { type: 'integer', default: 1 } });
  const schema = object({
    list: { type: 'array', items: item },
    map: { type: 'object', additionalProperties: item },
    names: { type: 'object', additionalProperties: { type: 'string', default: 'x' } },
  });
  assert.deepEqual(defaulted({ list: [{}, { a: 2 }], map: { k: {} }, names: { k: null } }, schema), {
    list: [{ a: 1 }, { a: 2 }],
    map: { k: { a: 1 } },
    names: { k: 'x' },
  });
});

test('a null in a list is replaced where items have a default, and stays where not', () => {
  assert.deepEqual(defaulted([null], { type: 'array', items: { type: 'string', default: 'x' } }), ['x']);
  assert.deepEqual(defaulted([null], { type: 'array', items: { type: 'string' } }), [null]);
});

test('the default in the schema is not shared between objects', () => {
  const schema = object({ list: { type: 'array', items: { type: 'string' }, default: ['a'] } });
  const first = defaulted({}, schema);
  assert.deepEqual(first, { list: ['a'] });
  assert.ok(typeof first === 'object' && first !== null && !Array.isArray(first) && Array.isArray(first['list']));
  first['list'].push('b');
  assert.deepEqual(defaulted({}, schema), { list: ['a'] });
});

test('a schema may contain itself', () => {
  const tree = object({ size: { type: 'integer', default: 1 } });
  tree.properties = { ...tree.properties, children: { type: 'array', items: tree } };
  assert.deepEqual(defaulted({ children: [{ children: [{}] }] }, tree), {
    size: 1,
    children: [{ size: 1, children: [{ size: 1 }] }],
  });
});

test('a field named __proto__ sets no prototype', () => {
  const schema: JsonSchema = JSON.parse(
    '{"type":"object","properties":{"__proto__":{"type":"object","default":{"a":1}}}}',
  );
  const value = defaulted({}, schema);
  assert.equal(JSON.stringify(value), '{"__proto__":{"a":1}}');
  assert.equal(Object.getPrototypeOf(value), Object.prototype);
});

test('filling in twice changes nothing more', () => {
  fc.assert(
    fc.property(arbitraryJson, arbitrarySchema, (value, schema) => {
      applyDefaults(value, schema);
      const once = structuredClone(value);
      applyDefaults(value, schema);
      assert.deepEqual(value, once);
    }),
  );
});

test('a pruned and filled in object stays as it is when its defaults are known fields', () => {
  fc.assert(
    fc.property(arbitraryJson, arbitrarySchema, (value, schema) => {
      prune(value, schema, { resourceRoot: false });
      applyDefaults(value, schema);
      prune(value, schema, { resourceRoot: false });
      applyDefaults(value, schema);
      const stable = structuredClone(value);
      prune(value, schema, { resourceRoot: false });
      applyDefaults(value, schema);
      assert.deepEqual(value, stable);
    }),
  );
});
