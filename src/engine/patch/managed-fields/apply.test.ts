import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../../api/json.ts';
import { ApiError, type Status } from '../../../api/status.ts';
import { nested } from '../hostile.fixture.ts';
import { applyPatch } from './apply.ts';
import {
  apply,
  at,
  entriesOf,
  owners,
  specOf,
  thing,
  thingSchema,
  update,
  withoutManagedFields,
} from './thing.fixture.ts';

function refusal(run: () => unknown): Status {
  try {
    run();
  } catch (error) {
    if (error instanceof ApiError) return error.status;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('applying', () => {
  it('creates an object whose applier owns what it applied', () => {
    const created = apply(
      undefined,
      thing({ size: 1, ports: [{ port: 80 }], options: { a: '1' }, free: { x: { y: 1 } } }),
      { manager: 'a' },
    );
    assert.deepEqual(
      withoutManagedFields(created),
      thing({ size: 1, ports: [{ port: 80 }], options: { a: '1' }, free: { x: { y: 1 } } }),
    );
    assert.deepEqual(entriesOf(created), [
      {
        manager: 'a',
        operation: 'Apply',
        apiVersion: 'example.com/v1',
        time: at(0),
        fieldsType: 'FieldsV1',
        fieldsV1: {
          'f:spec': {
            'f:free': { 'f:x': { '.': {}, 'f:y': {} } },
            'f:options': { 'f:a': {} },
            'f:ports': { 'k:{"port":80,"protocol":"TCP"}': { '.': {}, 'f:port': {} } },
            'f:size': {},
          },
        },
      },
    ]);
  });

  it('the same again gives back the very object', () => {
    const configuration = thing({ size: 1, tags: ['x'], options: {} });
    const created = apply(undefined, configuration, { manager: 'a' });
    assert.equal(apply(created, configuration, { manager: 'a', now: at(9) }), created);
  });

  it('removes what it applied before and leaves out now', () => {
    const created = apply(
      undefined,
      thing({ size: 1, mode: 'm', options: { a: '1', b: '2' }, tags: ['x', 'y'], ports: [{ port: 1 }, { port: 2 }] }),
      { manager: 'a' },
    );
    const applied = apply(created, thing({ mode: 'm', options: { b: '2' }, tags: ['y'], ports: [{ port: 2 }] }), {
      manager: 'a',
      now: at(1),
    });
    assert.deepEqual(specOf(applied), { mode: 'm', options: { b: '2' }, tags: ['y'], ports: [{ port: 2 }] });
    assert.deepEqual(
      entriesOf(applied).map(({ time }) => time),
      [at(1)],
    );
  });

  it('removes with a list item what nobody owns in it', () => {
    const created = apply(undefined, thing({ ports: [{ port: 1 }, { port: 2 }] }), { manager: 'a' });
    const defaulted = { ...created, spec: { ports: [{ port: 1, protocol: 'TCP' }, { port: 2 }] } };
    assert.deepEqual(specOf(apply(defaulted, thing({ ports: [{ port: 2 }] }), { manager: 'a' })), {
      ports: [{ port: 2 }],
    });
  });

  it('leaves alone what nobody owns beside what it removes, as long as somebody needs what it is in', () => {
    const created = apply(undefined, thing({ size: 1, limits: { low: '1' } }), { manager: 'a' });
    const shared = apply(created, thing({ size: 1 }), { manager: 'b' });
    const defaulted = { ...shared, spec: { size: 1, mode: 'auto', limits: { low: '1', high: '9' } } };
    assert.deepEqual(specOf(apply(defaulted, thing(), { manager: 'a' })), { size: 1, mode: 'auto' });
  });

  it('leaves in place what another manager owns too', () => {
    const first = apply(undefined, thing({ size: 1, mode: 'm' }), { manager: 'a' });
    const both = apply(first, thing({ size: 1 }), { manager: 'b' });
    assert.deepEqual(Object.keys(owners(both)), ['b/Apply', 'a/Apply']);
    assert.deepEqual(specOf(apply(both, thing({}), { manager: 'a' })), { size: 1 });
  });

  it('leaves a container in place that another manager owns, be it empty', () => {
    const created = update(undefined, thing({ options: {} }), { manager: 'u' });
    const applied = apply(created, thing({ options: { a: '1' } }), { manager: 'a' });
    const abandoned = apply(applied, thing(), { manager: 'a' });
    assert.deepEqual(withoutManagedFields(abandoned), thing({ options: {} }));
    assert.deepEqual(owners(abandoned), owners(created));
  });

  it('gives an entry no time when it changed no value, and so no new version to who owns what is so already', () => {
    const first = apply(undefined, thing({ size: 1 }), { manager: 'a', now: at(1) });
    const both = apply(first, thing({ size: 1 }), { manager: 'b', now: at(2) });
    assert.deepEqual(
      entriesOf(both).map(({ manager, time }) => [manager, time]),
      [
        ['b', undefined],
        ['a', at(1)],
      ],
    );
    assert.equal(apply(both, thing({ size: 1 }), { manager: 'b', now: at(3) }), both);
  });

  it('replaces what is atomic as a whole', () => {
    const first = apply(undefined, thing({ selector: { a: '1' }, steps: ['a', 'b'] }), { manager: 'a' });
    const second = apply(first, thing({ selector: { b: '2' }, steps: ['c'] }), { manager: 'a' });
    assert.deepEqual(specOf(second), { selector: { b: '2' }, steps: ['c'] });
  });

  it('stays the same manager in another version of the API', () => {
    const first = apply(undefined, thing({ size: 1 }), { manager: 'a' });
    const second = apply(
      first,
      { ...thing({ size: 1 }), apiVersion: 'example.com/v2' },
      { manager: 'a', apiVersion: 'example.com/v2' },
    );
    assert.deepEqual(
      entriesOf(second).map(({ apiVersion }) => apiVersion),
      ['example.com/v2'],
    );
  });

  it('owns nothing that the endpoint puts back', () => {
    const created = apply(
      undefined,
      { ...thing({ size: 1 }), status: { ready: 1 } },
      { manager: 'a', resetFields: ['status'] },
    );
    assert.deepEqual(owners(created), { 'a/Apply': { 'f:spec': { 'f:size': {} } } });
  });

  it('loses fields that another manager changes', () => {
    const created = apply(undefined, thing({ size: 1, mode: 'm' }), { manager: 'a' });
    const updated = update(created, { ...created, spec: { size: 2, mode: 'm' } }, { manager: 'u' });
    assert.deepEqual(owners(updated), {
      'a/Apply': { 'f:spec': { 'f:mode': {} } },
      'u/Update': { 'f:spec': { 'f:size': {} } },
    });
  });
});

describe('applying over fields of another manager', () => {
  const created = update(undefined, thing({ size: 1, mode: 'a', ports: [{ port: 80, name: 'web' }], tags: ['x'] }), {
    manager: 'kubectl-client-side-apply',
  });

  it('is a conflict where the value differs', () => {
    assert.deepEqual(
      refusal(() => apply(created, thing({ size: 2 }), { manager: 'a' })),
      {
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        message:
          'Apply failed with 1 conflict: conflict with "kubectl-client-side-apply" using example.com/v1: .spec.size',
        reason: 'Conflict',
        details: {
          causes: [
            {
              reason: 'FieldManagerConflict',
              message: 'conflict with "kubectl-client-side-apply" using example.com/v1',
              field: '.spec.size',
            },
          ],
        },
        code: 409,
      },
    );
  });

  it('names every field, by manager', () => {
    const other = apply(created, thing({ limits: { low: '1' } }), { manager: 'other', subresource: 'status' });
    const { message, details } = refusal(() =>
      apply(other, thing({ size: 2, limits: { low: '2' }, ports: [{ port: 80, name: 'x' }] }), { manager: 'a' }),
    );
    assert.equal(
      message,
      [
        'Apply failed with 3 conflicts: conflicts with "kubectl-client-side-apply" using example.com/v1:',
        '- .spec.size',
        '- .spec.ports[port=80,protocol="TCP"].name',
        'conflicts with "other" with subresource "status":',
        '- .spec.limits.low',
      ].join('\n'),
    );
    assert.equal(details?.causes?.length, 3);
  });

  it('is none where the value is the same, or new in a list or map', () => {
    const applied = apply(created, thing({ size: 1, tags: ['y'], ports: [{ port: 443 }] }), { manager: 'a' });
    assert.deepEqual(specOf(applied), {
      size: 1,
      mode: 'a',
      tags: ['x', 'y'],
      ports: [{ port: 80, name: 'web' }, { port: 443 }],
    });
  });

  it('takes the fields when forced', () => {
    const applied = apply(created, thing({ size: 2 }), { manager: 'a', force: true });
    assert.equal(specOf(applied)['size'], 2);
    assert.deepEqual(owners(applied)['a/Apply'], { 'f:spec': { 'f:size': {} } });
    assert.ok(!JSON.stringify(owners(applied)['kubectl-client-side-apply/Update']).includes('f:size'));
  });

  it('is a conflict with itself where the same client updates', () => {
    const object = update(undefined, thing({ size: 1 }), { manager: 'a' });
    assert.equal(refusal(() => apply(object, thing({ size: 2 }), { manager: 'a' })).code, 409);
  });
});

describe('the first apply to an object that nobody tracked', () => {
  it('finds that all its fields belong to before-first-apply', () => {
    const untracked = thing({ size: 1, mode: 'a' });
    const applied = apply(untracked, thing({ size: 1 }), { manager: 'a', now: at(4) });
    assert.deepEqual(owners(applied), {
      'a/Apply': { 'f:spec': { 'f:size': {} } },
      'before-first-apply/Update': { 'f:spec': { '.': {}, 'f:mode': {}, 'f:size': {} } },
    });
    const { message } = refusal(() => apply(untracked, thing({ size: 2 }), { manager: 'a' }));
    assert.match(message ?? '', /conflict with "before-first-apply" using example.com\/v1: .spec.size/);
  });
});

describe('a configuration that cannot be applied', () => {
  const cases: [what: string, applied: JsonObject, why: RegExp][] = [
    ['has managedFields', thing({}, { managedFields: [] }), /metadata.managedFields must be nil/],
    [
      'is of another version',
      { ...thing(), apiVersion: 'example.com/v9' },
      /Specified patch version: example.com\/v9, expected: example.com\/v1/,
    ],
    [
      'sets a field that the schema does not declare',
      thing({ sise: 1 }),
      /^failed to create typed patch object \(default\/x; example.com\/v1, Kind=Thing\): .spec.sise: field not declared in schema$/,
    ],
    [
      'has an unknown field in a list item',
      thing({ ports: [{ port: 1, x: 1 }] }),
      /.spec.ports\[port=1,protocol="TCP"\].x: field not declared/,
    ],
    ['has an unknown field in metadata', thing({}, { lables: {} }), /.metadata.lables: field not declared/],
    [
      'has an item without its key',
      thing({ ports: [{ port: 1 }, { name: 'x' }] }),
      /.spec.ports: element 1: the item omits "port"/,
    ],
    [
      'has an item that is no object',
      thing({ ports: ['x'] }),
      /.spec.ports: element 0: items of this list must be objects/,
    ],
    [
      'has an item twice',
      thing({ ports: [{ port: 1 }, { port: 1, protocol: 'TCP' }] }),
      /.spec.ports\[port=1,protocol="TCP"\]: occurs twice/,
    ],
    ['has an object in a set', thing({ tags: [{}] }), /.spec.tags: element 0: items of this set must be plain values/],
    ['has a value of a set twice', thing({ tags: ['a', 'a'] }), /.spec.tags\[="a"\]: occurs twice/],
    ['has several faults', thing({ a: 1, b: 1 }), /errors:\n {2}.spec.a: field.*\n {2}.spec.b: field/],
  ];
  for (const [what, applied, why] of cases) {
    it(`is refused with 400 when it ${what}`, () => {
      const { code, message } = refusal(() => apply(undefined, applied, { manager: 'a' }));
      assert.equal(code, 400);
      assert.match(message ?? '', why);
    });
  }

  it('is refused with 400 when it nests too deep to walk', () => {
    const request = { live: undefined, force: false, schema: thingSchema, apiVersion: 'example.com/v1', now: at(0) };
    const applied = thing({ free: { a: nested(100_000) } });
    assert.throws(() => applyPatch({ ...request, applied, manager: 'a' }), { code: 400, message: /nested deeper/ });
  });

  it('lists only the first of many faults', () => {
    const spec = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`f${index}`, 1]));
    assert.ok((refusal(() => apply(undefined, thing(spec), { manager: 'a' })).message ?? '').length < 2000);
  });
});
