import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { JsonObject } from '../../api/json.ts';
import { arbitraryJson } from '../schema/arbitrary.fixture.ts';
import { canonicalize } from './canonical.ts';
import { builtinKinds } from './kinds.ts';
import { schemaOfKind } from './schemas.ts';

const core = (kind: string, object: JsonObject): JsonObject => {
  canonicalize(object, schemaOfKind({ group: '', version: 'v1', kind }));
  return object;
};
const podWith = (container: JsonObject): JsonObject => core('Pod', { spec: { containers: [container] } });
const onlyContainer = (container: JsonObject): JsonObject => ({ spec: { containers: [container] } });

describe('the one form of an object', () => {
  it('has no fields that are null', () => {
    assert.deepEqual(core('Pod', { metadata: { name: 'p', creationTimestamp: null }, spec: { nodeName: null } }), {
      metadata: { name: 'p' },
      spec: {},
    });
  });

  it('has empty texts for nulls in a map of texts', () => {
    assert.deepEqual(core('ConfigMap', { data: { a: null } }), { data: { a: '' } });
  });

  it('leaves out what says nothing, unless nothing is meant', () => {
    assert.deepEqual(
      podWith({ name: '', stdin: false, args: [], env: [{ name: 'a', value: '' }], resources: {} }),
      onlyContainer({ name: '', env: [{ name: 'a' }], resources: {} }),
    );
    assert.deepEqual(core('Pod', { spec: { containers: [], hostUsers: false, hostPID: false, nodeSelector: {} } }), {
      spec: { containers: [], hostUsers: false },
    });
  });

  it('keeps what would say nothing in a field of another type', () => {
    for (const data of [[], '', 0, false]) assert.deepEqual(core('ConfigMap', { data }), { data });
    assert.deepEqual(podWith({ args: {}, stdin: '' }), onlyContainer({ args: {}, stdin: '' }));
  });

  it('spells quantities in one way', () => {
    const resources = { limits: { cpu: 0.5, memory: '1024Mi' } };
    assert.deepEqual(podWith({ resources }), onlyContainer({ resources: { limits: { cpu: '500m', memory: '1Gi' } } }));
  });

  it('spells timestamps in UTC, in seconds', () => {
    const event = core('Event', { firstTimestamp: '2024-01-01T01:30:00.75+01:30', eventTime: '2024-01-01T00:00:00Z' });
    assert.deepEqual(event, { firstTimestamp: '2024-01-01T00:00:00Z', eventTime: '2024-01-01T00:00:00.000000Z' });
  });

  it('joins base64 that was broken into lines', () => {
    assert.deepEqual(core('Secret', { data: { a: 'AAAA\nAAAA\r\n' } }), { data: { a: 'AAAAAAAA' } });
  });

  it('keeps what is no quantity, no time and of no known field for others to judge', () => {
    const object = {
      metadata: { creationTimestamp: 'soon' },
      spec: { what: [null] },
      status: { capacity: { cpu: 'lots' } },
    };
    assert.deepEqual(core('Node', structuredClone(object)), object);
  });

  it('does not look into JSON that Go does not read', () => {
    const schema = { type: 'object', default: { a: null, b: '' }, enum: [null, ''] };
    const definition = { spec: { versions: [{ name: 'v1', schema: { openAPIV3Schema: schema } }] } };
    const copy = structuredClone(definition);
    canonicalize(
      copy,
      schemaOfKind({ group: 'apiextensions.k8s.io', version: 'v1', kind: 'CustomResourceDefinition' }),
    );
    assert.deepEqual(copy, definition);
  });

  it('keeps a label that is called __proto__', () => {
    const object: JsonObject = JSON.parse('{"metadata":{"labels":{"__proto__":null}}}');
    assert.equal(JSON.stringify(core('Pod', object)), '{"metadata":{"labels":{"__proto__":""}}}');
  });

  it('is reached without recursion', () => {
    let properties: JsonObject = {};
    for (let depth = 0; depth < 50_000; depth++) properties = { a: { properties } };
    const schema = schemaOfKind({ group: 'apiextensions.k8s.io', version: 'v1', kind: 'CustomResourceDefinition' });
    canonicalize({ spec: { versions: [{ schema: { openAPIV3Schema: { properties } } }] } }, schema);
  });

  it('stays as it is when it is brought about again, whatever the object', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...builtinKinds),
        fc.dictionary(fc.string(), arbitraryJson),
        arbitraryJson,
        (kind, rest, spec) => {
          const once: JsonObject = { ...rest, spec, metadata: { labels: spec } };
          canonicalize(once, kind.schema);
          const twice = structuredClone(once);
          canonicalize(twice, kind.schema);
          assert.deepEqual(twice, once);
        },
      ),
    );
  });
});
