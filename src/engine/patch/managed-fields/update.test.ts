import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Json, JsonObject } from '../../../api/json.ts';
import type { JsonSchema } from '../../../api/json-schema.ts';
import { nested } from '../hostile.fixture.ts';
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
import { trackUpdate } from './update.ts';

const withSpec = (object: JsonObject, spec: JsonObject): JsonObject => ({
  ...object,
  spec: { ...specOf(object), ...spec },
});
const withEntries = (object: JsonObject, managedFields: Json): JsonObject => {
  const metadata = withoutManagedFields(object)['metadata'];
  return { ...object, metadata: { ...(typeof metadata === 'object' ? metadata : {}), managedFields } };
};

describe('creating an object', () => {
  it('makes the creator the owner of all that it holds, but not of what names it', () => {
    const created = update(
      undefined,
      thing(
        { size: 1, selector: { a: 'b' }, options: { o: 'p' }, steps: ['s'] },
        { uid: 'u', generation: 1, labels: { l: '1' } },
      ),
      { manager: 'kubectl-create' },
    );
    assert.deepEqual(entriesOf(created), [
      {
        manager: 'kubectl-create',
        operation: 'Update',
        apiVersion: 'example.com/v1',
        time: at(0),
        fieldsType: 'FieldsV1',
        fieldsV1: {
          'f:metadata': { 'f:labels': { '.': {}, 'f:l': {} } },
          'f:spec': {
            '.': {},
            'f:options': { '.': {}, 'f:o': {} },
            'f:selector': {},
            'f:size': {},
            'f:steps': {},
          },
        },
      },
    ]);
  });

  it('names items of keyed lists by their keys and of sets by their value', () => {
    const created = update(undefined, thing({ ports: [{ port: 80, name: 'web' }], tags: ['x'] }), { manager: 'm' });
    assert.deepEqual(owners(created), {
      'm/Update': {
        'f:spec': {
          '.': {},
          'f:ports': { '.': {}, 'k:{"port":80,"protocol":"TCP"}': { '.': {}, 'f:name': {}, 'f:port': {} } },
          'f:tags': { '.': {}, 'v:"x"': {} },
        },
      },
    });
  });

  it('leaves no entry where there is nothing to own', () => {
    assert.deepEqual(update(undefined, thing(), { manager: 'm' }), thing());
  });

  it('calls a client without name unknown', () => {
    assert.deepEqual(Object.keys(owners(update(undefined, thing({ size: 1 }), { manager: '' }))), ['unknown/Update']);
  });

  it('starts afresh whatever managedFields the client sends along', () => {
    const copied = update(undefined, thing({ size: 1 }), { manager: 'somebody' });
    assert.deepEqual(Object.keys(owners(update(undefined, copied, { manager: 'm' }))), ['m/Update']);
  });
});

describe('published kinds', () => {
  const published: JsonSchema = {
    ...thingSchema,
    'x-kubernetes-group-version-kind': [{ group: 'example.com', version: 'v1', kind: 'Thing' }],
    properties: {
      spec: {
        type: 'object',
        default: {},
        required: ['ports'],
        properties: {
          limits: { type: 'object', properties: { low: { type: 'string' } } },
          ports: {
            type: 'array',
            items: { type: 'object' },
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-list-map-keys': ['name'],
          },
        },
      },
    },
  };
  it('have their mandatory objects and lists always: nobody owns these for setting something inside', () => {
    const created = update(undefined, thing({ limits: { low: '1' }, ports: [{ name: 'a' }] }), {
      manager: 'm',
      schema: published,
    });
    assert.deepEqual(owners(created), {
      'm/Update': {
        'f:spec': { 'f:limits': { '.': {}, 'f:low': {} }, 'f:ports': { 'k:{"name":"a"}': { '.': {}, 'f:name': {} } } },
      },
    });
  });
});

describe('updating an object', () => {
  const created = update(undefined, thing({ size: 1, mode: 'a', tags: ['x'], options: { o: '1' } }), {
    manager: 'creator',
  });

  it('gives what changed to the writer and takes it from others', () => {
    const updated = update(created, withSpec(created, { size: 2 }), { manager: 'writer', now: at(5) });
    assert.deepEqual(owners(updated), {
      'creator/Update': {
        'f:spec': { '.': {}, 'f:mode': {}, 'f:options': { '.': {}, 'f:o': {} }, 'f:tags': { '.': {}, 'v:"x"': {} } },
      },
      'writer/Update': { 'f:spec': { 'f:size': {} } },
    });
    assert.deepEqual(
      entriesOf(updated).map(({ time }) => time),
      [at(0), at(5)],
    );
  });

  it('adds to what the writer had', () => {
    const first = update(created, withSpec(created, { size: 2 }), { manager: 'writer', now: at(5) });
    const second = update(first, withSpec(first, { mode: 'b' }), { manager: 'writer', now: at(9) });
    assert.deepEqual(owners(second)['writer/Update'], { 'f:spec': { 'f:mode': {}, 'f:size': {} } });
    assert.deepEqual(
      entriesOf(second).map(({ time }) => time),
      [at(0), at(9)],
    );
  });

  it('takes what is removed from everybody, and leaves the time of who loses alone', () => {
    const { mode: _, ...spec } = specOf(created);
    const updated = update(created, { ...created, spec }, { manager: 'writer', now: at(5) });
    assert.deepEqual(owners(updated), {
      'creator/Update': {
        'f:spec': { '.': {}, 'f:options': { '.': {}, 'f:o': {} }, 'f:size': {}, 'f:tags': { '.': {}, 'v:"x"': {} } },
      },
    });
    assert.deepEqual(
      entriesOf(updated).map(({ time }) => time),
      [at(0)],
    );
  });

  it('lets a manager vanish that has nothing left', () => {
    const owned = update(created, withSpec(created, { size: 2 }), { manager: 'writer' });
    const updated = update(owned, withSpec(owned, { size: 3 }), { manager: 'other' });
    assert.deepEqual(Object.keys(owners(updated)), ['creator/Update', 'other/Update']);
  });

  it('gives back the very object when nothing changed', () => {
    assert.equal(update(created, created, { manager: 'writer', now: at(5) }), created);
  });

  it('does not care about the order of sets and keyed lists', () => {
    const object = update(undefined, thing({ tags: ['a', 'b'], ports: [{ port: 1 }, { port: 2 }] }), { manager: 'm' });
    const turned = withSpec(object, { tags: ['b', 'a'], ports: [{ port: 2 }, { port: 1 }] });
    assert.deepEqual(owners(update(object, turned, { manager: 'w' })), owners(object));
  });

  it('owns a value of another kind, and all in it', () => {
    const object = update(undefined, thing({ free: { a: 'x' } }), { manager: 'm' });
    const updated = update(object, withSpec(object, { free: { a: { b: [1] } } }), { manager: 'w' });
    assert.deepEqual(owners(updated), {
      'm/Update': { 'f:spec': { '.': {}, 'f:free': {} } },
      'w/Update': { 'f:spec': { 'f:free': { 'f:a': { '.': {}, 'f:b': {} } } } },
    });
  });

  it('counts writes to a subresource, and in another version, as those of another manager', () => {
    const first = update(created, withSpec(created, { size: 2 }), { manager: 'm' });
    const second = update(first, { ...first, status: { ready: 1 } }, { manager: 'm', subresource: 'status' });
    const third = update(second, withSpec(second, { mode: 'z' }), { manager: 'm', apiVersion: 'example.com/v2' });
    assert.deepEqual(
      entriesOf(third).map(({ manager, apiVersion, subresource }) => [manager, apiVersion, subresource]),
      [
        ['creator', 'example.com/v1', undefined],
        ['m', 'example.com/v1', undefined],
        ['m', 'example.com/v1', 'status'],
        ['m', 'example.com/v2', undefined],
      ],
    );
  });

  it('owns nothing of the fields that the endpoint puts back, and takes nothing there from others', () => {
    const object = update(
      created,
      { ...created, status: { ready: 1 } },
      { manager: 'controller', subresource: 'status' },
    );
    const sent = { ...withSpec(object, { size: 2 }), status: { ready: 2 } };
    const updated = update(object, sent, { manager: 'w', resetFields: ['status'] });
    assert.deepEqual(owners(updated)['w/Update'], { 'f:spec': { 'f:size': {} } });
    assert.deepEqual(owners(updated)['controller/Update/status'], { 'f:status': { '.': {}, 'f:ready': {} } });
    const labelled = {
      ...sent,
      metadata: { name: 'x', namespace: 'default', labels: { a: '1' }, annotations: { b: '2' } },
    };
    const status = update(object, labelled, {
      manager: 'w',
      subresource: 'status',
      resetFields: ['spec', 'metadata.labels'],
    });
    assert.deepEqual(owners(status)['w/Update/status'], {
      'f:metadata': { 'f:annotations': { '.': {}, 'f:b': {} } },
      'f:status': { 'f:ready': {} },
    });
  });

  it('keeps lists with unusable items as a whole, until validation refuses them', () => {
    const object = update(undefined, thing({ ports: [{ name: 'no port' }], tags: [{ not: 'a scalar' }] }), {
      manager: 'm',
    });
    assert.deepEqual(owners(object), { 'm/Update': { 'f:spec': { '.': {}, 'f:ports': {}, 'f:tags': {} } } });
  });

  it('owns items that occur twice by their name alone', () => {
    const object = update(undefined, thing({ ports: [{ port: 1 }, { port: 1, name: 'twin' }, { port: 2 }] }), {
      manager: 'm',
    });
    assert.deepEqual(owners(object), {
      'm/Update': {
        'f:spec': {
          '.': {},
          'f:ports': {
            '.': {},
            'k:{"port":1,"protocol":"TCP"}': {},
            'k:{"port":2,"protocol":"TCP"}': { '.': {}, 'f:port': {} },
          },
        },
      },
    });
    const single = update(object, withSpec(object, { ports: [{ port: 1 }, { port: 2 }] }), { manager: 'w' });
    assert.deepEqual(owners(single)['w/Update'], {
      'f:spec': { 'f:ports': { 'k:{"port":1,"protocol":"TCP"}': { '.': {}, 'f:port': {} } } },
    });
  });
});

describe('managedFields that a client sends', () => {
  const created = update(undefined, thing({ size: 1 }), { manager: 'creator' });

  it('may be missing: then those of the stored object go on', () => {
    assert.deepEqual(owners(update(created, thing({ size: 1 }), { manager: 'w' })), owners(created));
  });

  it('are taken when they differ from the stored ones', () => {
    const entry = {
      manager: 'new',
      operation: 'Apply',
      apiVersion: 'v1',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:spec': { 'f:size': {} } },
    };
    assert.deepEqual(entriesOf(update(created, withEntries(created, [entry]), { manager: 'w' })), [entry]);
    assert.deepEqual(
      owners(update(created, withEntries(created, [entry]), { manager: 'w', subresource: 'status' })),
      owners(created),
    );
  });

  it('are passed over when no server could have written them', () => {
    const entry = { manager: 'm', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: {} };
    for (const broken of [
      { ...entry, operation: 'Delete' },
      { ...entry, apiVersion: '' },
      { ...entry, fieldsType: 'FieldsV2' },
      { ...entry, fieldsV1: { broken: {} } },
      'text',
    ]) {
      assert.deepEqual(owners(update(created, withEntries(created, [broken]), { manager: 'w' })), owners(created));
    }
    assert.deepEqual(owners(update(created, withEntries(created, 'text'), { manager: 'w' })), owners(created));
  });

  it('forget every manager when they are empty, or one empty entry; nobody is tracked from then on', () => {
    for (const reset of [[], [{}]]) {
      const cleared = update(created, withEntries(withSpec(created, { size: 2 }), reset), { manager: 'w' });
      assert.deepEqual(cleared, thing({ size: 2 }));
      assert.deepEqual(update(cleared, withSpec(cleared, { size: 3 }), { manager: 'w' }), thing({ size: 3 }));
    }
  });

  it('come back in the order of operation, time and name', () => {
    const entry = (manager: string, operation: string, time?: string) => ({
      manager,
      operation,
      apiVersion: 'v1',
      ...(time === undefined ? {} : { time }),
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:spec': { 'f:size': {} } },
    });
    const sorted = [
      entry('z', 'Apply'),
      entry('b', 'Apply', at(1)),
      entry('a', 'Apply', at(2)),
      entry('a', 'Update', at(0)),
      entry('b', 'Update', at(0)),
    ];
    const sent = withEntries(created, [...sorted].reverse());
    assert.deepEqual(entriesOf(update(created, sent, { manager: 'w' })), sorted);
  });
});

describe('many managers', () => {
  const many = (count: number): JsonObject => {
    let object = update(undefined, thing({ options: {} }), { manager: 'creator' });
    const options: JsonObject = {};
    for (let i = 1; i <= count; i++) {
      options[`o${i}`] = '1';
      object = update(object, withSpec(object, { options: { ...options } }), { manager: `m${i}`, now: at(i) });
    }
    return object;
  };

  it('are ten at most: the oldest become ancient-changes', () => {
    assert.equal(entriesOf(many(9)).length, 10);
    assert.deepEqual(Object.keys(owners(many(12))), [
      'ancient-changes/Update',
      ...[4, 5, 6, 7, 8, 9, 10, 11, 12].map((i) => `m${i}/Update`),
    ]);
    assert.deepEqual(owners(many(12))['ancient-changes/Update'], {
      'f:spec': { '.': {}, 'f:options': { '.': {}, 'f:o1': {}, 'f:o2': {}, 'f:o3': {} } },
    });
    assert.equal(entriesOf(many(12))[0]?.['time'], at(3));
  });

  it('lose nothing of what they own together', () => {
    const owned = JSON.stringify(Object.values(owners(many(40))));
    for (let i = 1; i <= 40; i++) assert.ok(owned.includes(`"f:o${i}"`));
    assert.equal(entriesOf(many(40)).length, 10);
  });

  it('count only updaters: appliers stay', () => {
    let object = many(9);
    for (let i = 1; i <= 12; i++) object = apply(object, thing({ size: 1 }), { manager: `applier${i}` });
    assert.equal(entriesOf(update(object, withSpec(object, { mode: 'x' }), { manager: 'm9', now: at(99) })).length, 22);
  });
});

describe('a schema that changed since', () => {
  it('makes the owners of parts owners of what is atomic now', () => {
    const created = update(undefined, thing({ options: { a: '1' }, tags: ['x'], ports: [{ port: 1 }] }), {
      manager: 'm',
    });
    const atomic = (name: string): JsonSchema => ({ ...thingSchema.properties?.['spec']?.properties?.[name] });
    const schema: JsonSchema = {
      type: 'object',
      properties: {
        spec: {
          type: 'object',
          properties: {
            options: { ...atomic('options'), 'x-kubernetes-map-type': 'atomic' },
            tags: { ...atomic('tags'), 'x-kubernetes-list-type': 'atomic' },
            ports: { ...atomic('ports'), 'x-kubernetes-list-type': 'atomic' },
          },
        },
      },
    };
    assert.deepEqual(owners(update(created, created, { manager: 'w', schema })), {
      'm/Update': { 'f:spec': { '.': {}, 'f:options': {}, 'f:ports': {}, 'f:tags': {} } },
    });
  });
});

describe('a cyclic schema', () => {
  it('is walked as far as the value goes', () => {
    const node: JsonSchema = { type: 'object', properties: {} };
    node.properties = { next: node, value: { type: 'string' } };
    const created = update(undefined, thing({ next: { next: { value: 'x' } } }), {
      manager: 'm',
      schema: { type: 'object', properties: { spec: node } },
    });
    assert.deepEqual(owners(created), {
      'm/Update': { 'f:spec': { '.': {}, 'f:next': { '.': {}, 'f:next': { '.': {}, 'f:value': {} } } } },
    });
  });
});

describe('a hostile object', () => {
  it('is refused with 400 when it nests too deep to walk', () => {
    const updated = thing({ free: { a: nested(100_000) } });
    const request = {
      live: undefined,
      updated,
      manager: 'm',
      schema: thingSchema,
      apiVersion: 'example.com/v1',
      now: at(0),
    };
    assert.throws(() => trackUpdate(request), { code: 400, message: /nested deeper/ });
  });

  it('may call its fields what it likes', () => {
    const hostile: JsonObject = JSON.parse('{"__proto__":"1","constructor":"2","a.b":"3","\\"":"4","":"5",".":"6"}');
    const created = update(undefined, thing({ options: hostile }), { manager: 'm' });
    assert.deepEqual(owners(created), {
      'm/Update': {
        'f:spec': {
          '.': {},
          'f:options': { '.': {}, 'f:': {}, 'f:"': {}, 'f:.': {}, 'f:__proto__': {}, 'f:a.b': {}, 'f:constructor': {} },
        },
      },
    });
    const updated = update(created, withSpec(created, { options: { constructor: '2' } }), { manager: 'w' });
    assert.deepEqual(owners(updated), {
      'm/Update': { 'f:spec': { '.': {}, 'f:options': { '.': {}, 'f:constructor': {} } } },
    });
  });
});
