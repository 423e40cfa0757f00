import { equalJson, type JsonObject } from '../../../api/json.ts';
import type { JsonSchema } from '../../../api/json-schema.ts';
import { badRequest } from '../../../api/status.ts';
import { refuseTooDeep } from '../depth.ts';
import { fieldOf } from '../own-fields.ts';
import { refuseUnownable } from './applied-check.ts';
import { changedFields, compare, ignoring } from './compare.ts';
import { conflictError, conflictsWith, exceptFor } from './conflicts.ts';
import { appliedFields } from './extract.ts';
import { difference, equalSets, type FieldSet, isEmpty, noFields, outside, union } from './field-set.ts';
import { fieldsLastApplied, kubectl, withLastApplied } from './last-applied.ts';
import {
  decodeManagers,
  identityOf,
  type Manager,
  type Managers,
  withFields,
  withManager,
  withoutManager,
} from './managers.ts';
import { mergeApplied } from './merge.ts';
import { managedFieldsOf, withManagedFields, withManagers } from './metadata.ts';
import { ownable, ownedByUpdate, type Write } from './ownership.ts';
import { pruneAbandoned } from './prune.ts';
import { reconcileWithSchema } from './reconcile.ts';
import { unreachableFields } from './reset-fields.ts';
import { shapeOfObject } from './shape.ts';

export interface Apply {
  /** What is stored; undefined when the apply creates the object. */
  readonly live: JsonObject | undefined;
  /** The configuration: exactly the fields that the manager wants to own. */
  readonly applied: JsonObject;
  readonly manager: string;
  /** Take fields from managers that want other values there. */
  readonly force: boolean;
  readonly schema: JsonSchema;
  readonly apiVersion: string;
  readonly subresource?: string | undefined;
  /** Paths like `status` or `metadata.labels` that this endpoint never changes: see reset-fields.ts. */
  readonly resetFields?: readonly string[] | undefined;
  /** RFC 3339, to the second. */
  readonly now: string;
}

/**
 * Server-side apply: the live object with the configuration merged in, what the manager applied before and now left out removed,
 * and managedFields to match. Comes back as `live` itself when nothing changes. 409 when another manager owns a field that
 * would change, unless forced.
 */
export function applyPatch(apply: Apply): JsonObject {
  const { live, applied, manager, force, schema, apiVersion, subresource = '', resetFields = [], now } = apply;
  refuseTooDeep(applied, 'the applied configuration');
  if ((managedFieldsOf(applied) ?? null) !== null) throw badRequest('metadata.managedFields must be nil');
  const version = fieldOf(applied, 'apiVersion');
  if (version !== apiVersion) {
    throw badRequest(
      `Incorrect version specified in apply patch. Specified patch version: ${typeof version === 'string' ? version : ''}, expected: ${apiVersion}`,
    );
  }
  const shape = shapeOfObject(schema);
  refuseUnownable(applied, shape);
  const write: Write = { manager, apiVersion, subresource, shape, unreachable: unreachableFields(resetFields), now };
  const current = live ?? {};
  const managers = managersBefore(live, write);

  const who = { name: manager === '' ? 'unknown' : manager, operation: 'Apply', apiVersion, subresource } as const;
  const identity = identityOf(who);
  const previous = managers.get(identity);
  const owned = outside(appliedFields(applied, shape), write.unreachable);
  const merged = pruneAbandoned({
    merged: mergeApplied(current, applied, shape),
    before: previous?.fields ?? noFields,
    now: owned,
    others: () => fieldsOfOthers(managers, identity),
    shape,
  });

  const comparison = ignoring(compare(current, merged, shape), write.unreachable);
  const conflicts = conflictsWith(managers, identity, changedFields(comparison));
  if (conflicts.length > 0 && !force) {
    const allowed = manager === kubectl ? fieldsLastApplied(current, apiVersion, shape) : noFields;
    const refused = exceptFor(conflicts, allowed);
    if (refused.length > 0) throw conflictError(refused);
  }
  const lost = union(changedFields(comparison), comparison.removed);
  const others = withFields(managers, ({ fields }, other) => (other === identity ? fields : difference(fields, lost)));
  const isUnchanged = equalJson(current, merged);
  const time = isUnchanged ? previous?.time : now;
  const object = isUnchanged ? current : merged;
  const result = manager === kubectl ? withLastApplied(object, applied) : object;
  return settled(result, withApplier(others, { ...who, time, fields: ownable(owned) }), live);
}

/** An object that nobody ever tracked has all its fields from somebody. */
function managersBefore(live: JsonObject | undefined, write: Write): Managers {
  if (live === undefined) return new Map();
  const known = reconcileWithSchema(decodeManagers(managedFieldsOf(live)) ?? new Map(), write.shape);
  if (known.size > 0) return known;
  return ownedByUpdate({}, live, known, { ...write, manager: 'before-first-apply' });
}

function fieldsOfOthers(managers: Managers, identity: string): FieldSet {
  let fields = noFields;
  for (const [other, manager] of managers) if (other !== identity) fields = union(fields, manager.fields);
  return fields;
}

function withApplier(managers: Managers, applier: Manager): Managers {
  const identity = identityOf(applier);
  if (isEmpty(applier.fields)) return withoutManager(managers, identity);
  const known = managers.get(identity);
  const isUnchanged =
    known !== undefined &&
    known.apiVersion === applier.apiVersion &&
    known.time === applier.time &&
    equalSets(known.fields, applier.fields);
  return isUnchanged ? managers : withManager(managers, applier);
}

/** With its managers in place; `live` itself if that is what came of it. */
function settled(object: JsonObject, managers: Managers, live: JsonObject | undefined): JsonObject {
  const result = withManagers(object, managers);
  const before = live === undefined ? undefined : managedFieldsOf(live);
  return equalJson(managedFieldsOf(result), before) ? withManagedFields(object, before) : result;
}
