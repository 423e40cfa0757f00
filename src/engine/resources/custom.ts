import { equalJson, type JsonObject } from '../../api/json.ts';
import type { JsonSchema } from '../../api/json-schema.ts';
import type { FieldError } from '../../api/status.ts';
import { ageColumn, nameColumn } from '../builtin/columns.ts';
import { age } from '../builtin/human-duration.ts';
import { compileJsonPath } from '../builtin/jsonpath.ts';
import { validateMetadata } from '../builtin/metadata.ts';
import { schemaNamed } from '../builtin/schemas.ts';
import { validate } from '../schema/validate.ts';
import type { Definition, DefinitionVersion } from './definition.ts';
import type { Column, Endpoint, Resource, Rules, Subresource, Verb } from './resource.ts';

/** What is wrong with an object of a custom kind that its schema cannot say. */
export type OwnRules = (object: JsonObject, old: JsonObject | undefined) => FieldError[];

/** The resource that an accepted definition defines. `revision` is that of the definition itself. */
export function customResource(definition: Definition, revision: number, ownRules: OwnRules | undefined): Resource {
  const { spec, metadata } = definition;
  const { names, group } = spec;
  const endpoints: Endpoint[] = [];
  const resource: Resource = {
    id: `${names.plural}.${group}`,
    group,
    kind: names.kind,
    plural: names.plural,
    singular: names.singular ?? names.kind.toLowerCase(),
    listKind: names.listKind ?? `${names.kind}List`,
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    namespaced: spec.scope === 'Namespaced',
    storageVersion: spec.versions.find((version) => version.storage)?.name ?? '',
    schemaRevision: revision,
    definition: {
      uid: metadata.uid,
      name: metadata.name,
      terminating: metadata.deletionTimestamp !== undefined,
    },
    endpoints,
    rules: rulesOf(definition, ownRules),
  };
  for (const version of spec.versions) if (version.served) endpoints.push(endpointOf(version, resource));
  return resource;
}

const EVERY_VERB: readonly Verb[] = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];
const ITEM_VERBS: readonly Verb[] = ['get', 'patch', 'update'];

function endpointOf(version: DefinitionVersion, resource: Resource): Endpoint {
  const apiVersion = `${resource.group}/${version.name}`;
  const schema = wholeSchema(version);
  return {
    resource,
    version: version.name,
    apiVersion,
    schema,
    verbs: EVERY_VERB,
    subresources: subresourcesOf(version, resource),
    columns: columnsOf(version),
    selectableFields: Object.fromEntries(
      (version.selectableFields ?? []).map(({ jsonPath }) => [jsonPath.replace(/^\./, ''), fieldReader(jsonPath)]),
    ),
    deprecation: version.deprecated
      ? (version.deprecationWarning ?? `${apiVersion} ${resource.kind} is deprecated`)
      : undefined,
  };
}

/** The schema as published says nothing about metadata, which is the same for all kinds. */
function wholeSchema(version: DefinitionVersion): JsonSchema {
  const schema = version.schema?.openAPIV3Schema ?? { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const metadata = schemaNamed('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta');
  const limits = schema.properties?.['metadata']?.properties;
  return {
    ...schema,
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      ...schema.properties,
      metadata: limits === undefined ? metadata : { ...metadata, properties: { ...metadata.properties, ...limits } },
    },
  };
}

function subresourcesOf(version: DefinitionVersion, { group, kind }: Resource): Subresource[] {
  const { status, scale } = version.subresources ?? {};
  return [
    ...(status === undefined
      ? []
      : [{ name: 'status', verbs: ITEM_VERBS, responseKind: { group, version: version.name, kind } }]),
    ...(scale === undefined
      ? []
      : [
          {
            name: 'scale',
            verbs: ITEM_VERBS,
            responseKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
            scale: {
              specReplicas: scale.specReplicasPath,
              statusReplicas: scale.statusReplicasPath,
              labelSelector: scale.labelSelectorPath,
            },
          },
        ]),
  ];
}

function columnsOf(version: DefinitionVersion): Column[] {
  const declared = version.additionalPrinterColumns ?? [];
  if (declared.length === 0) return [nameColumn, ageColumn];
  return [
    nameColumn,
    ...declared.map(({ name, type, format, description, priority, jsonPath }) => {
      const results = compileJsonPath(jsonPath);
      return {
        name,
        type,
        format: format ?? '',
        description: description ?? '',
        priority: priority ?? 0,
        cell: (object: JsonObject, now: Date) => cellOf(type, results(object), now),
      };
    }),
  ];
}

/** A cell has the type of its column or is empty; of several results of one path the first is shown. */
function cellOf(type: string, results: ReturnType<ReturnType<typeof compileJsonPath>>, now: Date) {
  const [first] = results;
  if (first === undefined || first === null) return null;
  switch (type) {
    case 'integer':
      return typeof first === 'number' ? Math.trunc(first) : null;
    case 'number':
      return typeof first === 'number' ? first : null;
    case 'boolean':
      return typeof first === 'boolean' ? first : null;
    case 'date':
      return age(first, now);
    default:
      return typeof first === 'string' ? first : JSON.stringify(first);
  }
}

function fieldReader(jsonPath: string): (object: JsonObject) => string {
  const results = compileJsonPath(jsonPath);
  return (object) => {
    const [first] = results(object);
    return first === undefined || first === null ? '' : String(first);
  };
}

function rulesOf(definition: Definition, ownRules: OwnRules | undefined): Rules {
  const schemas = new Map(
    definition.spec.versions.map((version) => [`${definition.spec.group}/${version.name}`, wholeSchema(version)]),
  );
  const withStatus = new Set(
    definition.spec.versions
      .filter((version) => version.subresources?.status !== undefined)
      .map((version) => `${definition.spec.group}/${version.name}`),
  );
  const metadataRules = {
    namespaced: definition.spec.scope === 'Namespaced',
    nameRule: 'subdomain' as const,
    qualifiedFinalizers: false,
  };
  return {
    defaults() {},
    prepare(object, old) {
      if (old === undefined && withStatus.has(String(object['apiVersion']))) delete object['status'];
    },
    validate(object, old) {
      const schema = schemas.get(String(object['apiVersion'])) ?? {};
      const faults = [
        ...validateMetadata(object, old, metadataRules),
        ...validate(object, schema, old === undefined ? {} : { old }),
      ];
      // Own rules may rely on the shape being right.
      return faults.length > 0 ? faults : (ownRules?.(object, old) ?? []);
    },
    statusIncludesMetadata: false,
    unconditionalUpdate: false,
    createOnUpdate: false,
    hasGeneration: true,
    generationChangesWith(object, old) {
      const ignored = ['apiVersion', 'kind', 'metadata'];
      if (withStatus.has(String(object['apiVersion']))) ignored.push('status');
      const fields = new Set([...Object.keys(object), ...Object.keys(old)]).difference(new Set(ignored));
      return [...fields].some((field) => !equalJson(object[field], old[field]));
    },
    gracefulDeletionSeconds: () => undefined,
    beginDeletion() {},
    isHeld: () => false,
  };
}
