import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { fieldTerm, parseFieldSelector } from './field-selector.ts';

test('terms are joined by commas and compare for equality or difference', () => {
  assert.deepEqual(parseFieldSelector('metadata.name=x,status.phase!=Active,a==b'), [
    { field: 'metadata.name', op: '=', value: 'x' },
    { field: 'status.phase', op: '!=', value: 'Active' },
    { field: 'a', op: '=', value: 'b' },
  ]);
});

test('nothing, or nothing between commas, is no term', () => {
  assert.deepEqual(parseFieldSelector(''), []);
  assert.deepEqual(parseFieldSelector(',a=b,'), [{ field: 'a', op: '=', value: 'b' }]);
});

test('a term without an operator is refused', () => {
  assert.throws(() => parseFieldSelector('a=b,nonsense'), {
    message: "invalid selector: 'a=b,nonsense'; can't understand 'nonsense'",
  });
});

test('what separates must be escaped in values', () => {
  assert.deepEqual(parseFieldSelector('a=b\\,c\\=d\\\\e'), [{ field: 'a', op: '=', value: 'b,c=d\\e' }]);
  assert.throws(() => parseFieldSelector('a=b=c'), {
    message: 'invalid field selector: unescaped character in value: =',
  });
  assert.throws(() => parseFieldSelector('a=b\\n'), {
    message: 'invalid field selector: invalid escape sequence: \\n',
  });
  assert.throws(() => parseFieldSelector('a=b\\'), {
    message: 'invalid field selector: invalid escape sequence: \\',
  });
});

test('every value survives escaping', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary' }), { minLength: 1 }), (values) => {
      const text = values.map((value) => `f=${value.replace(/[\\,=]/g, '\\$&')}`).join(',');
      assert.deepEqual(
        parseFieldSelector(text),
        values.map((value) => ({ field: 'f', op: '=', value })),
      );
    }),
  );
});

test('a term is read as it was written, whatever is in its value', () => {
  fc.assert(
    fc.property(fc.string(), (value) => {
      const terms = parseFieldSelector(`${fieldTerm('metadata.name', value)},a!=b`);
      assert.deepEqual(terms, [
        { field: 'metadata.name', op: '=', value },
        { field: 'a', op: '!=', value: 'b' },
      ]);
    }),
  );
});
