import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { equalJson, isJsonObject, type Json, type JsonObject } from '../../api/json.ts';
import type { JsonSchema } from '../../api/json-schema.ts';
import { applyDefaults } from '../schema/defaults.ts';
import type { BuiltinKind } from './builtin-kind.ts';
import { builtinKinds } from './kinds.ts';
import { schemaNameOf } from './schemas.ts';

const named = (name: string, group = ''): BuiltinKind =>
  builtinKinds.find((kind) => kind.kind === name && kind.group === group) ?? assert.fail(`no kind ${name}`);

describe('every built-in kind', () => {
  for (const kind of builtinKinds) {
    it(`has a published schema: ${kind.group}/${kind.version} ${kind.kind}`, () => {
      assert.ok(isJsonObject(kind.schema.properties?.['metadata']));
    });
  }

  it('that is stored has the schema of its lists published too', () => {
    for (const { group, version, listKind, verbs } of builtinKinds) {
      if (verbs.includes('list')) assert.ok(schemaNameOf({ group, version, kind: listKind }), listKind);
    }
  });

  it('has names of its own in its group', () => {
    const names = builtinKinds.flatMap(({ group, plural, singular, shortNames }) =>
      // Of some there are only several, as of endpoints.
      [...new Set([plural, singular, ...shortNames])].map((name) => `${name}.${group}`),
    );
    assert.equal(new Set(names).size, names.length);
  });

  it('survives objects of every shape: defaults, preparation, rules, columns, selectors', () => {
    fc.assert(
      fc.property(
        fc
          .constantFrom(...builtinKinds)
          .chain((kind) => fc.tuple(fc.constant(kind), misshapen(kind.schema), misshapen(kind.schema))),
        ([kind, sent, before]) => {
          const object = isJsonObject(sent) ? sent : {};
          const old = isJsonObject(before) ? before : undefined;
          kind.defaults(object);
          kind.prepare(object, old);
          for (const { field, detail } of kind.validate(object, old))
            assert.ok(typeof field === 'string' && typeof detail === 'string');
          for (const column of kind.columns) column.cell(object, new Date(0));
          for (const select of Object.values(kind.selectableFields)) assert.equal(typeof select(object), 'string');
          kind.gracefulDeletionSeconds(object);
          kind.isHeld(object);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('gives the same defaults when it is asked again', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...builtinKinds).chain((kind) => fc.tuple(fc.constant(kind), wellShaped(kind.schema, 5))),
        ([kind, value]) => {
          if (!isJsonObject(value)) return;
          const object = { ...value, metadata: { name: 'x' } };
          applyDefaults(object, kind.schema);
          kind.defaults(object);
          const again = structuredClone(object);
          applyDefaults(again, kind.schema);
          kind.defaults(again);
          assert.ok(equalJson(again, object));
        },
      ),
      { numRuns: 300 },
    );
  });

  it('answers in time for objects with lists as long as a body can hold', () => {
    const many = 10_000;
    const items = (item: JsonObject): JsonObject[] => Array.from({ length: many }, () => ({ ...item }));
    const texts = Array.from({ length: many }, () => 'A b');
    const map: JsonObject = Object.fromEntries(Array.from({ length: many }, (_, i) => [`A b${i}`, 'c d']));
    const hostile: [string, string, JsonObject][] = [
      [
        'Service',
        '',
        {
          spec: {
            type: 'LoadBalancer',
            ports: items({ port: 0 }),
            clusterIPs: texts,
            ipFamilies: texts,
            externalIPs: texts,
            loadBalancerSourceRanges: texts,
            selector: map,
          },
        },
      ],
      [
        'Pod',
        '',
        {
          spec: {
            containers: items({}),
            tolerations: items({}),
            hostAliases: items({ hostnames: ['A b'] }),
            nodeSelector: map,
          },
        },
      ],
      [
        'Pod',
        '',
        {
          spec: {
            containers: [
              { name: 'a', env: items({}), ports: items({}), volumeMounts: items({}), resources: { requests: map } },
            ],
            volumes: items({}),
          },
        },
      ],
      ['Node', '', { spec: { taints: items({}), podCIDRs: texts }, status: { capacity: map } }],
      ['ConfigMap', '', { data: map, binaryData: map }],
      ['Secret', '', { data: map, stringData: map }],
      [
        'CustomResourceDefinition',
        'apiextensions.k8s.io',
        { spec: { versions: items({ additionalPrinterColumns: [{}], selectableFields: [{}] }) } },
      ],
    ];
    for (const [kind, group, object] of hostile) {
      const start = process.cpuUsage();
      const definition = named(kind, group);
      definition.defaults(object);
      definition.prepare(object, structuredClone(object));
      const faults = definition.validate(object, { spec: {}, data: {} });
      // Time of our own: the machine may be busy with something else.
      const took = process.cpuUsage(start).user / 1000;
      assert.ok(faults.length > 0 && faults.length <= 501, `${kind}: ${faults.length} faults`);
      assert.ok(took < 5000, `${kind} took ${took} ms`);
    }
  });
});

describe('what tells kinds apart', () => {
  it('pods have time to end, unless nothing of them runs', () => {
    const { gracefulDeletionSeconds } = named('Pod');
    const spec = { nodeName: 'n', terminationGracePeriodSeconds: 7 };
    assert.equal(gracefulDeletionSeconds({ spec, status: { phase: 'Running' } }), 7);
    assert.equal(gracefulDeletionSeconds({ spec, status: { phase: 'Succeeded' } }), undefined);
    assert.equal(gracefulDeletionSeconds({ spec: { terminationGracePeriodSeconds: 7 } }), undefined);
    assert.equal(named('Service').gracefulDeletionSeconds({ spec }), undefined);
  });

  it('namespaces terminate, and are held until their finalizers are gone', () => {
    const { beginDeletion, isHeld } = named('Namespace');
    const namespace: JsonObject = { spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } };
    beginDeletion(namespace);
    assert.deepEqual(namespace['status'], { phase: 'Terminating' });
    assert.equal(isHeld(namespace), true);
    assert.equal(isHeld({ spec: {} }), false);
  });

  it('a namespace whose name is generated gets its label when it has a name', () => {
    const namespace: JsonObject = { metadata: { generateName: 'x-' } };
    named('Namespace').defaults(namespace);
    assert.deepEqual(namespace['metadata'], { generateName: 'x-' });
    namespace['metadata'] = { name: 'x-1' };
    named('Namespace').prepare(namespace, undefined);
    assert.deepEqual(namespace['metadata'], { name: 'x-1', labels: { 'kubernetes.io/metadata.name': 'x-1' } });
  });

  it('changes of the pod spec, of annotations of deployments and of nothing else count generations', () => {
    const [before, after] = [
      { metadata: { annotations: { a: 'b' } }, spec: { x: 1 } },
      { metadata: {}, spec: { x: 1 } },
    ];
    assert.equal(named('Deployment', 'apps').generationChangesWith(after, before), true);
    assert.equal(named('Pod').generationChangesWith(after, before), false);
    assert.equal(named('Pod').generationChangesWith({ spec: { x: 2 } }, before), true);
    assert.deepEqual(
      builtinKinds.filter((kind) => kind.hasGeneration).map((kind) => kind.kind),
      [
        'Pod',
        'PodTemplate',
        'DaemonSet',
        'Deployment',
        'ReplicaSet',
        'StatefulSet',
        'CustomResourceDefinition',
        'EndpointSlice',
        'PodDisruptionBudget',
        'PriorityClass',
      ],
    );
  });

  it('only nodes are created with a status of their own', () => {
    const status = { addresses: [] };
    const node: JsonObject = { status };
    named('Node').prepare(node, undefined);
    assert.deepEqual(node['status'], status);
    const pod: JsonObject = { status: { phase: 'Running' }, spec: {} };
    named('Pod').prepare(pod, undefined);
    assert.deepEqual(pod['status'], { phase: 'Pending', qosClass: 'BestEffort' });
  });

  it('pods are guaranteed what they ask for if they ask for no less than they may take', () => {
    const qos = (...containers: JsonObject[]): Json | undefined => {
      const pod: JsonObject = { spec: { containers: containers.map((resources) => ({ resources })) } };
      named('Pod').prepare(pod, undefined);
      return isJsonObject(pod['status']) ? pod['status']['qosClass'] : undefined;
    };
    const all = { cpu: '1', memory: '1Gi' };
    assert.equal(qos({}), 'BestEffort');
    assert.equal(
      qos({ limits: all, requests: all }, { limits: all, requests: { cpu: '1000m', memory: '1024Mi' } }),
      'Guaranteed',
    );
    assert.equal(qos({ limits: all, requests: all }, {}), 'Burstable');
    assert.equal(qos({ limits: all, requests: { cpu: '0.5', memory: '1Gi' } }), 'Burstable');
  });

  it('events.k8s.io shows the stored events under other names, there and back', () => {
    const { toStorage, fromStorage, selectableFields } = named('Event', 'events.k8s.io');
    const stored: JsonObject = {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'e' },
      involvedObject: { kind: 'Pod', name: 'p' },
      message: 'hello',
      reportingComponent: 'x.com/c',
      count: 3,
    };
    const shown = fromStorage?.(stored) ?? assert.fail();
    assert.deepEqual(shown, {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { name: 'e' },
      regarding: { kind: 'Pod', name: 'p' },
      note: 'hello',
      reportingController: 'x.com/c',
      deprecatedCount: 3,
    });
    assert.deepEqual(toStorage?.(shown), stored);
    assert.equal(selectableFields['regarding.name']?.(shown), 'p');
    assert.equal(selectableFields['regarding.name']?.(stored), 'p');
    assert.equal(named('Event').selectableFields['involvedObject.name']?.(stored), 'p');
  });
});

/** Values that the schema allows, a few levels deep. */
function wellShaped(schema: JsonSchema, depth: number): fc.Arbitrary<Json> {
  const texts = fc.constantFrom('', 'a', 'A b', '10.0.0.1', '2024-01-01T00:00:00Z', 'ClientIP', 'LoadBalancer', 'None');
  if (schema['x-kubernetes-int-or-string'] || schema.oneOf) return fc.oneof(texts, fc.integer({ min: -1, max: 70000 }));
  switch (schema.type) {
    case 'string':
      return texts;
    case 'integer':
    case 'number':
      return fc.integer({ min: -1, max: 70000 });
    case 'boolean':
      return fc.boolean();
    case 'array':
      return depth === 0 || schema.items === undefined
        ? fc.constant([])
        : fc.array(wellShaped(schema.items, depth - 1), { maxLength: 2 });
    default: {
      const { properties, additionalProperties } = schema;
      if (depth === 0) return fc.constant({});
      if (properties === undefined) {
        return typeof additionalProperties === 'object'
          ? fc.dictionary(fc.constantFrom('a', 'cpu', '__proto__', 'A b'), wellShaped(additionalProperties, depth - 1))
          : fc.constant({});
      }
      const names = Object.keys(properties);
      return fc
        .subarray(names, { maxLength: Math.min(6, names.length) })
        .chain((chosen) =>
          fc.record(Object.fromEntries(chosen.map((name) => [name, wellShaped(properties[name] ?? {}, depth - 1)]))),
        );
    }
  }
}

/** As `wellShaped`, but anywhere in it there may be something else altogether. */
function misshapen(schema: JsonSchema): fc.Arbitrary<Json> {
  const odd = fc.constantFrom<Json>(null, 7, true, 'text', [], [null, 3], {}, { a: null });
  return fc.tuple(wellShaped(schema, 6), fc.nat({ max: 9 }), odd).map(([value, place, thing]) => {
    let left = place;
    const spoil = (node: Json): Json => {
      if (left-- === 0) return thing;
      if (Array.isArray(node)) return node.map(spoil);
      return isJsonObject(node)
        ? Object.fromEntries(Object.entries(node).map(([key, child]) => [key, spoil(child)]))
        : node;
    };
    return spoil(value);
  });
}
