import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Json } from '../../../api/json.ts';
import { equalSets, type FieldSet, fieldSet, pathsOf } from './field-set.ts';
import { decodeFields, encodeFields } from './fields-v1.ts';
import { fieldElement, keyElement, shownElements, valueElement } from './path-element.ts';

function decoded(fields: Json): FieldSet {
  const set = decodeFields(fields);
  assert.ok(set, 'is FieldsV1');
  return set;
}

describe('FieldsV1', () => {
  it('says of a node with content, by ".", whether it is owned itself', () => {
    const set = fieldSet(['f:labels', 'f:app'], ['f:labels'], ['f:spec', 'f:size']);
    assert.deepEqual(encodeFields(set), { 'f:labels': { '.': {}, 'f:app': {} }, 'f:spec': { 'f:size': {} } });
    assert.ok(equalSets(decoded(encodeFields(set)), set));
  });

  it('takes a node with nothing inside for owned', () => {
    assert.deepEqual(
      [...pathsOf(decoded({ 'f:a': {}, 'f:b': { '.': {} }, 'f:c': null }))],
      [['f:a'], ['f:b'], ['f:c']],
    );
  });

  it('names one list item by one element, however its keys are written', () => {
    const fields = {
      'k:{"protocol":"TCP", "port":80.0}': { 'f:a': {} },
      'k:{"port":80,"protocol":"TCP"}': { 'f:b': {} },
    };
    assert.deepEqual(encodeFields(decoded(fields)), { 'k:{"port":80,"protocol":"TCP"}': { 'f:a': {}, 'f:b': {} } });
  });

  it('is written in the order of its elements', () => {
    const fields = { 'v:"b"': {}, 'f:z': {}, 'f:a': { 'f:y': {}, 'f:b': {} }, 'v:"a"': {} };
    assert.equal(
      JSON.stringify(encodeFields(decoded(fields))),
      '{"f:a":{"f:b":{},"f:y":{}},"f:z":{},"v:\\"a\\"":{},"v:\\"b\\"":{}}',
    );
  });

  it('may hold elements of kinds that do not exist yet, which are passed over', () => {
    assert.deepEqual(encodeFields(decoded({ 'f:a': { 'x:new': {} }, 'q:other': { 'f:b': {} } })), { 'f:a': {} });
  });

  const malformed: Json[] = [
    'f:a',
    [],
    { f: {} },
    { '': {} },
    { __proto__x: {} },
    { 'f:a': 'owned' },
    { 'k:{': {} },
    { 'k:[1]': {} },
    { 'v:': {} },
    { 'i:one': {} },
    { [`v:${'['.repeat(100_000)}${']'.repeat(100_000)}`]: {} },
  ];
  for (const fields of malformed) {
    it(`is not ${JSON.stringify(fields).slice(0, 40)}`, () => assert.equal(decodeFields(fields), undefined));
  }

  it('keeps every set through writing and reading, whatever the names', () => {
    const scalar = fc.oneof(
      fc.string(),
      fc.integer(),
      fc.boolean(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
    );
    const element = fc.oneof(
      fc.oneof(fc.string(), fc.constantFrom('__proto__', '', '.', 'a.b', '"', '\ud800')).map(fieldElement),
      scalar.map(valueElement),
      scalar.map((value) => keyElement([['__proto__', value]])),
      fc.tuple(scalar, scalar).map(([a, b]) =>
        keyElement([
          ['a', a],
          ['b', b],
        ]),
      ),
    );
    fc.assert(
      fc.property(fc.array(fc.array(element, { minLength: 1, maxLength: 3 }), { maxLength: 6 }), (paths) => {
        const set = fieldSet(...paths);
        const wire: Json = JSON.parse(JSON.stringify(encodeFields(set)));
        assert.ok(equalSets(decoded(wire), set));
      }),
    );
  });
});

describe('a path in a message', () => {
  it('reads like kubectl prints it', () => {
    const path = ['f:spec', 'k:{"name":"app","port":80}', 'f:args', 'v:"x"', 'i:3'];
    assert.equal(shownElements(path), '.spec[name="app",port=80].args[="x"][3]');
  });
});
