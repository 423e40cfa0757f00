import { isJsonObject, type Json, type JsonObject } from '../../../api/json.ts';
import type { JsonSchema } from '../../../api/json-schema.ts';
import { refuseTooDeep } from '../depth.ts';
import { decodeManagers, type Managers } from './managers.ts';
import { managedFieldsOf, withManagedFields, withManagers } from './metadata.ts';
import { ownedByUpdate } from './ownership.ts';
import { reconcileWithSchema } from './reconcile.ts';
import { unreachableFields } from './reset-fields.ts';
import { shapeOfObject } from './shape.ts';

export interface Update {
  /** What is stored; undefined when the object is being created. */
  readonly live: JsonObject | undefined;
  /** What is about to be stored. Its managedFields are those the client sent, if any. */
  readonly updated: JsonObject;
  readonly manager: string;
  readonly schema: JsonSchema;
  readonly apiVersion: string;
  readonly subresource?: string | undefined;
  /** Paths like `status` or `metadata.labels` that this endpoint never changes: see reset-fields.ts. */
  readonly resetFields?: readonly string[] | undefined;
  /** RFC 3339, to the second. */
  readonly now: string;
}

/**
 * `updated` with the managedFields that follow from what a create, update or patch changed. Comes back itself when its
 * managedFields are right already. An object that was stripped of them (`managedFields: []` or `[{}]`) stays without until the
 * first apply.
 */
export function trackUpdate(update: Update): JsonObject {
  const { live, updated, manager, schema, apiVersion, subresource = '', resetFields = [], now } = update;
  refuseTooDeep(updated, 'the object');
  const known = managersBefore(live, updated, subresource);
  if (known.size === 0 && live !== undefined) return withManagedFields(updated, undefined);
  const shape = shapeOfObject(schema);
  const write = {
    manager: manager === '' ? 'unknown' : manager,
    apiVersion,
    subresource,
    shape,
    unreachable: unreachableFields(resetFields),
    now,
  };
  return withManagers(updated, ownedByUpdate(live ?? {}, updated, reconcileWithSchema(known, shape), write));
}

/** Clients that do not know managedFields leave them out; that must not lose them. Subresources cannot set them. */
function managersBefore(live: JsonObject | undefined, updated: JsonObject, subresource: string): Managers {
  if (subresource === '') {
    const sent = managedFieldsOf(updated);
    if (isReset(sent)) return new Map();
    const managers = decodeManagers(sent);
    if (managers !== undefined && managers.size > 0) return managers;
  }
  return (live === undefined ? undefined : decodeManagers(managedFieldsOf(live))) ?? new Map();
}

function isReset(managedFields: Json | undefined): boolean {
  if (!Array.isArray(managedFields)) return false;
  const [first, second] = managedFields;
  return first === undefined || (second === undefined && isJsonObject(first) && Object.keys(first).length === 0);
}
