import type { Json, JsonObject } from '../../api/json.ts';
import type { JsonSchema } from '../../api/json-schema.ts';
import { metadataOf } from '../../api/object.ts';
import type { FieldError, ResourceName } from '../../api/status.ts';

/** Objects of one plural of the API: built in, or defined by a CustomResourceDefinition. */
export interface Resource extends ResourceName {
  /** What the store files them under: `plural.group`, or the plural alone in the core group. */
  readonly id: string;
  readonly singular: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  /** Every version under which they are served, the preferred first. */
  readonly endpoints: readonly Endpoint[];
  /** The version that stored objects are written in. */
  readonly storageVersion: string;
  /** Objects older than this revision were written under another schema: pruned and defaulted anew when read. */
  readonly schemaRevision: number;
  /** The definition behind it, for custom resources. */
  readonly definition?: { readonly uid: string; readonly name: string; readonly terminating: boolean };
  readonly rules: Rules;
}

/** One version of a resource as it is served. */
export interface Endpoint {
  readonly resource: Resource;
  readonly version: string;
  /** `group/version`, or the version alone in the core group. */
  readonly apiVersion: string;
  /** Of whole objects, `metadata` included. */
  readonly schema: JsonSchema;
  readonly verbs: readonly Verb[];
  readonly subresources: readonly Subresource[];
  readonly columns: readonly Column[];
  /** Fields by which lists can be filtered, besides `metadata.name` and `metadata.namespace`. */
  readonly selectableFields: Readonly<Record<string, (object: JsonObject) => string>>;
  /** Set where clients should be told that this version will go. */
  readonly deprecation?: string | undefined;
  /** Where this version's shape differs from what is stored: into storage, and back. Neither changes its argument. */
  readonly toStorage?: (object: JsonObject) => JsonObject;
  readonly fromStorage?: (object: JsonObject) => JsonObject;
}

export type Verb = 'create' | 'delete' | 'deletecollection' | 'get' | 'list' | 'patch' | 'update' | 'watch';

export interface Subresource {
  readonly name: string;
  readonly verbs: readonly Verb[];
  readonly responseKind: { readonly group: string; readonly version: string; readonly kind: string };
  /** What a write through this address makes of the stored object, where that is less than all that was sent. */
  readonly write?: (before: JsonObject, sent: JsonObject, now: string) => JsonObject;
  /** Of `scale`: where the numbers are. */
  readonly scale?: ScalePaths;
}

export interface ScalePaths {
  readonly specReplicas: string;
  readonly statusReplicas: string;
  readonly labelSelector?: string | undefined;
}

export interface Column {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  readonly priority: number;
  cell(object: JsonObject, now: Date): Json;
}

/** What a kind demands of its objects beyond their shape. */
export interface Rules {
  /** Fills in what the schema's own defaults do not say. Changes the object. */
  defaults(object: JsonObject): void;
  /** Sets what only the server may set, when the main resource is created (`old` is absent) or replaced. */
  prepare(object: JsonObject, old: JsonObject | undefined): void;
  /**
   * Gives an object what only the server can give, such as addresses, before it is validated; the caller calls the
   * returned function when the write has ended, whatever its end.
   */
  allocate?(object: JsonObject, old: JsonObject | undefined): () => void;
  /** Every fault at once, of metadata too; `old` is there when an object is replaced. */
  validate(object: JsonObject, old: JsonObject | undefined): FieldError[];
  /** Whether writes to /status take labels and annotations along. */
  readonly statusIncludesMetadata: boolean;
  /** Whether a PUT without resourceVersion overwrites whatever is there. */
  readonly unconditionalUpdate: boolean;
  /** Whether a PUT to a name that nothing has creates the object. */
  readonly createOnUpdate: boolean;
  readonly hasGeneration: boolean;
  /** Whether this change of the main resource counts a generation on. */
  generationChangesWith(object: JsonObject, old: JsonObject): boolean;
  /** Seconds that this object has to end by itself; undefined where it can vanish at once. */
  gracefulDeletionSeconds(object: JsonObject): number | undefined;
  /** Marks the object when its deletion begins; what it adds to the finalizers holds the object. */
  beginDeletion(object: JsonObject): void;
  /** Whether something besides `metadata.finalizers` still holds an object whose deletion has begun. */
  isHeld(object: JsonObject): boolean;
}

export const nameOf = (object: JsonObject): string => text(metadataOf(object)['name']);
export const namespaceOf = (object: JsonObject): string => text(metadataOf(object)['namespace']);
export const uidOf = (object: JsonObject): string => text(metadataOf(object)['uid']);

const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '');
