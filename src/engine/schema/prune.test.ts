import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Json, JsonObject } from '../../api/json.ts';
import type { JsonSchema } from '../../api/json-schema.ts';
import { arbitraryJson, arbitrarySchema } from './arbitrary.fixture.ts';
import { MAX_DEPTH } from './depth.ts';
import { prune } from './prune.ts';

const SPEC: JsonSchema = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    labels: { type: 'object', additionalProperties: { type: 'string' } },
    tags: { type: 'array', items: { type: 'object', properties: { x: { type: 'integer' } } } },
    size: { 'x-kubernetes-int-or-string': true },
    raw: {
      type: 'object',
      'x-kubernetes-preserve-unknown-fields': true,
      properties: { known: { type: 'object', properties: { a: { type: 'string' } } } },
    },
    template: {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      properties: { spec: { type: 'object', properties: {} } },
    },
    any: { type: 'object', additionalProperties: true },
    empty: { type: 'object' },
  },
};
const CR: JsonSchema = { type: 'object', properties: { metadata: { type: 'object' }, spec: SPEC } };

/** What is left of a spec, and what was said to be gone. */
function pruned(spec: Json, schema = CR): { left: Json | undefined; dropped: string[] } {
  const object: JsonObject = { apiVersion: 'a/v1', kind: 'A', metadata: { name: 'x' }, spec };
  const dropped = prune(object, schema);
  return { left: object['spec'], dropped };
}

test('fields that the schema knows stay', () => {
  const spec = { name: 'n', labels: { a: 'b' }, tags: [{ x: 1 }], size: '10%' };
  assert.deepEqual(pruned(structuredClone(spec)), { left: spec, dropped: [] });
});

test('other fields go, and are named by their paths', () => {
  assert.deepEqual(pruned({ z: 1, tags: [{ x: 1 }, { y: { deep: 1 } }], name: 'n' }), {
    left: { name: 'n', tags: [{ x: 1 }, {}] },
    dropped: ['spec.tags[1].y', 'spec.z'],
  });
});

test('a name that every object inherits is unknown', () => {
  const object = JSON.parse('{"__proto__":{"a":1},"constructor":1,"hasOwnProperty":2}');
  assert.deepEqual(pruned(object), {
    left: {},
    dropped: ['spec.__proto__', 'spec.constructor', 'spec.hasOwnProperty'],
  });
});

test('a preserved object keeps its unknown fields, but its known ones are pruned', () => {
  assert.deepEqual(pruned({ raw: { b: { c: 1 }, list: [{ d: 1 }], known: { a: 'x', b: 1 } } }), {
    left: { raw: { b: { c: 1 }, list: [{ d: 1 }], known: { a: 'x' } } },
    dropped: ['spec.raw.known.b'],
  });
});

test('an embedded resource keeps apiVersion, kind and metadata', () => {
  assert.deepEqual(
    pruned({ template: { apiVersion: 'v1', kind: 'B', metadata: { name: 'y' }, x: 1, spec: { z: 1 } } }),
    {
      left: { template: { apiVersion: 'v1', kind: 'B', metadata: { name: 'y' }, spec: {} } },
      dropped: ['spec.template.spec.z', 'spec.template.x'],
    },
  );
});

test('additionalProperties without a schema keeps keys and scalars only', () => {
  assert.deepEqual(pruned({ any: { a: 1, b: { c: 1 } } }), {
    left: { any: { a: 1, b: {} } },
    dropped: ['spec.any.b.c'],
  });
});

test('an object of which nothing is said holds nothing', () => {
  assert.deepEqual(pruned({ empty: { a: 1 } }), { left: { empty: {} }, dropped: ['spec.empty.a'] });
});

test('a schema may contain itself', () => {
  const tree: JsonSchema = { type: 'object', properties: {} };
  tree.properties = { child: tree };
  assert.deepEqual(pruned({ child: { child: { x: 1 } } }, { type: 'object', properties: { spec: tree } }), {
    left: { child: { child: {} } },
    dropped: ['spec.child.child.x'],
  });
});

const OBJECT_META: JsonSchema = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    labels: { type: 'object', additionalProperties: { type: 'string' } },
    managedFields: {
      type: 'array',
      items: {
        type: 'object',
        properties: { fieldsV1: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    },
  },
};

test('metadata is pruned where the schema describes it, in embedded resources too', () => {
  const schema: JsonSchema = { type: 'object', properties: { metadata: OBJECT_META, spec: SPEC } };
  const object: JsonObject = {
    metadata: { name: 'x', nmae: 'y', labels: { a: 'b' }, managedFields: [{ fieldsV1: { 'f:spec': {} }, x: 1 }] },
    spec: { template: { metadata: { z: 1 } } },
  };
  assert.deepEqual(prune(object, schema), ['metadata.managedFields[0].x', 'metadata.nmae', 'spec.template.metadata.z']);
  assert.deepEqual(object, {
    metadata: { name: 'x', labels: { a: 'b' }, managedFields: [{ fieldsV1: { 'f:spec': {} } }] },
    spec: { template: { metadata: {} } },
  });
});

test('metadata stays as it is where a definition restricts its name only', () => {
  const schema: JsonSchema = {
    type: 'object',
    properties: { metadata: { type: 'object', properties: { name: { type: 'string', maxLength: 5 } } } },
  };
  assert.deepEqual(prune({ metadata: { name: 'x', labels: {} } }, schema), []);
});

test('a part of an object keeps no apiVersion of its own', () => {
  assert.deepEqual(prune({ kind: 'A', name: 'n' }, SPEC, { resourceRoot: false }), ['kind']);
});

test('pruning twice drops nothing more', () => {
  fc.assert(
    fc.property(arbitraryJson, arbitrarySchema, fc.boolean(), (value, schema, resourceRoot) => {
      prune(value, schema, { resourceRoot });
      const once = structuredClone(value);
      assert.deepEqual(prune(value, schema, { resourceRoot }), []);
      assert.deepEqual(value, once);
    }),
  );
});

test('a bottomless value and a flood of unknown fields are survived', () => {
  let deep: Json = { x: 1 };
  for (let i = 0; i < 10 * MAX_DEPTH; i++) deep = [deep];
  assert.doesNotThrow(() => pruned(deep));
  const flood = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`${'k'.repeat(10)}${i}`, 1]));
  assert.equal(pruned({ tags: [flood] }).dropped.length, 100);
});
