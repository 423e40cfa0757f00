import type { JsonObject } from '../../api/json.ts';
import type { BuiltinKind } from '../builtin/builtin-kind.ts';
import { builtinKinds } from '../builtin/kinds.ts';
import { validateMetadata } from '../builtin/metadata.ts';
import { validate as validateShape } from '../schema/validate.ts';
import type { Endpoint, Resource, Rules } from './resource.ts';

/** The resources that are there without any definition. Kinds of several groups over the same objects share one. */
export function builtinResources(special: ReadonlyMap<string, (base: Rules) => Rules>): Resource[] {
  const byStore = new Map<string, BuiltinKind[]>();
  for (const kind of builtinKinds) {
    const id = storeOf(kind);
    const kinds = byStore.get(id) ?? [];
    byStore.set(id, kinds);
    kinds.push(kind);
  }
  return [...byStore].map(([id, kinds]) => resourceOf(id, kinds, special.get(id) ?? ((base) => base)));
}

/** `events.k8s.io` is another view of the events of the core group. */
const storeOf = ({ group, plural }: BuiltinKind): string =>
  group === '' || group === 'events.k8s.io' ? plural : `${plural}.${group}`;

function resourceOf(id: string, kinds: readonly BuiltinKind[], specialise: (base: Rules) => Rules): Resource {
  const [main] = kinds;
  if (main === undefined) throw new Error(`no kind is stored as ${id}`);
  const endpoints: Endpoint[] = [];
  const resource: Resource = {
    id,
    group: main.group,
    kind: main.kind,
    plural: main.plural,
    singular: main.singular,
    listKind: main.listKind,
    shortNames: main.shortNames,
    categories: main.categories,
    namespaced: main.namespaced,
    storageVersion: main.version,
    schemaRevision: 0,
    endpoints,
    rules: specialise(rulesOf(main)),
  };
  for (const kind of kinds) endpoints.push(endpointOf(kind, resource));
  return resource;
}

function endpointOf(kind: BuiltinKind, resource: Resource): Endpoint {
  return {
    resource,
    version: kind.version,
    apiVersion: kind.group === '' ? kind.version : `${kind.group}/${kind.version}`,
    // Read on first use: most schemas are never needed in a short life.
    get schema() {
      return kind.schema;
    },
    verbs: kind.verbs,
    subresources: kind.subresources,
    columns: kind.columns,
    selectableFields: kind.selectableFields,
    ...(kind.toStorage === undefined ? {} : { toStorage: kind.toStorage }),
    ...(kind.fromStorage === undefined ? {} : { fromStorage: kind.fromStorage }),
  };
}

function rulesOf(kind: BuiltinKind): Rules {
  return {
    defaults: (object) => kind.defaults(object),
    prepare: (object, old) => kind.prepare(object, old),
    validate: (object: JsonObject, old: JsonObject | undefined) => [
      ...validateMetadata(object, old, kind),
      ...validateShape(object, kind.schema, {}),
      ...kind.validate(object, old),
    ],
    statusIncludesMetadata: kind.statusIncludesMetadata,
    unconditionalUpdate: kind.unconditionalUpdate,
    createOnUpdate: kind.createOnUpdate,
    hasGeneration: kind.hasGeneration,
    generationChangesWith: (object, old) => kind.generationChangesWith(object, old),
    gracefulDeletionSeconds: (object) => kind.gracefulDeletionSeconds(object),
    beginDeletion: (object) => kind.beginDeletion(object),
    isHeld: (object) => kind.isHeld(object),
  };
}
