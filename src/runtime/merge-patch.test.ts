import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { equalJson, isJsonObject, type Json, type JsonObject } from '../api/json.ts';
import { mergePatch } from './merge-patch.ts';

/** RFC 7386, as a server carries it out. */
function applied(target: Json | undefined, patch: Json): Json {
  if (!isJsonObject(patch)) return patch;
  const result: JsonObject = Object.assign(Object.create(null), isJsonObject(target) ? target : {});
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = applied(result[key], value);
  }
  return result;
}

const key = fc.constantFrom('a', 'b', 'c', '__proto__', 'constructor');
const { tree } = fc.letrec<{ tree: JsonObject; value: Json }>((tie) => ({
  tree: fc.dictionary(key, tie('value'), { maxKeys: 4, noNullPrototype: false }),
  value: fc.oneof(
    { depthSize: 'small' },
    fc.integer({ max: 3, min: 0 }),
    fc.constant('x'),
    fc.constant<Json>([1, { a: 2 }]),
    tie('tree'),
  ),
}));

it('a merge patch turns what is there into what is wanted', () => {
  fc.assert(
    fc.property(tree, tree, (before, after) => {
      const patch = mergePatch(before, after);
      assert.ok(equalJson(patch === undefined ? before : applied(before, patch), after));
      assert.equal(patch === undefined, equalJson(before, after));
    }),
  );
});

it('a merge patch says nothing about what stays', () => {
  const patch = mergePatch({ a: 1, b: { c: 1, d: 1 }, e: [1] }, { a: 1, b: { c: 2, d: 1 }, f: 0 });
  assert.deepEqual(JSON.parse(JSON.stringify(patch)), { b: { c: 2 }, e: null, f: 0 });
});
