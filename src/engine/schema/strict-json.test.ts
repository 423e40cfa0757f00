import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { MAX_DEPTH } from './depth.ts';
import { duplicateFields, parseJson, parseJsonValue, requireSound } from './strict-json.ts';

test('a body without duplicates is what JSON.parse makes of it', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), fc.constantFrom(undefined, 2), (value, indent) => {
      const text = JSON.stringify(value, undefined, indent);
      const expected = JSON.parse(text);
      assert.deepEqual(parseJson(text), { value: expected, duplicates: [] });
      assert.deepEqual(parseJsonValue(Buffer.from(text)), expected);
      assert.deepEqual(duplicateFields(text), []);
    }),
  );
});

test('a field that is there twice is named by its path, and its last value counts', () => {
  assert.deepEqual(parseJson('{"spec":{"x":1,"x":2},"a":[{},{"b":1,"b":2}]}'), {
    value: { spec: { x: 2 }, a: [{}, { b: 2 }] },
    duplicates: ['spec.x', 'a[1].b'],
  });
});

test('a key is the same however it is written', () => {
  assert.deepEqual(parseJson('{"a\\u0062":1,"ab":2,"c\\"":[":{,"]}').duplicates, ['ab']);
});

test('doubling any field of any object is noticed', () => {
  const key = fc.string({ unit: fc.constantFrom('a', '"', '\\', ':', ',', '{', '[', 'é') });
  const twice = fc.tuple(key, fc.jsonValue({ maxDepth: 2 })).map(([name, value]) => {
    const member = `${JSON.stringify(name)}:${JSON.stringify(value)}`;
    return { name, text: `{"before":{},"in":[0,{${member} , ${member}}]}` };
  });
  fc.assert(
    fc.property(twice, ({ name, text }) => {
      assert.deepEqual(parseJson(text).duplicates, [name === '' ? 'in[1].' : `in[1].${name}`]);
    }),
  );
});

test('a thousand duplicates are not all listed', () => {
  assert.equal(parseJson(`{${'"a":1,'.repeat(1000)}"b":2}`).duplicates.length, 100);
});

test('__proto__ is a field like any other and sets no prototype', () => {
  const { value } = parseJson('{"__proto__":{"polluted":true}}');
  assert.deepEqual(Object.keys(value ?? {}), ['__proto__']);
  assert.equal(Object.getPrototypeOf(value), Object.prototype);
});

test('bytes that are not UTF-8 are refused', () => {
  const refusal = { message: 'the body is not valid UTF-8' };
  assert.throws(() => parseJson(Buffer.from([0x22, 0xff, 0x22])), refusal);
  assert.throws(() => parseJson('"\ud800"'), refusal);
});

test('half a surrogate pair in an escape becomes the replacement character', () => {
  assert.deepEqual(parseJsonValue('{"\\ud800":["\\udc00x","\\ud83d\\ude00"]}'), { '\ufffd': ['\ufffdx', '😀'] });
});

test('what is no JSON is refused with the reason', () => {
  assert.throws(() => parseJson('{"a":}'), /^ApiError: the body is not valid JSON: Unexpected token '}'/);
});

test('a number that only infinity could stand for is refused', () => {
  assert.throws(() => parseJson('[1e999]'), {
    message: 'the body holds a number that is too large for a 64-bit float; write it as a string',
  });
});

test('a body may be deep, but not bottomless', () => {
  const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
  assert.doesNotThrow(() => parseJson(nested(MAX_DEPTH)));
  assert.throws(() => parseJson(nested(MAX_DEPTH + 1)), {
    message: 'the body nests objects and arrays more than 400 levels deep; flatten it',
  });
  assert.throws(() => parseJson(`{"a":${'{"a":'.repeat(1e6)}1${'}'.repeat(1e6)}}`), /more than 400 levels deep/);
  assert.equal(requireSound({ a: { b: [{ c: 1 }] } }), 3);
});

test('three megabytes of quotes, backslashes and keys are read in one pass', () => {
  const bodies = [
    JSON.stringify('\\'.repeat(1_500_000)),
    JSON.stringify(Array(700_000).fill('"')),
    `{${'"a":1,'.repeat(400_000)}"a":2}`,
  ];
  const start = performance.now();
  for (const body of bodies) parseJson(body);
  assert.ok(performance.now() - start < 3000);
});
