/**
 * What ownership of fields costs a write: every create, update and patch of the embedded engine passes through it.
 *
 *   node bench/patch.ts [seconds per case]
 */
import { isJsonObject, type JsonObject } from '../src/api/json.ts';
import type { JsonSchema } from '../src/api/json-schema.ts';
import { jsonPatch } from '../src/engine/patch/json-patch.ts';
import { applyPatch } from '../src/engine/patch/managed-fields/apply.ts';
import { trackUpdate } from '../src/engine/patch/managed-fields/update.ts';
import { mergePatch } from '../src/engine/patch/merge-patch.ts';
import { strategicMergePatch } from '../src/engine/patch/strategic-merge.ts';

const text: JsonSchema = { type: 'string' };
const texts: JsonSchema = { type: 'object', additionalProperties: text };
const container: JsonSchema = {
  type: 'object',
  properties: { name: text, image: text, cpu: text, memory: text, address: text },
};
const schema: JsonSchema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        replicas: { type: 'integer' },
        paused: { type: 'boolean' },
        selector: { ...texts, 'x-kubernetes-map-type': 'atomic' },
        arguments: { type: 'array', items: text },
        containers: {
          type: 'array',
          items: container,
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name'],
          'x-kubernetes-patch-strategy': 'merge',
          'x-kubernetes-patch-merge-key': 'name',
        },
      },
    },
    status: { type: 'object', properties: { ready: { type: 'integer' } } },
  },
};

const configuration: JsonObject = {
  apiVersion: 'bench.example.com/v1',
  kind: 'Thing',
  metadata: {
    name: 'thing',
    namespace: 'default',
    labels: { app: 'thing', tier: 'backend', team: 'networks', release: 'stable' },
    annotations: { note: 'n'.repeat(120), owner: 'someone@example.com' },
  },
  spec: {
    replicas: 3,
    paused: false,
    selector: { app: 'thing' },
    arguments: ['--level', 'debug', '--listen', ':8080'],
    containers: ['proxy', 'server', 'metrics', 'backup'].map((name, index) => ({
      name,
      image: `registry.example.com/images/${name}:v1.2.${index}`,
      cpu: '500m',
      memory: '256Mi',
      address: `172.17.0.${80 + index}`,
    })),
  },
};

const common = { schema, apiVersion: 'bench.example.com/v1' };
const at = (second: number): string => new Date(1_700_000_000_000 + second * 1000).toISOString().replace('.000Z', 'Z');
const withReplicas = (object: JsonObject, replicas: number): JsonObject => ({
  ...object,
  spec: { ...(isJsonObject(object['spec']) ? object['spec'] : {}), replicas },
});

// Objects come from stores and wires as fresh copies: nothing may be gained by meeting the same object twice.
const fresh = (object: JsonObject): JsonObject => JSON.parse(JSON.stringify(object));
const created = trackUpdate({ ...common, live: undefined, updated: configuration, manager: 'kubectl', now: at(0) });
const reported = trackUpdate({
  ...common,
  live: created,
  updated: { ...created, status: { ready: 1 } },
  manager: 'controller',
  subresource: 'status',
  now: at(1),
});
const applied = applyPatch({
  ...common,
  live: reported,
  applied: configuration,
  manager: 'operator',
  force: true,
  now: at(2),
});

const seconds = Number(process.argv[2] ?? 1);
console.log(
  `object ${JSON.stringify(configuration).length} bytes, with managedFields ${JSON.stringify(applied).length} bytes`,
);
measure('a fresh copy of the object (not part of the others)', () => fresh(applied));
measure(
  'create',
  (object) => trackUpdate({ ...common, live: undefined, updated: object, manager: 'kubectl', now: at(3) }),
  configuration,
);
measure('update, nothing changed', (object) =>
  trackUpdate({ ...common, live: object, updated: object, manager: 'kubectl', now: at(3) }),
);
measure('update, one field', (object) =>
  trackUpdate({ ...common, live: object, updated: withReplicas(object, 4), manager: 'kubectl', now: at(3) }),
);
measure('apply, nothing changed', (object) =>
  applyPatch({ ...common, live: object, applied: configuration, manager: 'operator', force: false, now: at(3) }),
);
measure('apply, one field', (object) =>
  applyPatch({
    ...common,
    live: object,
    applied: withReplicas(configuration, 4),
    manager: 'operator',
    force: true,
    now: at(3),
  }),
);
measure('apply, one field abandoned', (object) => {
  const { paused: _, ...spec } = isJsonObject(configuration['spec']) ? configuration['spec'] : {};
  return applyPatch({
    ...common,
    live: object,
    applied: { ...configuration, spec },
    manager: 'operator',
    force: true,
    now: at(3),
  });
});
measure('JSON patch, one field', (object) =>
  jsonPatch(object, [{ op: 'replace', path: '/spec/containers/1/image', value: 'x' }]),
);
measure('merge patch, one field', (object) => mergePatch(object, { spec: { replicas: 4 } }));
measure('strategic merge patch, one list item', (object) =>
  strategicMergePatch(object, { spec: { containers: [{ name: 'server', image: 'x' }] } }, schema),
);

function measure(name: string, run: (object: JsonObject) => unknown, object = applied): void {
  const batch = 200;
  const until = performance.now() + seconds * 1000;
  let best = Number.POSITIVE_INFINITY;
  while (performance.now() < until) {
    const copies = Array.from({ length: batch }, () => fresh(object));
    const start = performance.now();
    for (const copy of copies) run(copy);
    best = Math.min(best, (performance.now() - start) / batch);
  }
  console.log(`${(best * 1000).toFixed(1).padStart(8)} µs  ${name}`);
}
