import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Json } from '../../api/json.ts';
import { frozen, nested } from './hostile.fixture.ts';
import { mergePatch } from './merge-patch.ts';

describe('a merge patch', () => {
  // The table of RFC 7386, appendix A.
  const cases: [document: Json, patch: Json, result: Json][] = [
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [
      ['a', 'b'],
      ['c', 'd'],
      ['c', 'd'],
    ],
    [{ a: 'b' }, ['c'], ['c']],
    [{ a: 'foo' }, null, null],
    [{ a: 'foo' }, 'bar', 'bar'],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [[1, 2], { a: 'b', c: null }, { a: 'b' }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ];
  for (const [document, patch, result] of cases) {
    it(`makes ${JSON.stringify(result)} of ${JSON.stringify(document)} by ${JSON.stringify(patch)}`, () => {
      assert.deepEqual(mergePatch(frozen(document), frozen(patch)), result);
    });
  }

  it('gives the document itself when nothing changes', () => {
    const document = { a: { b: [1, { c: 2 }] } };
    assert.equal(mergePatch(document, { a: { b: [1, { c: 2 }], d: null }, e: null }), document);
  });

  it('sets a field called __proto__ as a field', () => {
    const patched = mergePatch({}, JSON.parse('{"__proto__":{"polluted":true}}'));
    assert.equal(JSON.stringify(patched), '{"__proto__":{"polluted":true}}');
    assert.equal(Object.getPrototypeOf(patched), Object.prototype);
  });

  it('is refused with 400 when it nests too deep to walk', () => {
    assert.throws(() => mergePatch({}, nested(100_000)), { code: 400, message: /nested deeper/ });
  });
});

describe('any merge patch', () => {
  const key = fc.constantFrom('a', 'b', '__proto__', 'constructor', '');
  const { json } = fc.letrec<{ json: Json }>((tie) => ({
    json: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom<Json>(null, 1, 'x'),
      fc.array(tie('json'), { maxLength: 2 }),
      fc.array(fc.tuple(key, tie('json')), { maxLength: 3 }).map((entries): Json => Object.fromEntries(entries)),
    ),
  }));

  it('changes nothing the second time, and mutates nothing', () => {
    fc.assert(
      fc.property(json, json, (document, patch) => {
        const once = mergePatch(frozen(document), frozen(patch));
        assert.equal(mergePatch(frozen(once), patch), once);
      }),
    );
  });
});
