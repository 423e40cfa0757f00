/**
 * Writes src/engine/builtin/data: the parts of what Kubernetes publishes that the built-in kinds need.
 *
 *   node tools/builtin-data.ts OPENAPI TABLE
 *
 * OPENAPI holds the schemas of the published OpenAPI v3 documents (`{"schemas": {name: schema}}`), TABLE the output of
 * `go run . table` in tools/protobuf-fixtures.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { isJsonObject, type Json, type JsonObject } from '../src/api/json.ts';
import type { GroupVersionKind } from '../src/engine/builtin/builtin-kind.ts';
import { builtinKinds } from '../src/engine/builtin/kinds.ts';
import type { ProtobufTables } from '../src/engine/builtin/published.ts';

const [openApiFile, tableFile] = process.argv.slice(2);
if (openApiFile === undefined || tableFile === undefined) {
  console.error('usage: node tools/builtin-data.ts OPENAPI TABLE');
  process.exit(2);
}

const DATA = new URL('../src/engine/builtin/data/', import.meta.url);
const META: GroupVersionKind[] = ['DeleteOptions', 'Status'].map((kind) => ({ group: '', version: 'v1', kind }));

/** Every kind whose schema or message is needed: the kinds themselves, their lists, and what their subresources speak. */
const wanted: GroupVersionKind[] = builtinKinds
  .flatMap<GroupVersionKind>(({ group, version, kind, listKind, subresources }) => [
    { group, version, kind },
    { group, version, kind: listKind },
    ...subresources.map((subresource) => subresource.responseKind),
  ])
  .concat(META);
const groupVersions = new Set(wanted.map(({ group, version }) => `${group}/${version}`));

write('openapi.json', neededSchemas(readFile(openApiFile)));
const { kinds, messages } = neededMessages(readFile(tableFile));
write('protobuf.json', messages, (map) => `{"kinds":${JSON.stringify(kinds)},"messages":${map}}`);

function neededSchemas(source: { schemas: Record<string, JsonObject> }): Record<string, Json> {
  const names = new Set(
    Object.keys(source.schemas).filter((name) =>
      kindsOf(source.schemas[name]).some((of) => wanted.some((kind) => isSame(kind, of))),
    ),
  );
  for (const name of names) for (const reference of references(source.schemas[name] ?? {})) names.add(reference);
  return Object.fromEntries([...names].sort().map((name) => [name, trimmed(source.schemas[name] ?? {})]));
}

/** Options and Status belong to every group; only the groups that are served are kept. */
function trimmed(schema: JsonObject): Json {
  const kinds = kindsOf(schema).filter((of) => groupVersions.has(`${of['group']}/${of['version']}`));
  return kinds.length === 0 ? schema : { ...schema, 'x-kubernetes-group-version-kind': kinds };
}

function neededMessages(source: ProtobufTables): ProtobufTables {
  const kinds: Record<string, string> = {};
  const names = new Set<string>();
  for (const { group, version, kind } of wanted) {
    const key = `${group === '' ? '' : `${group}/`}${version}/${kind}`;
    const message = source.kinds[key];
    if (message === undefined || kind.endsWith('List')) continue;
    kinds[key] = message;
    names.add(message);
  }
  for (const name of names) {
    for (const [, type] of Object.values(source.messages[name] ?? {})) {
      const message = type.replace(/^(\[\]|map:|items:)+/, '');
      if (Object.hasOwn(source.messages, message)) names.add(message);
      if (message.startsWith('schemaOr')) names.add('apiextensions.v1.JSONSchemaProps');
    }
  }
  const messages = Object.fromEntries([...names].sort().map((name) => [name, source.messages[name] ?? {}]));
  return { kinds, messages };
}

function isSame(kind: GroupVersionKind, of: JsonObject): boolean {
  return kind.group === of['group'] && kind.version === of['version'] && kind.kind === of['kind'];
}

function kindsOf(schema: JsonObject | undefined): JsonObject[] {
  const kinds = schema?.['x-kubernetes-group-version-kind'];
  return Array.isArray(kinds) ? kinds.filter(isJsonObject) : [];
}

function references(value: Json): string[] {
  if (Array.isArray(value)) return value.flatMap(references);
  if (!isJsonObject(value)) return [];
  const own = typeof value['$ref'] === 'string' ? [value['$ref'].replace('#/components/schemas/', '')] : [];
  return own.concat(Object.values(value).flatMap(references));
}

function readFile<T>(path: string): T {
  return JSON.parse(readFileSync(path, 'utf8'));
}

/** One entry a line, so that a change of one schema is a change of one line. */
function write(file: string, entries: object, wrap = (map: string) => map): void {
  const lines = Object.entries(entries).map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`);
  const text = `${wrap(`{\n${lines.join(',\n')}\n}`)}\n`;
  writeFileSync(new URL(file, DATA), text);
  console.log(`${file}: ${lines.length} entries, ${text.length} bytes`);
}
