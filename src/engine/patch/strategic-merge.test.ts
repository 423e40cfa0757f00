import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Json, JsonObject } from '../../api/json.ts';
import type { JsonSchema } from '../../api/json-schema.ts';
import { frozen, nested } from './hostile.fixture.ts';
import { strategicMergePatch } from './strategic-merge.ts';

const text: JsonSchema = { type: 'string' };
const item: JsonSchema = { type: 'object', properties: { name: text, image: text } };
item.properties = { ...item.properties, parts: keyed(item) };
const schema: JsonSchema = {
  type: 'object',
  properties: {
    keyed: keyed(item),
    scalars: { type: 'array', items: text, 'x-kubernetes-patch-strategy': 'merge' },
    plain: { type: 'array', items: item },
    labels: { type: 'object', additionalProperties: text },
    whole: { type: 'object', 'x-kubernetes-patch-strategy': 'replace' },
    strategy: { type: 'object', 'x-kubernetes-patch-strategy': 'retainKeys' },
    both: { ...keyed(item), 'x-kubernetes-patch-strategy': 'merge,retainKeys' },
  },
};

function keyed(items: JsonSchema): JsonSchema {
  return { type: 'array', items, 'x-kubernetes-patch-strategy': 'merge', 'x-kubernetes-patch-merge-key': 'name' };
}

const patched = (document: JsonObject, patch: Json): JsonObject =>
  strategicMergePatch(frozen(document), frozen(patch), schema);
const named = (...names: string[]): JsonObject[] => names.map((name) => ({ name }));
const namesAfter = (document: JsonObject, patch: JsonObject): Json[] => {
  const { keyed } = patched(document, patch);
  return Array.isArray(keyed)
    ? keyed.map((item) =>
        typeof item === 'object' && item !== null && !Array.isArray(item) ? (item['name'] ?? null) : item,
      )
    : [];
};

describe('a strategic merge patch', () => {
  const cases: [what: string, document: JsonObject, patch: JsonObject, result: JsonObject][] = [
    [
      'sets, merges and deletes fields',
      { a: 1, labels: { x: '1', y: '2' } },
      { a: null, labels: { x: null, z: '3' } },
      { labels: { y: '2', z: '3' } },
    ],
    [
      'merges items by key',
      { keyed: [{ name: 'a', image: '1' }] },
      { keyed: [{ name: 'a', image: '2' }] },
      { keyed: [{ name: 'a', image: '2' }] },
    ],
    [
      'merges items in items',
      { keyed: [{ name: 'a', parts: [{ name: 'p', image: '1' }] }] },
      { keyed: [{ name: 'a', parts: [{ name: 'q' }] }] },
      { keyed: [{ name: 'a', parts: [{ name: 'q' }, { name: 'p', image: '1' }] }] },
    ],
    [
      'deletes a field of an item',
      { keyed: [{ name: 'a', image: '1' }] },
      { keyed: [{ name: 'a', image: null }] },
      { keyed: [{ name: 'a' }] },
    ],
    ['replaces a list without merge strategy', { plain: named('a') }, { plain: named('b') }, { plain: named('b') }],
    ['replaces an object with strategy replace', { whole: { a: 1 } }, { whole: { b: 2 } }, { whole: { b: 2 } }],
    ['joins lists of scalars', { scalars: ['a', 'b'] }, { scalars: ['c', 'b'] }, { scalars: ['c', 'a', 'b'] }],
    [
      'stores no nulls with what is new',
      {},
      { labels: { a: null, b: '1' }, keyed: [{ name: 'a', image: null }] },
      { labels: { b: '1' }, keyed: [{ name: 'a' }] },
    ],
    [
      'replaces what is of another kind',
      { labels: 'text', keyed: 'text' },
      { labels: { a: '1' }, keyed: named('a') },
      { labels: { a: '1' }, keyed: named('a') },
    ],
    [
      'merges where the schema says nothing',
      { unknown: { a: 1, list: [1] } },
      { unknown: { b: 2, list: [2] } },
      { unknown: { a: 1, b: 2, list: [2] } },
    ],
  ];
  for (const [what, document, patch, result] of cases) {
    it(what, () => assert.deepEqual(patched(document, patch), result));
  }

  it('gives the document itself when nothing changes', () => {
    const document = { keyed: [{ name: 'a', image: '1' }], scalars: ['x'], labels: { l: '1' } };
    const patch = { keyed: [{ name: 'a', image: '1' }], scalars: ['x'], labels: { l: '1', gone: null } };
    assert.equal(strategicMergePatch(document, patch, schema), document);
    assert.equal(strategicMergePatch(document, {}, schema), document);
  });
});

describe('the directives of a strategic merge patch', () => {
  const cases: [what: string, document: JsonObject, patch: JsonObject, result: JsonObject][] = [
    [
      '$patch: replace puts the object in the place of the other',
      { labels: { a: '1' } },
      { labels: { $patch: 'replace', b: '2' } },
      { labels: { b: '2' } },
    ],
    ['$patch: replace works where nothing was', {}, { labels: { $patch: 'replace', b: '2' } }, { labels: { b: '2' } }],
    ['$patch: delete empties an object', { labels: { a: '1' } }, { labels: { $patch: 'delete' } }, { labels: {} }],
    ['$patch: delete brings nothing about', {}, { labels: { $patch: 'delete' } }, {}],
    [
      '$patch: merge says what happens anyway',
      { labels: { a: '1' } },
      { labels: { $patch: 'merge', b: '2' } },
      { labels: { a: '1', b: '2' } },
    ],
    [
      '$patch: delete removes a list item',
      { keyed: named('a', 'b') },
      { keyed: [{ name: 'a', $patch: 'delete' }] },
      { keyed: named('b') },
    ],
    [
      '$patch: delete of an item that is not there does nothing',
      { keyed: named('a') },
      { keyed: [{ name: 'x', $patch: 'delete' }] },
      { keyed: named('a') },
    ],
    [
      'an item with $patch: replace replaces the list by the others',
      { keyed: named('a', 'b') },
      { keyed: [{ $patch: 'replace' }, { name: 'c' }] },
      { keyed: named('c') },
    ],
    [
      '$deleteFromPrimitiveList removes scalars',
      { scalars: ['a', 'b', 'c'] },
      { '$deleteFromPrimitiveList/scalars': ['b', 'x'] },
      { scalars: ['a', 'c'] },
    ],
    [
      '$deleteFromPrimitiveList goes with additions',
      { scalars: ['a', 'b'] },
      { '$deleteFromPrimitiveList/scalars': ['b'], scalars: ['c'] },
      { scalars: ['c', 'a'] },
    ],
    ['$deleteFromPrimitiveList brings no list about', {}, { '$deleteFromPrimitiveList/scalars': ['b'] }, {}],
    [
      '$setElementOrder orders scalars',
      { scalars: ['a', 'b', 'c'] },
      { '$setElementOrder/scalars': ['c', 'a'] },
      { scalars: ['b', 'c', 'a'] },
    ],
    ['$setElementOrder brings no list about', {}, { '$setElementOrder/keyed': named('a') }, {}],
    [
      '$retainKeys removes the fields it does not list',
      { strategy: { type: 'a', rolling: {} } },
      { strategy: { $retainKeys: ['type'], type: 'b' } },
      { strategy: { type: 'b' } },
    ],
    [
      '$retainKeys lets deletions through',
      { strategy: { type: 'a', rolling: {} } },
      { strategy: { $retainKeys: ['type'], type: 'b', rolling: null } },
      { strategy: { type: 'b' } },
    ],
    [
      '$retainKeys works in list items',
      { both: [{ name: 'a', image: '1', parts: [] }] },
      { both: [{ $retainKeys: ['name', 'image'], name: 'a' }] },
      { both: [{ name: 'a', image: '1' }] },
    ],
    [
      'no directive is stored with what is new',
      {},
      {
        labels: { $retainKeys: ['a'], a: '1' },
        keyed: [{ name: 'a', '$setElementOrder/parts': named('p'), parts: named('p') }],
      },
      { labels: { a: '1' }, keyed: [{ name: 'a', parts: named('p') }] },
    ],
  ];
  for (const [what, document, patch, result] of cases) {
    it(what, () => assert.deepEqual(patched(document, patch), result));
  }

  const refused: [what: string, patch: Json, why: RegExp][] = [
    ['a patch that is no object', [], /is an object/],
    [
      'an unknown $patch',
      { labels: { $patch: 'drop' } },
      /at labels has "\$patch": "drop"; it must be replace, delete or merge/,
    ],
    ['an unknown $patch of an item', { keyed: [{ name: 'a', $patch: 1 }] }, /at keyed has "\$patch": 1/],
    ['an item without its key', { keyed: [{ image: '1' }] }, /at keyed has an item without name/],
    ['an item that is no object', { keyed: ['a'] }, /must be a list of objects/],
    ['a list as scalar', { scalars: [['a']] }, /must be a list of plain values/],
    [
      'a field that $retainKeys does not list',
      { strategy: { $retainKeys: [], type: 'b' } },
      /sets "type", which its \$retainKeys does not list/,
    ],
    ['a $retainKeys that is no list', { strategy: { $retainKeys: 'type' } }, /not a list of field names/],
    ['a $setElementOrder without field', { $setElementOrder: [] }, /must be "\$setElementOrder\/<field>"/],
    ['a $deleteFromPrimitiveList that is no list', { '$deleteFromPrimitiveList/scalars': 'a' }, /that is not a list/],
    [
      'an order that contradicts the items',
      { keyed: named('a', 'b'), '$setElementOrder/keyed': named('b', 'a') },
      /changes the item "b".*same order/,
    ],
    [
      'an item that the order leaves out',
      { keyed: named('a'), '$setElementOrder/keyed': named('b') },
      /changes the item "a"/,
    ],
    ['an order of a list that does not merge', { plain: [], '$setElementOrder/plain': [] }, /does not merge/],
  ];
  for (const [what, patch, why] of refused) {
    it(`refuse with 400 ${what}`, () => {
      assert.throws(() => patched({ scalars: [], keyed: [] }, patch), { code: 400, message: why });
    });
  }
});

describe('the order of a merged list', () => {
  it('puts new items before those that only the server has', () => {
    assert.deepEqual(namesAfter({ keyed: named('a', 'b') }, { keyed: named('new') }), ['new', 'a', 'b']);
  });

  it('keeps items of the server before known items that they stood before', () => {
    assert.deepEqual(namesAfter({ keyed: named('s', 'a', 't', 'b') }, { keyed: named('a', 'b') }), [
      's',
      'a',
      't',
      'b',
    ]);
  });

  it('follows $setElementOrder, as kubectl apply sends it', () => {
    const patch = {
      keyed: [{ name: 'c' }, { name: 'a', $patch: 'delete' }],
      '$setElementOrder/keyed': named('c', 'b'),
    };
    assert.deepEqual(namesAfter({ keyed: named('a', 'b', 'server') }, patch), ['c', 'b', 'server']);
  });

  it('can be all that a patch changes', () => {
    assert.deepEqual(namesAfter({ keyed: named('a', 'b', 'c') }, { '$setElementOrder/keyed': named('c', 'b', 'a') }), [
      'c',
      'b',
      'a',
    ]);
  });

  it('leaves items alone that have no key, or one that occurs twice', () => {
    const document = { keyed: [{ image: 'x' }, { name: 'a', image: '1' }, { name: 'a', image: '2' }] };
    assert.deepEqual(patched(document, { keyed: [{ name: 'a', image: '3' }] }), {
      keyed: [{ image: 'x' }, { name: 'a', image: '3' }, { name: 'a', image: '2' }],
    });
  });
});

describe('a hostile strategic merge patch', () => {
  it('is refused with 400 when it nests too deep to walk', () => {
    assert.throws(() => strategicMergePatch({}, nested(100_000), schema), { code: 400, message: /nested deeper/ });
  });

  it('sets a field called __proto__ as a field', () => {
    const result = patched({}, JSON.parse('{"__proto__":{"polluted":true}}'));
    assert.equal(JSON.stringify(result), '{"__proto__":{"polluted":true}}');
    assert.equal(Object.getPrototypeOf(result), Object.prototype);
  });

  it('costs what the lists are long, not their product', () => {
    const items = Array.from({ length: 50_000 }, (_, index) => ({ name: String(index) }));
    const start = performance.now();
    strategicMergePatch({ keyed: items }, { keyed: [...items].reverse() }, schema);
    assert.ok(performance.now() - start < 3000);
  });
});

describe('any strategic merge patch', () => {
  const name = fc.constantFrom('a', 'b', 'c', 'd');
  const image = fc.record({ image: fc.constantFrom('1', '2') }, { requiredKeys: [] });
  const items = fc
    .uniqueArray(fc.tuple(name, image), { selector: ([id]) => id })
    .map((list) => list.map(([id, rest]): JsonObject => ({ name: id, ...rest })));
  const document: fc.Arbitrary<JsonObject> = fc.record(
    {
      keyed: items,
      scalars: fc.uniqueArray(name),
      labels: fc.dictionary(name, fc.constantFrom('1', '2')),
      plain: items,
    },
    { requiredKeys: [], noNullPrototype: true },
  );

  it('is in force afterwards: patching again changes nothing, and nothing is mutated', () => {
    fc.assert(
      fc.property(document, document, (before, patch) => {
        const once = patched(before, patch);
        assert.deepEqual(patched(once, patch), once);
      }),
    );
  });

  it('loses no item and no field that it does not mention', () => {
    fc.assert(
      fc.property(items, items, (before, change) => {
        const names = namesAfter({ keyed: before }, { keyed: change });
        const expected = new Set([...before, ...change].map(({ name }) => name));
        assert.deepEqual(new Set(names), expected);
        assert.equal(names.length, expected.size);
      }),
    );
  });
});
