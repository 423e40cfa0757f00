import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isJsonObject, type Json } from '../../api/json.ts';
import type { JsonSchema } from '../../api/json-schema.ts';
import { builtinKinds } from './kinds.ts';
import { publishedSchemas } from './published.ts';
import {
  componentsOfGroupVersion,
  omittedWhenEmpty,
  schemaNamed,
  schemaNameOf,
  schemaOfKind,
  spellingOf,
} from './schemas.ts';

const META = 'io.k8s.apimachinery.pkg';
const CRD = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1';
const pod = schemaOfKind({ group: '', version: 'v1', kind: 'Pod' });
const at = (schema: JsonSchema, ...path: string[]): JsonSchema => {
  let node: JsonSchema | undefined = schema;
  for (const name of path) node = name === '[]' ? node?.items : node?.properties?.[name];
  return node ?? assert.fail(`no schema at ${path.join('.')}`);
};

describe('a resolved schema', () => {
  it('shares the nodes that are referred to', () => {
    assert.equal(at(pod, 'spec', 'affinity'), schemaNamed('io.k8s.api.core.v1.Affinity'));
    assert.equal(schemaOfKind({ group: '', version: 'v1', kind: 'Pod' }), pod);
  });

  it('gives a reference the default that stands beside it, and the target none', () => {
    const container = schemaNamed('io.k8s.api.core.v1.Container');
    assert.deepEqual(at(pod, 'spec', 'containers', '[]').default, {});
    assert.equal(at(pod, 'spec', 'containers', '[]').properties, container.properties);
    assert.equal(container.default, undefined);
  });

  it('may lead back to itself', () => {
    const schema = schemaNamed(`${CRD}.JSONSchemaProps`);
    assert.equal(at(schema, 'not'), schema);
    const member = at(schema, 'properties').additionalProperties;
    assert.ok(typeof member === 'object' && member.properties === schema.properties);
  });

  it('has the list types and keys that patches need', () => {
    const ports = at(schemaOfKind({ group: '', version: 'v1', kind: 'Service' }), 'spec', 'ports');
    assert.deepEqual(ports['x-kubernetes-list-map-keys'], ['port', 'protocol']);
    assert.equal(ports['x-kubernetes-patch-merge-key'], 'port');
  });

  it('takes any JSON where Go keeps it unread', () => {
    assert.deepEqual(schemaNamed(`${CRD}.JSON`), { 'x-kubernetes-preserve-unknown-fields': true });
    assert.equal(schemaNamed(`${META}.apis.meta.v1.FieldsV1`)['x-kubernetes-preserve-unknown-fields'], true);
  });

  it('knows numbers that may be texts', () => {
    assert.deepEqual(schemaNamed(`${META}.util.intstr.IntOrString`), { 'x-kubernetes-int-or-string': true });
  });

  it('knows what has one spelling, also under another default', () => {
    assert.equal(spellingOf(schemaNamed(`${META}.api.resource.Quantity`)), 'quantity');
    assert.equal(spellingOf(at(pod, 'metadata', 'creationTimestamp')), 'time');
    const secret = schemaOfKind({ group: '', version: 'v1', kind: 'Secret' });
    const value = at(secret, 'data').additionalProperties;
    assert.ok(typeof value === 'object' && spellingOf(value) === 'bytes');
  });

  it('knows which fields Go leaves out when they are empty', () => {
    const fields = omittedWhenEmpty(at(pod, 'spec'));
    assert.ok(fields.has('hostNetwork') && fields.has('nodeSelector'));
    assert.ok(
      !fields.has('automountServiceAccountToken') && !fields.has('containers') && !fields.has('securityContext'),
    );
  });

  it('holds no reference any more', () => {
    const seen = new Set<object>();
    const visit = (value: unknown): void => {
      if (typeof value !== 'object' || value === null || seen.has(value)) return;
      seen.add(value);
      for (const [key, child] of Object.entries(value)) {
        assert.ok(key !== '$ref' || typeof child !== 'string');
        visit(child);
      }
    };
    for (const { schema } of builtinKinds) visit(schema);
    assert.ok(seen.size > 1000);
  });

  it('is an error for a kind that was never published', () => {
    assert.throws(() => schemaOfKind({ group: 'x', version: 'v1', kind: 'Y' }), /no published schema for x\/v1 Y/);
  });
});

describe('the components of a group-version', () => {
  const components = componentsOfGroupVersion('apps', 'v1');

  it('hold its kinds, as published', () => {
    const name = schemaNameOf({ group: 'apps', version: 'v1', kind: 'Deployment' }) ?? assert.fail();
    assert.equal(components[name], publishedSchemas()[name]);
    assert.match(
      JSON.stringify(components[name]),
      /"\$ref":"#\/components\/schemas\/io.k8s.api.apps.v1.DeploymentSpec"/,
    );
  });

  it('hold all that they refer to', () => {
    const missing = new Set<string>();
    const visit = (value: Json): void => {
      if (Array.isArray(value)) value.forEach(visit);
      else if (isJsonObject(value)) {
        const { $ref } = value;
        if (typeof $ref === 'string' && !Object.hasOwn(components, $ref.split('/').at(-1) ?? '')) missing.add($ref);
        Object.values(value).forEach(visit);
      }
    };
    Object.values(components).forEach(visit);
    assert.deepEqual([...missing], []);
  });

  it('hold nothing of other groups that nothing refers to', () => {
    assert.ok(!Object.hasOwn(components, 'io.k8s.api.core.v1.Node'));
    assert.deepEqual(componentsOfGroupVersion('no.such.group', 'v1'), {});
  });
});
