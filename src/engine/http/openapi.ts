import { createHash } from 'node:crypto';
import { isJsonObject, type Json, type JsonObject } from '../../api/json.ts';
import { publishedSchemas } from '../builtin/published.ts';
import { componentsOfGroupVersion, schemaNameOf } from '../builtin/schemas.ts';
import { type Catalog, groupOf } from '../resources/catalog.ts';
import type { Endpoint, Verb } from '../resources/resource.ts';
import { type Answer, jsonAnswer } from './call.ts';

/**
 * OpenAPI v3, a document for each group-version: where `kubectl explain`, `apply` and `create` learn the shape of a kind. Made
 * when asked for, once for every state of the catalog; its hash in the address makes it cacheable for ever.
 */
export class OpenApi {
  readonly #catalog: Catalog;
  #generation = -1;
  #documents = new Map<string, { body: Buffer; hash: string }>();

  constructor(catalog: Catalog) {
    this.#catalog = catalog;
  }

  index(): Answer {
    const paths: Record<string, { serverRelativeURL: string }> = {};
    for (const path of this.#groupVersions().keys()) {
      const hash = this.#document(path)?.hash ?? '';
      paths[path] = { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` };
    }
    return jsonAnswer(200, { paths });
  }

  /** `path` is `api/v1` or `apis/<group>/<version>`. */
  document(path: string, hash: string | null): Answer | undefined {
    const document = this.#document(path);
    if (document === undefined) return undefined;
    const headers: Record<string, string> = { ETag: `"${document.hash}"`, Vary: 'Accept' };
    if (hash === document.hash) headers['Cache-Control'] = 'public, immutable';
    return { code: 200, contentType: 'application/json', chunks: [document.body], headers };
  }

  #groupVersions(): Map<string, Endpoint[]> {
    const found = new Map<string, Endpoint[]>();
    for (const endpoint of this.#catalog.resources.flatMap((resource) => resource.endpoints)) {
      const path = groupOf(endpoint.apiVersion) === '' ? `api/${endpoint.version}` : `apis/${endpoint.apiVersion}`;
      const endpoints = found.get(path) ?? [];
      found.set(path, endpoints);
      endpoints.push(endpoint);
    }
    return found;
  }

  #document(path: string): { body: Buffer; hash: string } | undefined {
    if (this.#generation !== this.#catalog.generation) {
      this.#generation = this.#catalog.generation;
      this.#documents = new Map();
    }
    const known = this.#documents.get(path);
    if (known !== undefined) return known;
    const endpoints = this.#groupVersions().get(path);
    if (endpoints === undefined) return undefined;
    const body = Buffer.from(JSON.stringify(describe(endpoints)));
    const document = { body, hash: createHash('sha256').update(body).digest('hex').toUpperCase() };
    this.#documents.set(path, document);
    return document;
  }
}

function describe(endpoints: readonly Endpoint[]): JsonObject {
  const schemas: JsonObject = {};
  const paths: JsonObject = {};
  for (const endpoint of endpoints) {
    const isCustom = endpoint.resource.definition !== undefined;
    Object.assign(schemas, isCustom ? customComponents(endpoint) : builtinComponents(endpoint));
    Object.assign(paths, pathsOf(endpoint, componentOf(endpoint)));
  }
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: 'v1.33.0' },
    paths,
    components: { schemas },
  };
}

const builtinComponents = (endpoint: Endpoint): JsonObject =>
  componentsOfGroupVersion(groupOf(endpoint.apiVersion), endpoint.version);

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';
const reference = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` });

function customComponents(endpoint: Endpoint): JsonObject {
  const { resource, version } = endpoint;
  const name = componentOf(endpoint);
  const gvk = (kind: string) => [{ group: resource.group, version, kind }];
  const schema: JsonObject = JSON.parse(
    JSON.stringify({ ...endpoint.schema, properties: { ...endpoint.schema.properties, metadata: {} } }),
  );
  const properties = isJsonObject(schema['properties']) ? schema['properties'] : {};
  return {
    ...withReferences([`${META}.ObjectMeta`, `${META}.ListMeta`, `${META}.DeleteOptions`, `${META}.Status`]),
    [name]: {
      ...schema,
      properties: { ...properties, metadata: { allOf: [reference(`${META}.ObjectMeta`)] } },
      'x-kubernetes-group-version-kind': gvk(resource.kind),
    },
    [`${name}List`]: {
      type: 'object',
      required: ['items'],
      properties: {
        apiVersion: { type: 'string' },
        kind: { type: 'string' },
        metadata: { allOf: [reference(`${META}.ListMeta`)] },
        items: { type: 'array', items: { allOf: [reference(name)] } },
      },
      'x-kubernetes-group-version-kind': gvk(resource.listKind),
    },
  };
}

/** `org.openstack.network.v1beta1.NetConfig` for custom kinds; the published name for built-in ones. */
function componentOf({ resource, apiVersion, version }: Endpoint): string {
  const published = schemaNameOf({ group: groupOf(apiVersion), version, kind: resource.kind });
  if (resource.definition === undefined && published !== undefined) return published;
  return [...resource.group.split('.').reverse(), version, resource.kind].join('.');
}

/** Published components with all that they refer to. */
function withReferences(names: readonly string[]): JsonObject {
  const published = publishedSchemas();
  const wanted = new Set(names);
  const collect = (value: Json): void => {
    if (Array.isArray(value)) value.forEach(collect);
    else if (isJsonObject(value)) {
      for (const [key, child] of Object.entries(value)) {
        if (key === '$ref' && typeof child === 'string') wanted.add(child.slice(child.lastIndexOf('/') + 1));
        else collect(child);
      }
    }
  };
  // A Set that grows while it is walked is walked to its new end.
  for (const name of wanted) collect(published[name] ?? null);
  return Object.fromEntries(
    [...wanted].flatMap((name) => (published[name] === undefined ? [] : [[name, published[name]]])),
  );
}

const METHODS: Readonly<Record<Verb, { method: string; action: string; isItem: boolean }>> = {
  get: { method: 'get', action: 'get', isItem: true },
  update: { method: 'put', action: 'put', isItem: true },
  patch: { method: 'patch', action: 'patch', isItem: true },
  delete: { method: 'delete', action: 'delete', isItem: true },
  list: { method: 'get', action: 'list', isItem: false },
  create: { method: 'post', action: 'post', isItem: false },
  deletecollection: { method: 'delete', action: 'deletecollection', isItem: false },
  watch: { method: 'get', action: 'watch', isItem: false },
};

const parameter = (name: string, type: string): JsonObject => ({
  name,
  in: 'query',
  schema: { type, uniqueItems: true },
});
/** That `fieldValidation` is among them tells kubectl to leave the checking of fields to the server. */
const WRITE_PARAMETERS = [
  parameter('dryRun', 'string'),
  parameter('fieldManager', 'string'),
  parameter('fieldValidation', 'string'),
];
const LIST_PARAMETERS = [
  ...['labelSelector', 'fieldSelector', 'continue', 'resourceVersion', 'resourceVersionMatch'].map((name) =>
    parameter(name, 'string'),
  ),
  ...['limit', 'timeoutSeconds'].map((name) => parameter(name, 'integer')),
  ...['watch', 'allowWatchBookmarks', 'sendInitialEvents'].map((name) => parameter(name, 'boolean')),
];

function pathsOf(endpoint: Endpoint, component: string): JsonObject {
  const { resource, version, apiVersion } = endpoint;
  const group = groupOf(apiVersion);
  const root = group === '' ? `/api/${version}` : `/apis/${apiVersion}`;
  const collection = `${root}${resource.namespaced ? '/namespaces/{namespace}' : ''}/${resource.plural}`;
  const gvk = { group, version, kind: resource.kind };
  const paths: JsonObject = {};
  const add = (path: string, operations: JsonObject) => {
    if (Object.keys(operations).length > 0) paths[path] = operations;
  };
  const verbs = endpoint.verbs.filter((verb) => verb !== 'watch');
  add(
    collection,
    operations(
      verbs.filter((verb) => !METHODS[verb].isItem),
      component,
      gvk,
    ),
  );
  add(
    `${collection}/{name}`,
    operations(
      verbs.filter((verb) => METHODS[verb].isItem),
      component,
      gvk,
    ),
  );
  for (const subresource of endpoint.subresources) {
    add(
      `${collection}/{name}/${subresource.name}`,
      operations(subresource.verbs, component, { ...subresource.responseKind }),
    );
  }
  return paths;
}

function operations(verbs: readonly Verb[], component: string, gvk: JsonObject): JsonObject {
  const answer = (name: string): JsonObject => ({
    description: 'OK',
    content: { 'application/json': { schema: reference(name) } },
  });
  return Object.fromEntries(
    verbs.map((verb) => {
      const { method, action } = METHODS[verb];
      const writes = verb === 'create' || verb === 'update' || verb === 'patch';
      const operation: JsonObject = {
        'x-kubernetes-action': action,
        'x-kubernetes-group-version-kind': gvk,
        parameters: writes ? WRITE_PARAMETERS : verb === 'list' ? LIST_PARAMETERS : [],
        responses: { '200': answer(verb === 'list' ? `${component}List` : component) },
      };
      if (writes) operation['requestBody'] = { content: { '*/*': { schema: reference(component) } } };
      return [method, operation];
    }),
  );
}
