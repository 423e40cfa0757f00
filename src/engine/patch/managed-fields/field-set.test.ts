import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  difference,
  equalSets,
  type FieldSet,
  fieldSet,
  intersection,
  isEmpty,
  noFields,
  outside,
  pathsOf,
  union,
} from './field-set.ts';

const element = fc.constantFrom('f:a', 'f:b', 'f:__proto__', 'k:{"x":1}', 'v:"y"');
const path = fc.array(element, { minLength: 1, maxLength: 4 });
const paths = fc.array(path, { maxLength: 8 });

const spelled = (set: FieldSet): string[] => [...pathsOf(set)].map((steps) => steps.join(' ')).sort();
const spelledPaths = (list: readonly string[][]): string[] => [...new Set(list.map((steps) => steps.join(' ')))].sort();

describe('a field set', () => {
  it('holds the paths it was made of and no others', () => {
    fc.assert(fc.property(paths, (list) => assert.deepEqual(spelled(fieldSet(...list)), spelledPaths(list))));
  });

  it('joins, divides and intersects as sets of paths do', () => {
    fc.assert(
      fc.property(paths, paths, (first, second) => {
        const [a, b] = [fieldSet(...first), fieldSet(...second)];
        const [inA, inB] = [spelled(a), spelled(b)];
        assert.deepEqual(spelled(union(a, b)), spelledPaths([...first, ...second]));
        assert.deepEqual(
          spelled(intersection(a, b)),
          inA.filter((each) => inB.includes(each)),
        );
        assert.deepEqual(
          spelled(difference(a, b)),
          inA.filter((each) => !inB.includes(each)),
        );
      }),
    );
  });

  it('loses with a field all that is below it, where that is asked for', () => {
    fc.assert(
      fc.property(paths, paths, (first, second) => {
        const excluded = spelledPaths(second);
        const left = spelledPaths(first).filter(
          (each) => !excluded.some((out) => each === out || each.startsWith(`${out} `)),
        );
        assert.deepEqual(spelled(outside(fieldSet(...first), fieldSet(...second))), left);
      }),
    );
  });

  it('is the same set however it came about', () => {
    fc.assert(
      fc.property(paths, paths, (first, second) => {
        const [a, b] = [fieldSet(...first), fieldSet(...second)];
        assert.ok(equalSets(union(a, b), union(b, a)));
        assert.ok(equalSets(union(difference(a, b), intersection(a, b)), a));
        assert.ok(isEmpty(difference(a, union(b, a))));
      }),
    );
  });

  it('comes back itself from what does not change it', () => {
    const set = fieldSet(['f:a', 'f:b'], ['f:a', 'f:c'], ['f:d']);
    assert.equal(union(set, fieldSet(['f:a', 'f:b'])), set);
    assert.equal(difference(set, fieldSet(['f:a'], ['f:x', 'f:y'])), set);
    assert.equal(outside(set, fieldSet(['f:x'])), set);
    assert.equal(difference(set, set), noFields);
  });

  it('lists the members of a container before what is inside them', () => {
    const set = fieldSet(['f:b', 'f:x'], ['f:c'], ['f:a'], ['f:b']);
    assert.deepEqual([...pathsOf(set)], [['f:a'], ['f:b'], ['f:c'], ['f:b', 'f:x']]);
  });
});
