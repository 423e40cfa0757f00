/**
 * What taking in one object costs, step by step, for a custom resource of about 1 KiB: a list of routes with keys, limits,
 * defaults and rules. Run by `node bench/schema.ts`.
 */
import type { Json, JsonObject } from '../src/api/json.ts';
import type { JsonSchema } from '../src/api/json-schema.ts';
import { applyDefaults } from '../src/engine/schema/defaults.ts';
import { prune } from '../src/engine/schema/prune.ts';
import { parseJson, parseJsonValue } from '../src/engine/schema/strict-json.ts';
import { structuralFaults } from '../src/engine/schema/structural.ts';
import { validate } from '../src/engine/schema/validate.ts';

const ROUNDS = 20_000;
const string = (more: JsonSchema = {}): JsonSchema => ({ type: 'string', ...more });
const object = (properties: Record<string, JsonSchema>, more: JsonSchema = {}): JsonSchema => ({
  type: 'object',
  properties,
  ...more,
});

const ROUTE = object(
  {
    destination: string({ pattern: '^[0-9a-f.:]+/[0-9]{1,3}$', maxLength: 43 }),
    nextHop: string({ format: 'ipv4' }),
    metric: { type: 'integer', minimum: 0, maximum: 65_535, default: 100 },
    protocol: string({ enum: ['static', 'bgp', 'ospf'], default: 'static' }),
  },
  { required: ['destination', 'nextHop'] },
);
const SPEC = object({
  vni: { type: 'integer', minimum: 1, maximum: 16_777_215 },
  mtu: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
  labels: { type: 'object', additionalProperties: string({ maxLength: 63 }) },
  servers: { type: 'array', items: string({ format: 'ipv4' }), 'x-kubernetes-list-type': 'set' },
  routes: {
    type: 'array',
    maxItems: 100,
    items: ROUTE,
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['destination'],
  },
});
const withRule = (rule: string): JsonSchema =>
  object({
    metadata: object({ name: string(), labels: { type: 'object', additionalProperties: string() } }),
    spec: { ...SPEC, 'x-kubernetes-validations': [{ rule }] },
  });
const PLAIN = object({ metadata: withRule('true').properties?.['metadata'] ?? {}, spec: SPEC });
const TRIVIAL = withRule('self.vni > 0');
const OVER_ROUTES = withRule('self.routes.all(r, r.metric < 1000 && r.destination != r.nextHop)');
const IMMUTABLE = withRule('self.vni == oldSelf.vni');

const TEXT = JSON.stringify({
  apiVersion: 'lab.example.com/v1',
  kind: 'Net',
  metadata: { name: 'net-1', namespace: 'default', labels: { app: 'net', tier: 'lab' } },
  spec: {
    vni: 4711,
    mtu: '90%',
    labels: { zone: 'a', rack: 'r12' },
    servers: ['10.0.0.53', '10.0.1.53'],
    routes: Array.from({ length: 12 }, (_, i) => ({
      destination: `10.${i}.0.0/16`,
      nextHop: `192.168.0.${i + 1}`,
      ...(i % 2 === 0 ? { metric: 100 + i } : {}),
    })),
    unknown: { a: [1, 2] },
  },
});
const parsed = (): JsonObject => JSON.parse(TEXT);
const ready = (): JsonObject => {
  const value = parsed();
  prune(value, PLAIN);
  applyDefaults(value, PLAIN);
  return value;
};

console.log(`µs per object of ${TEXT.length} bytes`);
step('JSON.parse alone', () => JSON.parse(TEXT));
step('parse', () => parseJsonValue(TEXT));
step('parse, noting duplicates', () => parseJson(TEXT));
step('prune', prune, parsed, PLAIN);
step('apply defaults', applyDefaults, parsed, PLAIN);
step('validate without rules', validate, ready, PLAIN);
step('validate, one trivial rule', validate, ready, TRIVIAL);
step('validate, a rule over the routes', validate, ready, OVER_ROUTES);
const old: Json = ready();
step(
  'validate an update, a rule about the transition',
  (value, schema) => validate(value, schema, { old }),
  ready,
  IMMUTABLE,
);
step('prune, default, validate with one trivial rule', takeIn, parsed, TRIVIAL);
definition();

function takeIn(value: Json, schema: JsonSchema): void {
  prune(value, schema);
  applyDefaults(value, schema);
  if (validate(value, schema).length > 0) throw new Error('the sample is not valid');
}

/** Each object is made before the clock starts: the steps change it. */
function step(
  name: string,
  act: (value: Json, schema: JsonSchema) => unknown,
  make: () => Json = () => null,
  schema: JsonSchema = {},
): void {
  const batch = 500;
  let took = 0;
  for (let round = -ROUNDS / 4; round < ROUNDS; round += batch) {
    const values = Array.from({ length: batch }, make);
    const start = performance.now();
    for (const value of values) act(value, schema);
    if (round >= 0) took += performance.now() - start;
  }
  console.log(`${((took / ROUNDS) * 1000).toFixed(1).padStart(8)}  ${name}`);
}

/** Rules are compiled once for every schema node there is, so each round takes a new copy. */
function definition(): void {
  const rounds = 100;
  const copies = Array.from(
    { length: rounds },
    (): JsonSchema =>
      JSON.parse(JSON.stringify({ ...OVER_ROUTES, properties: { spec: OVER_ROUTES.properties?.['spec'] } })),
  );
  const start = performance.now();
  for (const copy of copies)
    if (structuralFaults(copy, 'schema').length > 0) throw new Error('the schema is not structural');
  console.log(
    `${(((performance.now() - start) / rounds) * 1000).toFixed(1).padStart(8)}  accept the definition, its rule compiled`,
  );
}
