import { isJsonObject, type Json, type JsonObject } from '../../api/json.ts';
import type { JsonSchema } from '../../api/json-schema.ts';
import type { FieldError } from '../../api/status.ts';
import { canonicalize } from './canonical.ts';
import { reported } from './field-errors.ts';
import type { NameRule } from './metadata.ts';
import { schemaOfKind } from './schemas.ts';

/** A kind that the engine serves without a CustomResourceDefinition, with all that sets it apart from other kinds. */
export interface BuiltinKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly listKind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  readonly verbs: readonly Verb[];
  readonly subresources: readonly Subresource[];
  /** Of whole objects, resolved on first use. */
  readonly schema: JsonSchema;
  readonly columns: readonly Column[];
  /** Fields by which lists can be filtered, besides `metadata.name` and `metadata.namespace`. */
  readonly selectableFields: Readonly<Record<string, (object: JsonObject) => string>>;
  readonly nameRule: NameRule;
  /** Whether finalizers must have a domain, those of Kubernetes itself excepted. */
  readonly qualifiedFinalizers: boolean;
  /** Whether writes to /status take labels and annotations along. */
  readonly statusIncludesMetadata: boolean;
  /** Whether the status may be given when the object is created. */
  readonly statusOnCreate: boolean;
  /** Whether a PUT without resourceVersion overwrites whatever is there. */
  readonly unconditionalUpdate: boolean;
  /** Whether a PUT to a name that nothing has creates the object. */
  readonly createOnUpdate: boolean;
  readonly hasGeneration: boolean;
  /** Fills in what the schema's own defaults do not say, and brings values to their one spelling. Changes the object. */
  defaults(object: JsonObject): void;
  /** Sets what only the server may set, before an object is created (`old` is absent) or replaced. */
  prepare(object: JsonObject, old: JsonObject | undefined): void;
  /** What is wrong with the object beyond its shape and its metadata; `old` is there when an object is replaced. */
  validate(object: JsonObject, old: JsonObject | undefined): FieldError[];
  /** Whether this change counts a generation on. */
  generationChangesWith(object: JsonObject, old: JsonObject): boolean;
  /** Seconds that this object has to end by itself; undefined where it can vanish at once. */
  gracefulDeletionSeconds(object: JsonObject): number | undefined;
  /** Marks the object when its deletion begins and it cannot vanish yet. */
  beginDeletion(object: JsonObject): void;
  /** Whether something besides `metadata.finalizers` still holds an object whose deletion has begun. */
  isHeld(object: JsonObject): boolean;
  /** Where this version's shape differs from what is stored: into storage, and back. Neither changes its argument. */
  readonly toStorage?: (object: JsonObject) => JsonObject;
  readonly fromStorage?: (object: JsonObject) => JsonObject;
}

export type Verb = 'create' | 'delete' | 'deletecollection' | 'get' | 'list' | 'patch' | 'update' | 'watch';

export interface Subresource {
  readonly name: string;
  readonly verbs: readonly Verb[];
  readonly responseKind: GroupVersionKind;
  /** Of `scale`: where the numbers are. */
  readonly scale?: { readonly specReplicas: string; readonly statusReplicas: string; readonly labelSelector: string };
}

export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

export interface Column {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  readonly priority: number;
  cell(object: JsonObject, now: Date): Json;
}

type Optional =
  | 'shortNames'
  | 'categories'
  | 'verbs'
  | 'subresources'
  | 'columns'
  | 'selectableFields'
  | 'nameRule'
  | 'statusIncludesMetadata'
  | 'statusOnCreate'
  | 'unconditionalUpdate'
  | 'createOnUpdate'
  | 'hasGeneration'
  | 'defaults'
  | 'prepare'
  | 'validate'
  | 'generationChangesWith'
  | 'gracefulDeletionSeconds'
  | 'beginDeletion'
  | 'isHeld';
type Derived = 'listKind' | 'singular' | 'schema';
export type Declaration = Omit<BuiltinKind, Optional | Derived> & Partial<Pick<BuiltinKind, Optional>>;

const EVERY_VERB: readonly Verb[] = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];

/** Completes a declaration with what most kinds have in common. */
export function defineBuiltin(declaration: Declaration): BuiltinKind {
  const { group, version, kind } = declaration;
  const schema = (): JsonSchema => schemaOfKind({ group, version, kind });
  return {
    listKind: `${kind}List`,
    singular: kind.toLowerCase(),
    shortNames: [],
    categories: [],
    verbs: EVERY_VERB,
    subresources: [],
    columns: [],
    selectableFields: {},
    nameRule: 'subdomain',
    statusIncludesMetadata: true,
    statusOnCreate: false,
    unconditionalUpdate: true,
    createOnUpdate: false,
    hasGeneration: false,
    generationChangesWith: () => false,
    gracefulDeletionSeconds: () => undefined,
    beginDeletion() {},
    isHeld: () => false,
    ...declaration,
    get schema() {
      return schema();
    },
    defaults(object) {
      canonicalize(object, schema());
      declaration.defaults?.(object);
    },
    validate: (object, old) => reported(declaration.validate?.(object, old) ?? []),
    prepare(object, old) {
      // What clients say about the status of a new object does not count, but `status` itself is always there.
      if (old === undefined && declaration.statusOnCreate !== true && hasStatus(schema())) object['status'] = {};
      declaration.prepare?.(object, old);
    },
  };
}

const hasStatus = (schema: JsonSchema): boolean => isJsonObject(schema.properties?.['status']);

/** `/status` of a kind, answered with the whole object. */
export const statusSubresource = (responseKind: GroupVersionKind): Subresource => ({
  name: 'status',
  verbs: ['get', 'patch', 'update'],
  responseKind,
});
