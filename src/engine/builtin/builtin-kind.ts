import { isJsonObject, type JsonObject } from '../../api/json.ts';
import type { JsonSchema } from '../../api/json-schema.ts';
import type { Column, Rules, Subresource, Verb } from '../resources/resource.ts';
import { canonicalize } from './canonical.ts';
import { reported } from './field-errors.ts';
import type { NameRule } from './metadata.ts';
import { schemaOfKind } from './schemas.ts';

/** A kind that the engine serves without a CustomResourceDefinition, with all that sets it apart from other kinds. */
export interface BuiltinKind extends Rules {
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
  /** Set where clients should be told to use something else. */
  readonly deprecation?: string;
  /** Fields by which lists can be filtered, besides `metadata.name` and `metadata.namespace`. */
  readonly selectableFields: Readonly<Record<string, (object: JsonObject) => string>>;
  readonly nameRule: NameRule;
  /** Whether finalizers must have a domain, the three of Kubernetes itself excepted. */
  readonly qualifiedFinalizers: boolean;
  /** Whether the status may be given when the object is created. */
  readonly statusOnCreate: boolean;
  /** Where this version's shape differs from what is stored: into storage, and back. Neither changes its argument. */
  readonly toStorage?: (object: JsonObject) => JsonObject;
  readonly fromStorage?: (object: JsonObject) => JsonObject;
}

export type { Column, Subresource, Verb } from '../resources/resource.ts';

export type GroupVersionKind = Subresource['responseKind'];

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
