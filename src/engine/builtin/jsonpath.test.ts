import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Json } from '../../api/json.ts';
import { compileJsonPath } from './jsonpath.ts';

const object: Json = {
  metadata: { name: 'n', annotations: { 'a.b/c': 'x' } },
  spec: { list: [1, 2, 3, 4], inner: { a: 1, b: 'two' }, yes: true, nothing: null },
  status: {
    conditions: [
      { type: 'Ready', status: 'True', count: 1 },
      { type: 'Other', status: 'False', count: 2 },
      { type: 'Ready', status: 'Unknown' },
    ],
  },
};

describe('a path', () => {
  // As k8s.io/client-go/util/jsonpath answers, but for quoted names with dots, which it splits.
  const found: [path: string, ...results: Json[]][] = [
    ['.metadata.name', 'n'],
    ['$.metadata.name', 'n'],
    ['@.metadata.name', 'n'],
    ['.spec.list', [1, 2, 3, 4]],
    ['.spec.list[0]', 1],
    ['.spec.list[-1]', 4],
    ['.spec.list[1:3]', 2, 3],
    ['.spec.list[:2]', 1, 2],
    ['.spec.list[-2:]', 3, 4],
    ['.spec.list[::2]', 1, 3],
    ['.spec.list[0:0]'],
    ['.spec.list[9]'],
    ['.spec.list[3:9]'],
    ['.spec.list[*]', 1, 2, 3, 4],
    ['.spec.list[0,2]', 1, 3],
    ['.spec.inner.*', 1, 'two'],
    ["['spec']['inner'].a", 1],
    ["['spec','metadata'].name", 'n'],
    ['.spec.yes', true],
    ['.spec.nothing', null],
    ['.spec.missing.more'],
    ['.metadata.name.more'],
    ['.metadata.annotations.a\\.b/c', 'x'],
    ["['metadata'].annotations['a.b/c']", 'x'],
    ["['metadata'].annotations['a\\.b/c']", 'x'],
    ['..count', 1, 2],
    ['.status..type', 'Ready', 'Other', 'Ready'],
    ['.status.conditions[?(@.type=="Ready")].status', 'True', 'Unknown'],
    [".status.conditions[?(@.type == 'Other')].count", 2],
    ['.status.conditions[?(@.type!="Ready")].type', 'Other'],
    ['.status.conditions[?(@.count)].count', 1, 2],
    ['.status.conditions[?(@.count>1)].type', 'Other'],
    ['.status.conditions[?(@.count<=1)].type', 'Ready'],
    ['.status.conditions[?(@.count=="1")].type'],
    ['.status.conditions[?(@.status=="a)b")].type'],
    ['.metadata[?(@.name=="n")]'],
  ];
  for (const [path, ...results] of found) {
    it(`${path} finds ${JSON.stringify(results)}`, () => assert.deepEqual(compileJsonPath(path)(object), results));
  }

  it('does not find what only the prototype has', () => {
    assert.deepEqual(compileJsonPath('.constructor')({}), []);
    assert.deepEqual(compileJsonPath('.__proto__')(JSON.parse('{"__proto__":1}')), [1]);
  });

  it('of nothing is the value itself', () => assert.deepEqual(compileJsonPath('')(object), [object]));
});

describe('a path that is wrong', () => {
  const faults: [path: string, fault: RegExp][] = [
    ['spec', /"spec" has "s" where a \. or \[ should be, at character 1/],
    ['.a[', /has a \[ without its \]/],
    ['.a[x]', /has "x" in brackets/],
    ['.a[]', /has "" in brackets/],
    ['.a[::0]', /has a slice with the step 0/],
    ['.a[?(@.b=="c"', /has a \[ without its \)/],
    ['.a[?(@.b=="c")', /does not end with \)\]/],
    ['.a[?(@.b=~"c")]', /compares by =/],
    ['.a[?(b=="c")]', /"b" where a path/],
    ['....a', /two recursive descents/],
    [`.${'a'.repeat(5000)}`, /longer than 4096/],
  ];
  for (const [path, fault] of faults) {
    it(`is refused with a sentence: ${path.slice(0, 20)}`, () => assert.throws(() => compileJsonPath(path), fault));
  }

  it('does nothing worse than that, whatever it is', () => {
    const text = fc.string({ unit: fc.constantFrom(...'.[]()?@"\'*:,-=<>!\\ ab01'), maxLength: 24 });
    fc.assert(
      fc.property(text, (path) => {
        let search: (value: Json) => Json[];
        try {
          search = compileJsonPath(path);
        } catch (error) {
          assert.match(String(error), /the JSONPath/);
          return;
        }
        assert.ok(Array.isArray(search(object)));
      }),
      { numRuns: 500 },
    );
  });

  it('does not search for ever', () => {
    const wide: Json = Array.from({ length: 300 }, () => Array.from({ length: 30 }, () => ({ a: [{ b: 1 }] })));
    const start = process.cpuUsage();
    compileJsonPath('..*..*..*..*')(wide);
    compileJsonPath('..[?(@..b)]..[?(@..b==1)]')(wide);
    assert.ok(process.cpuUsage(start).user / 1000 < 5000);
  });
});
