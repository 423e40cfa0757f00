import fc from 'fast-check';
import { isJsonObject, type Json, type JsonObject } from '../../../api/json.ts';
import type { JsonSchema } from '../../../api/json-schema.ts';
import { frozen } from '../hostile.fixture.ts';
import { type Apply, applyPatch } from './apply.ts';
import { trackUpdate, type Update } from './update.ts';

const text: JsonSchema = { type: 'string' };
const texts: JsonSchema = { type: 'object', additionalProperties: text };

/** A kind with one field for every way of sharing. */
export const thingSchema: JsonSchema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        size: { type: 'integer' },
        mode: text,
        limits: { type: 'object', properties: { low: text, high: text } },
        selector: { ...texts, 'x-kubernetes-map-type': 'atomic' },
        options: texts,
        steps: { type: 'array', items: text },
        tags: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
        ports: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['port', 'protocol'],
          items: {
            type: 'object',
            properties: {
              port: { type: 'integer' },
              protocol: { type: 'string', default: 'TCP' },
              name: text,
              target: text,
            },
          },
        },
        free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      },
    },
    status: { type: 'object', properties: { ready: { type: 'integer' } } },
  },
};

export const apiVersion = 'example.com/v1';

export const thing = (spec?: JsonObject, metadata: JsonObject = {}): JsonObject => ({
  apiVersion,
  kind: 'Thing',
  metadata: { name: 'x', namespace: 'default', ...metadata },
  ...(spec === undefined ? {} : { spec }),
});

/** An instant of the tests' day. */
export const at = (second: number): string =>
  new Date(Date.UTC(2025, 0, 1) + second * 1000).toISOString().replace('.000Z', 'Z');

type Given<Request> = Partial<Request> & { manager: string };

export const apply = (live: JsonObject | undefined, applied: JsonObject, given: Given<Apply>): JsonObject =>
  applyPatch({
    live: live && frozen(live),
    applied: frozen(applied),
    force: false,
    schema: thingSchema,
    apiVersion,
    now: at(0),
    ...given,
  });

export const update = (live: JsonObject | undefined, updated: JsonObject, given: Given<Update>): JsonObject =>
  trackUpdate({
    live: live && frozen(live),
    updated: frozen(updated),
    schema: thingSchema,
    apiVersion,
    now: at(0),
    ...given,
  });

/** The entries of metadata.managedFields. */
export function entriesOf(object: JsonObject): JsonObject[] {
  const metadata = object['metadata'];
  const entries = isJsonObject(metadata) ? metadata['managedFields'] : undefined;
  return Array.isArray(entries) ? entries.filter(isJsonObject) : [];
}

/** What each manager owns: `name/operation[/subresource]` and FieldsV1. */
export const owners = (object: JsonObject): Record<string, Json> =>
  Object.fromEntries(
    entriesOf(object).map(({ manager, operation, subresource, fieldsV1 }) => [
      [manager, operation, ...(subresource === undefined ? [] : [subresource])].join('/'),
      fieldsV1 ?? null,
    ]),
  );

export function withoutManagedFields(object: JsonObject): JsonObject {
  const { managedFields: _, ...metadata } = isJsonObject(object['metadata']) ? object['metadata'] : {};
  return { ...object, metadata };
}

export const specOf = (object: JsonObject): JsonObject => (isJsonObject(object['spec']) ? object['spec'] : {});

const word = fc.constantFrom('a', 'b', 'c');
const key = fc.constantFrom('a', 'b.c', '', '__proto__', 'constructor', '"', 'f:x', '.');
const words = fc.dictionary(key, word, { maxKeys: 3, noNullPrototype: true });
const { json } = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 2 },
    fc.constantFrom<Json>('a', 1, true),
    fc.array(tie('json'), { maxLength: 2 }),
    fc.dictionary(key, tie('json'), { maxKeys: 2, noNullPrototype: true }),
  ),
}));
const port = fc.record(
  { port: fc.constantFrom(80, 443), protocol: fc.constantFrom('TCP', 'UDP'), name: word, target: word },
  { requiredKeys: ['port'], noNullPrototype: true },
);

/** Any spec of a thing, hostile names included. */
export const specs: fc.Arbitrary<JsonObject> = fc.record(
  {
    size: fc.constantFrom(1, 2, 3),
    mode: word,
    limits: fc.record({ low: word, high: word }, { requiredKeys: [], noNullPrototype: true }),
    selector: words,
    options: words,
    steps: fc.array(word, { maxLength: 3 }),
    tags: fc.uniqueArray(fc.oneof(word, key), { maxLength: 3 }),
    ports: fc.uniqueArray(port, { maxLength: 3, selector: (item) => `${item.port} ${item.protocol ?? 'TCP'}` }),
    free: fc.dictionary(key, json, { maxKeys: 2, noNullPrototype: true }),
  },
  { requiredKeys: [], noNullPrototype: true },
);

export const things: fc.Arbitrary<JsonObject> = fc
  .tuple(specs, fc.option(words, { nil: undefined }))
  .map(([spec, labels]) => thing(spec, labels === undefined ? {} : { labels }));
