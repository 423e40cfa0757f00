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
    rules: specialise(rulesOf(main, kinds)),
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
    ...(kind.deprecation === undefined ? {} : { deprecation: kind.deprecation }),
    ...(kind.toStorage === undefined ? {} : { toStorage: kind.toStorage }),
    ...(kind.fromStorage === undefined ? {} : { fromStorage: kind.fromStorage }),
  };
}

/** Objects that came through another view of the same resource are judged as what they say they are. */
function rulesOf(main: BuiltinKind, kinds: readonly BuiltinKind[]): Rules {
  const apiVersions = new Map(
    kinds.map((kind) => [kind.group === '' ? kind.version : `${kind.group}/${kind.version}`, kind]),
  );
  const kindOf = (object: JsonObject): BuiltinKind => apiVersions.get(String(object['apiVersion'])) ?? main;
  return {
    defaults: (object) => kindOf(object).defaults(object),
    prepare: (object, old) => kindOf(object).prepare(object, old),
    validate(object, old) {
      const kind = kindOf(object);
      const faults = [...validateMetadata(object, old, kind), ...kind.validate(object, old)];
      const known = new Set(faults.map(({ field }) => field));
      // The kind's own rules say it better where both speak; that keys of lists are unique is no rule for built-in kinds.
      const ofShape = validateShape(object, kind.schema).filter(
        ({ type, field }) => type !== 'Duplicate' && !known.has(field),
      );
      return [...faults, ...ofShape];
    },
    statusIncludesMetadata: main.statusIncludesMetadata,
    unconditionalUpdate: main.unconditionalUpdate,
    createOnUpdate: main.createOnUpdate,
    hasGeneration: main.hasGeneration,
    generationChangesWith: (object, old) => main.generationChangesWith(object, old),
    gracefulDeletionSeconds: (object) => main.gracefulDeletionSeconds(object),
    beginDeletion: (object) => main.beginDeletion(object),
    isHeld: (object) => main.isHeld(object),
  };
}
