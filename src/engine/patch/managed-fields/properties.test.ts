import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { isJsonObject, type Json, type JsonObject } from '../../../api/json.ts';
import {
  apply,
  at,
  entriesOf,
  owners,
  specOf,
  specs,
  thing,
  things,
  update,
  withoutManagedFields,
} from './thing.fixture.ts';

/** The same content, whatever the order of lists that have none. */
function unordered(value: Json): Json {
  if (Array.isArray(value))
    return value.map(unordered).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, unordered(value[key] ?? null)]),
  );
}

/** Splits a configuration into two that share no field. */
function split(spec: JsonObject, toFirst: readonly boolean[]): [JsonObject, JsonObject] {
  const halves: [JsonObject, JsonObject] = [{}, {}];
  for (const [index, key] of Object.keys(spec).entries()) halves[toFirst[index] ? 0 : 1][key] = spec[key] ?? null;
  return halves;
}

/** A list that is empty from the start has nothing in it to own: it may go with others, or stay. */
const withoutEmptyLists = (spec: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(spec).filter(([, value]) => !(Array.isArray(value) && value.length === 0)));

// Whatever runs below runs on frozen inputs: whoever changes them throws.
describe('any object', () => {
  it('belongs to its creator, and creating tells nothing twice', () => {
    fc.assert(
      fc.property(things, (object) => {
        const created = update(undefined, object, { manager: 'm' });
        assert.deepEqual(withoutManagedFields(created), object);
        assert.equal(update(created, created, { manager: 'other' }), created);
      }),
    );
  });

  it('that changes and changes back belongs, in what changed, to who did that', () => {
    fc.assert(
      fc.property(things, things, (first, second) => {
        const created = update(undefined, first, { manager: 'a' });
        const there = update(created, second, { manager: 'b', now: at(1) });
        const back = update(there, first, { manager: 'b', now: at(2) });
        assert.deepEqual(withoutManagedFields(back), first);
        const owned = JSON.stringify(owners(back));
        for (const name of Object.keys(specOf(first))) assert.ok(owned.includes(JSON.stringify(`f:${name}`)));
      }),
    );
  });
});

describe('any apply', () => {
  it('changes nothing the second time', () => {
    fc.assert(
      fc.property(things, things, (before, configuration) => {
        const live = update(undefined, before, { manager: 'm' });
        const once = apply(live, configuration, { manager: 'a', force: true, now: at(1) });
        assert.equal(apply(once, configuration, { manager: 'a', now: at(2) }), once);
      }),
    );
  });

  it('leaves nothing behind when its manager applies nothing any more', () => {
    fc.assert(
      fc.property(things, (configuration) => {
        const created = apply(undefined, configuration, { manager: 'a' });
        const left = apply(created, thing(), { manager: 'a' });
        assert.deepEqual(entriesOf(left), []);
        assert.deepEqual(withoutEmptyLists(specOf(left)), {});
      }),
    );
  });

  it('undone by its manager restores what others had', () => {
    fc.assert(
      fc.property(specs, fc.array(fc.boolean(), { minLength: 9, maxLength: 9 }), (spec, sides) => {
        const [mine, theirs] = split(spec, sides);
        // A label, because an object that nobody owns anything of counts as never tracked.
        const before = apply(undefined, thing(mine, { labels: { a: 'is here' } }), { manager: 'a' });
        const both = apply(before, thing(theirs), { manager: 'b', now: at(1) });
        const after = apply(both, thing(), { manager: 'b', now: at(2) });
        assert.deepEqual(owners(after), owners(before));
        const kept = Object.entries(specOf(after)).filter(([name]) => Object.hasOwn(mine, name));
        assert.deepEqual(withoutEmptyLists(Object.fromEntries(kept)), withoutEmptyLists(specOf(before)));
      }),
    );
  });

  it('of two managers with different fields comes to the same in either order', () => {
    fc.assert(
      fc.property(specs, fc.array(fc.boolean(), { minLength: 9, maxLength: 9 }), (spec, sides) => {
        const [mine, theirs] = split(spec, sides);
        const first = thing(mine, { labels: { a: 'is here' } });
        const second = thing(theirs, { labels: { b: 'is here' } });
        const ab = apply(apply(undefined, first, { manager: 'a' }), second, { manager: 'b' });
        const ba = apply(apply(undefined, second, { manager: 'b' }), first, { manager: 'a' });
        assert.deepEqual(unordered(withoutManagedFields(ab)), unordered(withoutManagedFields(ba)));
        assert.deepEqual(owners(ab), owners(ba));
      }),
    );
  });

  it('that is forced has its way, and the fields it took have one owner', () => {
    fc.assert(
      fc.property(specs, specs, (before, wanted) => {
        const live = update(undefined, thing(before), { manager: 'm' });
        const forced = apply(live, thing(wanted), { manager: 'a', force: true });
        const { size, mode, selector, steps } = wanted;
        for (const [name, value] of Object.entries({ size, mode, selector, steps })) {
          if (value !== undefined) assert.deepEqual(specOf(forced)[name], value);
        }
        // Whoever applies after that with the same values has no conflict.
        apply(forced, thing(wanted), { manager: 'b' });
      }),
    );
  });

  it('conflicts, or does what it would do if forced', () => {
    fc.assert(
      fc.property(things, things, (before, wanted) => {
        const live = update(undefined, before, { manager: 'm' });
        const forced = apply(live, wanted, { manager: 'a', force: true });
        try {
          assert.deepEqual(apply(live, wanted, { manager: 'a' }), forced);
        } catch (error) {
          if (!(error instanceof Error && 'code' in error && error.code === 409)) throw error;
          assert.notDeepEqual(owners(forced)['m/Update'], owners(live)['m/Update']);
        }
      }),
    );
  });
});
