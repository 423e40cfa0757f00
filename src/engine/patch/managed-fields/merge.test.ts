import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Json, JsonObject } from '../../../api/json.ts';
import { frozen } from '../hostile.fixture.ts';
import { mergeApplied } from './merge.ts';
import { shapeOfObject } from './shape.ts';
import { specOf, thing, thingSchema } from './thing.fixture.ts';

const shape = shapeOfObject(thingSchema);
const merged = (live: JsonObject, applied: JsonObject): JsonObject =>
  specOf(mergeApplied(frozen(thing(live)), frozen(thing(applied)), shape));

describe('a configuration laid over the live object', () => {
  const cases: [what: string, live: JsonObject, applied: JsonObject, result: JsonObject][] = [
    ['wins where it says something', { size: 1, mode: 'a' }, { size: 2 }, { size: 2, mode: 'a' }],
    [
      'merges maps by entry',
      { options: { a: '1', b: '1' } },
      { options: { b: '2', c: '2' } },
      { options: { a: '1', b: '2', c: '2' } },
    ],
    ['replaces atomic maps', { selector: { a: '1' } }, { selector: { b: '2' } }, { selector: { b: '2' } }],
    ['replaces atomic lists', { steps: ['a', 'b'] }, { steps: ['c'] }, { steps: ['c'] }],
    [
      'merges keyed items, defaults of keys counted',
      { ports: [{ port: 1, protocol: 'TCP', name: 'a' }] },
      { ports: [{ port: 1, target: 'x' }] },
      { ports: [{ port: 1, protocol: 'TCP', name: 'a', target: 'x' }] },
    ],
    [
      'leaves untyped lists whole and untyped objects by field',
      { free: { l: [1], o: { a: 1 } } },
      { free: { l: [2], o: { b: 2 } } },
      { free: { l: [2], o: { a: 1, b: 2 } } },
    ],
    [
      'says nothing about the content of what it leaves empty',
      { options: { a: '1' }, ports: [{ port: 1 }] },
      { options: {}, ports: [] },
      { options: { a: '1' }, ports: [{ port: 1 }] },
    ],
    [
      'says nothing about the content of what it calls null',
      { options: { a: '1' }, size: 1 },
      { options: null, size: null },
      { options: { a: '1' }, size: null },
    ],
    [
      'replaces a value of another kind',
      { free: { a: [1], b: 'x', c: { d: 1 } } },
      { free: { a: 1, b: { e: 1 }, c: [1] } },
      { free: { a: 1, b: { e: 1 }, c: [1] } },
    ],
  ];
  for (const [what, live, applied, result] of cases) {
    it(what, () => assert.deepEqual(merged(live, applied), result));
  }

  const orders: [what: string, live: Json[], applied: Json[], result: Json[]][] = [
    ['keeps live items that are not applied in their place', ['a', 'b', 'c'], ['b'], ['a', 'b', 'c']],
    ['puts new items behind the items that they are applied behind', ['a', 'c'], ['a', 'b'], ['a', 'c', 'b']],
    ['puts new items before the items that they are applied before', ['a', 'c'], ['b', 'c'], ['a', 'b', 'c']],
    ['takes the applied order where the two differ', ['a', 'b', 'x'], ['b', 'a'], ['b', 'x', 'a']],
    ['takes all of a list that was empty', [], ['b', 'a'], ['b', 'a']],
  ];
  for (const [what, live, applied, result] of orders) {
    it(what, () => assert.deepEqual(merged({ tags: live }, { tags: applied })['tags'], result));
  }

  it('is the live object itself where it changes nothing', () => {
    const live = thing({ size: 1, tags: ['a', 'b'], ports: [{ port: 1, name: 'x' }], steps: ['s'], free: { a: [1] } });
    const applied = thing({ size: 1, tags: ['b'], ports: [{ port: 1 }], steps: ['s'], free: { a: [1] } });
    assert.equal(mergeApplied(live, applied, shape), live);
  });

  it('sets a field called __proto__ as a field', () => {
    const result = merged({ options: { a: '1' } }, { options: JSON.parse('{"__proto__":"x"}') });
    assert.equal(JSON.stringify(result), '{"options":{"a":"1","__proto__":"x"}}');
  });

  it('costs what the lists are long, not their product', () => {
    const tags = Array.from({ length: 50_000 }, (_, index) => String(index));
    const start = performance.now();
    mergeApplied(thing({ tags }), thing({ tags: [...tags].reverse() }), shape);
    assert.ok(performance.now() - start < 3000);
  });
});
