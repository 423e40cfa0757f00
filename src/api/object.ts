import { isJsonObject, type JsonObject } from './json.ts';

/** `metadata` of an object as a server returns it. */
export interface ObjectMeta {
  name: string;
  generateName?: string;
  namespace?: string;
  uid: string;
  resourceVersion: string;
  generation?: number;
  creationTimestamp: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReference[];
  finalizers?: string[];
  managedFields?: ManagedFieldsEntry[];
}

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

/** Who set which fields, as server-side apply records it. */
export interface ManagedFieldsEntry {
  manager: string;
  operation: 'Apply' | 'Update';
  apiVersion: string;
  time?: string;
  fieldsType: 'FieldsV1';
  fieldsV1: JsonObject;
  subresource?: string;
}

/** Any object of the API. Kinds declared with `defineKind` have narrower types. */
export interface ApiObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
}

/** `metadata` of what may be an object of the API; empty where there is none. */
export const metadataOf = (object: JsonObject): JsonObject =>
  isJsonObject(object['metadata']) ? object['metadata'] : {};
