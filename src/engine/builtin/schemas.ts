import { isJsonObject, type Json, type JsonObject } from '../../api/json.ts';
import type { JsonSchema } from '../../api/json-schema.ts';
import { publishedMessages, publishedSchemas } from './published.ts';

/** The resolved schema of a published kind: a graph whose nodes are shared and may be cyclic. */
export function schemaOfKind(of: { group: string; version: string; kind: string }): JsonSchema {
  const name = schemaNameOf(of);
  if (name === undefined) throw new Error(`no published schema for ${of.group}/${of.version} ${of.kind}`);
  return schemaNamed(name);
}

/** The resolved schema of that published name, for example `io.k8s.api.core.v1.PodTemplateSpec`. */
export function schemaNamed(name: string): JsonSchema {
  const node = named(name);
  for (let next = unfinished.pop(); next !== undefined; next = unfinished.pop()) {
    const { node, target, siblings } = next;
    Object.assign(node, target, siblings);
    const spelling = spellings.get(target);
    if (spelling !== undefined) spellings.set(node, spelling);
    const empties = omitted.get(target);
    if (empties !== undefined) omitted.set(node, empties);
  }
  return node;
}

/** The published name of a kind's schema. */
export function schemaNameOf({
  group,
  version,
  kind,
}: {
  group: string;
  version: string;
  kind: string;
}): string | undefined {
  namesByKind ??= indexByKind();
  return namesByKind.get(`${group}/${version}/${kind}`);
}

/**
 * `components.schemas` of a group-version's OpenAPI v3 document: the kinds of that group-version and all that they refer to,
 * as published, `$ref`s included. The nodes are shared: they are for reading.
 */
export function componentsOfGroupVersion(group: string, version: string): Record<string, JsonObject> {
  const published = publishedSchemas();
  const wanted = new Set<string>();
  for (const [name, schema] of Object.entries(published)) {
    if (kindsOf(schema).some((of) => of['group'] === group && of['version'] === version)) wanted.add(name);
  }
  for (const name of wanted) {
    // A Set that grows while it is walked is walked to its new end.
    for (const reference of referencesIn(published[name] ?? {})) wanted.add(reference);
  }
  return Object.fromEntries([...wanted].sort().map((name) => [name, published[name] ?? {}]));
}

/** Types whose values have one canonical spelling in JSON, though their schema would take several. */
export type Spelling = 'quantity' | 'time' | 'microTime' | 'bytes';
export const spellingOf = (schema: JsonSchema): Spelling | undefined => spellings.get(schema);

/** The fields of an object that Go leaves out of JSON when they are empty: no text, zero, false, no items. */
export const omittedWhenEmpty = (schema: JsonSchema): ReadonlySet<string> => omitted.get(schema) ?? NONE;

const NONE: ReadonlySet<string> = new Set();
const PREFIX = '#/components/schemas/';
const META = 'io.k8s.apimachinery.pkg';
const CRD = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1';

/** Any JSON at all, where the published schema says nothing or just `object`. */
const OPAQUE = new Set([
  `${META}.apis.meta.v1.FieldsV1`,
  `${META}.runtime.RawExtension`,
  `${CRD}.JSON`,
  `${CRD}.JSONSchemaPropsOrArray`,
  `${CRD}.JSONSchemaPropsOrBool`,
  `${CRD}.JSONSchemaPropsOrStringArray`,
]);

const SPELLED: Readonly<Record<string, Spelling>> = {
  [`${META}.api.resource.Quantity`]: 'quantity',
  [`${META}.apis.meta.v1.Time`]: 'time',
  [`${META}.apis.meta.v1.MicroTime`]: 'microTime',
};

const nodes = new Map<string, JsonSchema>();
const spellings = new WeakMap<JsonSchema, Spelling>();
const omitted = new WeakMap<JsonSchema, ReadonlySet<string>>();
let namesByKind: Map<string, string> | undefined;

/**
 * `allOf: [{$ref}]` beside a default becomes a copy of the target with that default. The target may be under construction
 * (schemas refer to themselves), so the copies are made when everything reachable has been built.
 */
const unfinished: { node: JsonSchema; target: JsonSchema; siblings: JsonSchema }[] = [];

function named(name: string): JsonSchema {
  const known = nodes.get(name);
  if (known !== undefined) return known;
  const raw = publishedSchemas()[name];
  if (raw === undefined) throw new Error(`no published schema is named ${name}`);
  const node: JsonSchema = {};
  nodes.set(name, node);
  Object.assign(node, resolve(raw));
  if (OPAQUE.has(name)) node['x-kubernetes-preserve-unknown-fields'] = true;
  const spelling = SPELLED[name];
  if (spelling !== undefined) spellings.set(node, spelling);
  // Schemas and messages have the same names, but for the path of the Go package in front.
  omitted.set(node, new Set(emptiesOf(name.split('.').slice(-3).join('.'))));
  return node;
}

/** The protobuf tables tell pointers, whose zero is meant, from plain values. */
function emptiesOf(message: string): string[] {
  const { messages } = publishedMessages();
  return Object.values(messages[message] ?? {}).flatMap(([name, type, zero]) => {
    if (name === '') return emptiesOf(type);
    return zero === undefined && !Object.hasOwn(messages, type) ? [name] : [];
  });
}

function resolve(raw: JsonObject): JsonSchema {
  if (typeof raw['$ref'] === 'string') return named(raw['$ref'].slice(PREFIX.length));
  const target = soleReference(raw['allOf']);
  if (target !== undefined) {
    const { allOf: _, ...rest } = raw;
    if (Object.keys(rest).length === 0) return named(target);
    const node: JsonSchema = {};
    unfinished.push({ node, target: named(target), siblings: plain(rest) });
    return node;
  }
  return plain(raw);
}

function soleReference(allOf: Json | undefined): string | undefined {
  if (!Array.isArray(allOf) || allOf.length !== 1) return undefined;
  const [only] = allOf;
  return isJsonObject(only) && typeof only['$ref'] === 'string' ? only['$ref'].slice(PREFIX.length) : undefined;
}

/** A node without a reference of its own. */
function plain(raw: JsonObject): JsonSchema {
  if (raw['format'] === 'int-or-string') return { 'x-kubernetes-int-or-string': true };
  const node: JsonSchema = {};
  for (const [key, value] of Object.entries(raw)) {
    if (key === 'properties' && isJsonObject(value)) {
      node.properties = Object.fromEntries(
        Object.entries(value).map(([name, child]) => [name, resolve(asObject(child))]),
      );
    } else if (key === 'items' && isJsonObject(value)) node.items = resolve(value);
    else if (key === 'additionalProperties' && isJsonObject(value)) node.additionalProperties = resolve(value);
    else if (key === 'oneOf' && Array.isArray(value)) node.oneOf = value.map((child) => resolve(asObject(child)));
    else if (key !== 'x-kubernetes-unions') Object.assign(node, { [key]: value });
  }
  if (node.type === 'string' && node.format === 'byte') spellings.set(node, 'bytes');
  return node;
}

const asObject = (value: Json): JsonObject => (isJsonObject(value) ? value : {});

function indexByKind(): Map<string, string> {
  const index = new Map<string, string>();
  for (const [name, schema] of Object.entries(publishedSchemas())) {
    for (const of of kindsOf(schema)) index.set(`${of['group']}/${of['version']}/${of['kind']}`, name);
  }
  return index;
}

function kindsOf(schema: JsonObject): JsonObject[] {
  const kinds = schema['x-kubernetes-group-version-kind'];
  return Array.isArray(kinds) ? kinds.map(asObject) : [];
}

function referencesIn(value: Json, found: string[] = []): string[] {
  if (Array.isArray(value)) for (const item of value) referencesIn(item, found);
  else if (isJsonObject(value)) {
    if (typeof value['$ref'] === 'string') found.push(value['$ref'].slice(PREFIX.length));
    for (const child of Object.values(value)) referencesIn(child, found);
  }
  return found;
}
