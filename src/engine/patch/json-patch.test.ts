import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { isJsonObject, type Json, type JsonObject } from '../../api/json.ts';
import { ApiError } from '../../api/status.ts';
import { frozen, nested } from './hostile.fixture.ts';
import { jsonPatch } from './json-patch.ts';

function refusal(document: Json, operations: Json): ApiError {
  try {
    jsonPatch(document, operations);
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error('the patch was applied');
}

describe('a JSON patch', () => {
  const cases: [what: string, document: Json, operations: Json, result: Json][] = [
    ['adds a field', { a: 1 }, [{ op: 'add', path: '/b', value: 2 }], { a: 1, b: 2 }],
    ['adds over a field that is there', { a: 1 }, [{ op: 'add', path: '/a', value: null }], { a: null }],
    ['adds in the middle of an array', { a: [1, 3] }, [{ op: 'add', path: '/a/1', value: 2 }], { a: [1, 2, 3] }],
    ['adds at the end of an array by position', [1], [{ op: 'add', path: '/1', value: 2 }], [1, 2]],
    ['adds at the end of an array by "-"', { a: [] }, [{ op: 'add', path: '/a/-', value: 1 }], { a: [1] }],
    ['removes a field', { a: 1, b: 2 }, [{ op: 'remove', path: '/a' }], { b: 2 }],
    ['removes an array item', [1, 2, 3], [{ op: 'remove', path: '/1' }], [1, 3]],
    ['replaces a value', { a: { b: 1 } }, [{ op: 'replace', path: '/a/b', value: [] }], { a: { b: [] } }],
    ['replaces an array item', [1, 2], [{ op: 'replace', path: '/0', value: 9 }], [9, 2]],
    ['replaces the whole document', { a: 1 }, [{ op: 'replace', path: '', value: { b: 2 } }], { b: 2 }],
    ['moves a value', { a: { b: 1 }, c: {} }, [{ op: 'move', from: '/a/b', path: '/c/d' }], { a: {}, c: { d: 1 } }],
    ['moves an array item', [1, 2, 3], [{ op: 'move', from: '/0', path: '/2' }], [2, 3, 1]],
    ['moves a value onto itself', { a: 1 }, [{ op: 'move', from: '/a', path: '/a' }], { a: 1 }],
    ['moves a value to the root', { a: { b: 1 } }, [{ op: 'move', from: '/a', path: '' }], { b: 1 }],
    ['copies a value', { a: [1] }, [{ op: 'copy', from: '/a', path: '/b' }], { a: [1], b: [1] }],
    [
      'tests a value whatever the order of keys',
      { a: { x: 1, y: [2] } },
      [{ op: 'test', path: '/a', value: { y: [2], x: 1 } }],
      { a: { x: 1, y: [2] } },
    ],
    [
      'reads ~1 as / and ~0 as ~',
      { 'a/b': 1, '~1': 2 },
      [
        { op: 'remove', path: '/a~1b' },
        { op: 'remove', path: '/~01' },
      ],
      {},
    ],
    ['names the field with the empty name', { '': 1 }, [{ op: 'replace', path: '/', value: 2 }], { '': 2 }],
    ['ignores members it does not know', {}, [{ op: 'add', path: '/a', value: 1, comment: 'x' }], { a: 1 }],
    ['does nothing when empty', { a: 1 }, [], { a: 1 }],
  ];
  for (const [what, document, operations, result] of cases) {
    it(what, () => assert.deepEqual(jsonPatch(frozen(document), frozen(operations)), result));
  }

  it('keeps copies independent of each other', () => {
    const patched = jsonPatch(frozen({ a: { b: [1] } }), [
      { op: 'add', path: '/a/c', value: 1 },
      { op: 'copy', from: '/a', path: '/d' },
      { op: 'add', path: '/a/b/-', value: 2 },
      { op: 'remove', path: '/d/c' },
    ]);
    assert.deepEqual(patched, { a: { b: [1, 2], c: 1 }, d: { b: [1] } });
  });

  it('leaves the values of its own operations as they were', () => {
    const value = frozen({ list: [] });
    const patched = jsonPatch({}, [
      { op: 'add', path: '/a', value },
      { op: 'add', path: '/b', value },
      { op: 'add', path: '/a/list/-', value: 1 },
    ]);
    assert.deepEqual(patched, { a: { list: [1] }, b: { list: [] } });
  });

  it('shares what it does not change with the document', () => {
    const document = { a: { big: [1, 2, 3] }, b: 1 };
    const patched = jsonPatch(document, [{ op: 'replace', path: '/b', value: 2 }]);
    assert.ok(isJsonObject(patched));
    assert.equal(patched['a'], document.a);
  });

  it('sets a field called __proto__ as a field', () => {
    const patched = jsonPatch({}, [{ op: 'add', path: '/__proto__', value: { polluted: true } }]);
    assert.equal(JSON.stringify(patched), '{"__proto__":{"polluted":true}}');
    assert.equal(Object.getPrototypeOf(patched), Object.prototype);
  });

  it('finds no field that objects merely inherit', () => {
    assert.equal(refusal({}, [{ op: 'test', path: '/constructor', value: 1 }]).code, 422);
    assert.equal(refusal({}, [{ op: 'add', path: '/__proto__/polluted', value: 1 }]).code, 422);
  });
});

describe('a JSON patch that does not fit the document', () => {
  const cases: [what: string, document: Json, operation: Json, why: RegExp][] = [
    ['removes what is not there', { a: 1 }, { op: 'remove', path: '/b' }, /there is no field "b"/],
    ['replaces what is not there', {}, { op: 'replace', path: '/a', value: 1 }, /there is no field "a"/],
    ['adds below nothing', {}, { op: 'add', path: '/a/b', value: 1 }, /there is no field "a"/],
    ['adds below a scalar', { a: 1 }, { op: 'add', path: '/a/b', value: 1 }, /leads through a number/],
    ['reads past the end of an array', [1], { op: 'remove', path: '/1' }, /no item 1 in an array of 1/],
    ['adds past the end of an array', [1], { op: 'add', path: '/3', value: 1 }, /beyond the end of an array of 1/],
    ['takes "-" for an item that exists', [1], { op: 'remove', path: '/-' }, /"-" is not the position/],
    ['writes a position with leading zeros', [1, 2], { op: 'remove', path: '/01' }, /"01" is not the position/],
    ['counts from the end', [1], { op: 'remove', path: '/-1' }, /"-1" is not the position/],
    ['moves a value into itself', { a: {} }, { op: 'move', from: '/a', path: '/a/b' }, /cannot be moved into itself/],
    ['removes the whole document', {}, { op: 'remove', path: '' }, /whole document cannot be removed/],
    ['tests for another value', { a: 1 }, { op: 'test', path: '/a', value: '1' }, /not the one tested for/],
    ['tests what is not there for null', {}, { op: 'test', path: '/a', value: null }, /there is no field/],
  ];
  for (const [what, document, operation, why] of cases) {
    it(`is refused with 422 when it ${what}`, () => {
      const { status } = refusal(frozen(document), [operation]);
      assert.deepEqual([status.code, status.reason, status.details], [422, 'Invalid', {}]);
      assert.match(status.message ?? '', why);
    });
  }

  it('names the operation that failed, by number, kind and path', () => {
    const operations = [
      { op: 'test', path: '/a', value: 1 },
      { op: 'remove', path: '/spec/b' },
    ];
    assert.equal(
      refusal({ a: 1, spec: {} }, operations).message,
      'operation 1 of the JSON patch (remove "/spec/b") cannot be applied: there is no field "b"',
    );
  });

  it('shows only the beginning of an endless path', () => {
    assert.ok(refusal({}, [{ op: 'remove', path: `/${'x'.repeat(100_000)}` }]).message.length < 1000);
  });
});

describe('what is no JSON patch', () => {
  const cases: [what: string, operations: Json, why: RegExp][] = [
    ['an object', { op: 'remove', path: '/a' }, /is an array of operations/],
    ['an operation that is no object', ['remove'], /operation 0 .* is not an object/],
    ['an operation without op', [{ path: '/a' }], /no "op".*add, remove, replace, move, copy, test/],
    ['an unknown op', [{ op: 'delete', path: '/a' }], /"op": "delete"/],
    ['a path that is no pointer', [{ op: 'remove', path: 'a' }], /"path": "a", which is not a JSON pointer/],
    ['a pointer with a stray ~', [{ op: 'remove', path: '/a~2' }], /not a JSON pointer/],
    ['a missing path', [{ op: 'remove' }], /no "path"/],
    ['a missing from', [{ op: 'copy', path: '/a' }], /no "from"/],
    ['a missing value', [{ op: 'add', path: '/a' }], /no "value"/],
  ];
  for (const [what, operations, why] of cases) {
    it(`is refused with 400: ${what}`, () => {
      const error = refusal({ a: 1 }, operations);
      assert.equal(error.code, 400);
      assert.match(error.message, why);
    });
  }
});

describe('a hostile JSON patch', () => {
  it('is refused with 413 when it has more than 10 000 operations', () => {
    const operations = Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/a', value: 1 }));
    assert.equal(refusal({ a: 1 }, operations).code, 413);
    assert.deepEqual(jsonPatch({ a: 1 }, operations.slice(1)), { a: 1 });
  });

  it('cannot grow a document without end by copying it into itself', () => {
    const operations = Array.from({ length: 64 }, (_, index) => ({ op: 'copy', from: '', path: `/a${index}` }));
    assert.match(refusal({ seed: 'x'.repeat(100) }, operations).message, /copies of this patch add up to more than/);
  });

  it('cannot nest a document without end', () => {
    const fields = Object.fromEntries(Array.from({ length: 2000 }, (_, index) => [`k${index}`, {}]));
    const operations = Array.from({ length: 1999 }, (_, index) => ({
      op: 'move',
      from: `/k${index}`,
      path: `/k${index + 1}/c`,
    }));
    assert.match(refusal(fields, operations).message, /nest deeper than/);
    assert.match(refusal({}, [{ op: 'add', path: '/a', value: nested(5000) }]).message, /nested deeper than/);
  });

  it('costs one copy of a long array, however many operations change it', () => {
    const document = { list: Array.from({ length: 200_000 }, () => 0) };
    const operations = Array.from({ length: 10_000 }, (_, i) => ({ op: 'replace', path: `/list/${i}`, value: 1 }));
    const start = performance.now();
    jsonPatch(document, operations);
    assert.ok(performance.now() - start < 1000);
  });

  it('may not push millions of array items aside again and again', () => {
    const document = { list: Array.from({ length: 200_000 }, () => 0) };
    const operations = Array.from({ length: 10_000 }, () => ({ op: 'add', path: '/list/0', value: 1 }));
    assert.match(refusal(document, operations).message, /moves too many array items/);
  });
});

describe('any JSON patch', () => {
  const key = fc.constantFrom('a', 'b', 'c/d', '~', '', '__proto__', '0', '1');
  const value = fc.letrec<{ json: Json }>((tie) => ({
    json: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom<Json>(null, 1, 'x', true),
      fc.array(tie('json'), { maxLength: 3 }),
      fc.array(fc.tuple(key, tie('json')), { maxLength: 3 }).map((entries): Json => Object.fromEntries(entries)),
    ),
  })).json;
  const pointer = fc
    .array(fc.oneof(key, fc.constantFrom('-', '2')), { maxLength: 3 })
    .map((tokens) => tokens.map((token) => `/${token.replaceAll('~', '~0').replaceAll('/', '~1')}`).join(''));
  const operation = fc.oneof(
    fc.record({ op: fc.constantFrom('add', 'replace', 'test'), path: pointer, value }),
    fc.record({ op: fc.constant('remove'), path: pointer }),
    fc.record({ op: fc.constantFrom('move', 'copy'), path: pointer, from: pointer }),
  );

  it('does what one that copies everything for every operation does, and mutates nothing', () => {
    fc.assert(
      fc.property(value, fc.array(operation, { maxLength: 6 }), (document, operations) => {
        let expected: Json | undefined;
        try {
          expected = operations.reduce<Json>(naive, document);
        } catch {
          assert.equal(refusal(frozen(document), frozen(operations)).code, 422);
          return;
        }
        assert.equal(JSON.stringify(jsonPatch(frozen(document), frozen(operations))), JSON.stringify(expected));
      }),
      { numRuns: 2000 },
    );
  });
});

/** RFC 6902 without any care for speed or sharing. */
function naive(document: Json, operation: { op: string; path: string; from?: string; value?: Json }): Json {
  const whole: JsonObject = { root: structuredClone(document) };
  const tokens = (text: string) =>
    ['root', ...text.split('/').slice(1)].map((t) => t.replaceAll('~1', '/').replaceAll('~0', '~'));
  const get = (path: string[]): Json => path.reduce<Json>((at, token) => child(at, token), whole);
  const put = (path: string[], value: Json, how: 'insert' | 'overwrite') => {
    const parent = get(path.slice(0, -1));
    const last = path.at(-1) ?? '';
    if (Array.isArray(parent)) {
      const index = last === '-' && how === 'insert' ? parent.length : position(last);
      if (index > parent.length) throw new Error('beyond');
      parent.splice(index, how === 'insert' ? 0 : 1, value);
    } else if (isJsonObject(parent)) {
      Object.defineProperty(parent, last, { value, writable: true, enumerable: true, configurable: true });
    } else throw new Error('scalar');
  };
  const drop = (path: string[]) => {
    if (path.length === 1) throw new Error('root');
    const parent = get(path.slice(0, -1));
    get(path);
    if (Array.isArray(parent)) parent.splice(position(path.at(-1) ?? ''), 1);
    else if (isJsonObject(parent)) delete parent[path.at(-1) ?? ''];
  };
  const path = tokens(operation.path);
  const from = tokens(operation.from ?? '');
  const value = structuredClone(operation.value ?? null);
  if (operation.op === 'add') put(path, value, 'insert');
  else if (operation.op === 'remove') drop(path);
  else if (operation.op === 'replace') {
    get(path);
    put(path, value, 'overwrite');
  } else if (operation.op === 'copy') put(path, structuredClone(get(from)), 'insert');
  else if (operation.op === 'test') assert.deepEqual(get(path), value);
  else if (operation.from === operation.path) get(from);
  else {
    if (operation.path.startsWith(`${operation.from}/`)) throw new Error('into itself');
    const moved = get(from);
    drop(from);
    put(path, moved, 'insert');
  }
  return whole['root'] ?? null;
}

function child(at: Json, token: string): Json {
  const found = Array.isArray(at)
    ? at[position(token)]
    : isJsonObject(at) && Object.hasOwn(at, token)
      ? at[token]
      : undefined;
  if (found === undefined) throw new Error('missing');
  return found;
}

function position(token: string): number {
  if (String(Number(token)) !== token || Number(token) < 0) throw new Error('not a position');
  return Number(token);
}
