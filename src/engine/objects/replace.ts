import type { AdmissionRequest } from '../../api/admission.ts';
import { cloneJson, equalJson, isJsonObject, type JsonObject } from '../../api/json.ts';
import type { ApiObject } from '../../api/object.ts';
import { metadataOf } from '../../api/object.ts';
import { badRequest, conflict, type FieldError, invalid, modified, notFound } from '../../api/status.ts';
import { keepIdleTimes } from '../patch/managed-fields/times.ts';
import { trackUpdate } from '../patch/managed-fields/update.ts';
import { type Endpoint, nameOf, uidOf } from '../resources/resource.ts';
import { RevisionMismatch } from '../store/errors.ts';
import type { Version } from '../store/version.ts';
import type { Context, Target, WriteOptions, Written } from './context.ts';
import { create } from './create.ts';
import { encodeAt, sharedObjectOf, toStorage, view } from './encoding.ts';
import { fillIn, requireIdentity, type Submission, takeIn } from './intake.ts';

/** PUT: what is stored becomes what the client sends, as far as clients have a say. */
export async function update(
  context: Context,
  target: Target,
  submission: Submission,
  options: WriteOptions,
): Promise<Written> {
  const { endpoint, namespace, name } = target;
  const { resource } = endpoint;
  if (nameOf(submission.object) === '') {
    throw badRequest(`metadata.name is missing: the object that replaces "${name}" must carry its name`);
  }
  const metadata = requireIdentity(target, submission.object);
  for (;;) {
    const old = context.store.newest(resource.id, namespace, name);
    if (old === undefined) {
      if (!resource.rules.createOnUpdate) throw notFound(resource, name);
      options.requireCreation?.();
      return create(context, target, submission, options);
    }
    const asked = metadata['resourceVersion'] ?? '';
    if (asked === '' && !resource.rules.unconditionalUpdate) {
      // Here kube-apiserver names the plural, where faults of the object's own name the kind.
      throw invalid({ group: resource.group, kind: resource.plural }, name, [VERSION_MISSING]);
    }
    if (asked !== '' && asked !== String(old.revision)) throw modified(resource, name);
    try {
      // A write that may be tried again works on a copy.
      return await replace(
        context,
        target,
        old,
        asked === '' ? { ...submission, object: cloneJson(submission.object) } : submission,
        options,
      );
    } catch (error) {
      if (!(error instanceof RevisionMismatch)) throw error;
      // Overtaken between reading and writing: with a version in hand the client must decide, without one we go on.
      if (asked !== '') throw modified(resource, name);
    }
  }
}

const VERSION_MISSING: FieldError = {
  type: 'Invalid',
  field: 'metadata.resourceVersion',
  value: 0,
  detail: 'must be specified for an update',
};

/** What the caller has done already. */
interface Progress {
  /** Server-side apply knows the owners of fields before anything is written. */
  readonly ownership: 'track' | 'tracked';
  /** The stored version, decoded. It is not changed. */
  readonly before: JsonObject;
}

/**
 * Puts `submission` in the place of a stored version: every way of changing an object ends here. Throws RevisionMismatch when
 * the object was changed meanwhile.
 */
export async function replace(
  context: Context,
  target: Target,
  old: Version,
  submission: Submission,
  options: WriteOptions,
  { ownership, before }: Progress = { ownership: 'track', before: sharedObjectOf(target.endpoint, old) },
): Promise<Written> {
  const { endpoint, namespace, name, subresource } = target;
  const { resource } = endpoint;
  const { rules } = resource;
  requireSameUid(target, before, submission.object);
  takeIn(endpoint, submission, options);
  let object = submission.object;
  const through = endpoint.subresources.find((each) => each.name === subresource)?.write;
  if (through !== undefined) object = through(before, object, context.timestamp());
  else if (subresource === 'status') object = withStatusOf(endpoint, before, object);
  else if (subresource === 'finalize') object = withFinalizersOf(before, object);
  else if (hasStatus(endpoint)) keepStatus(object, before);
  restoreServerFields(object, before);
  if (subresource !== 'finalize') rules.prepare(object, before);

  const request = {
    operation: 'UPDATE' as const,
    ...(subresource === '' ? {} : { subresource }),
    namespace,
    name,
    dryRun: options.dryRun,
    user: options.user,
    object: object as unknown as ApiObject,
    oldObject: before as unknown as ApiObject,
  };
  if (await context.admission.mutate(resource, request)) fillIn(endpoint, object);
  if (rules.hasGeneration && subresource === '' && rules.generationChangesWith(object, before)) {
    metadataOf(object)['generation'] = generationOf(before) + 1;
  }
  // What is put back by admission is no change, though it was one when the owners were written down.
  object = keepIdleTimes(
    before,
    ownership === 'tracked'
      ? object
      : trackUpdate({
          live: before,
          updated: object,
          manager: options.fieldManager,
          schema: endpoint.schema,
          apiVersion: endpoint.apiVersion,
          ...(subresource === '' ? {} : { subresource }),
          resetFields: resetFields(endpoint, subresource),
          now: context.timestamp(),
        }),
  );
  const allocated = subresource === '' ? rules.allocate?.(object, before) : undefined;
  try {
    return await context.admission.inTurn(resource, request, () =>
      storeInPlace(context, target, old, { object, before }, request, options),
    );
  } finally {
    allocated?.();
  }
}

async function storeInPlace(
  context: Context,
  { endpoint, namespace, name }: Target,
  old: Version,
  { object, before }: { object: JsonObject; before: JsonObject },
  request: AdmissionRequest,
  options: WriteOptions,
): Promise<Written> {
  const { resource } = endpoint;
  const faults = [...finalizerFaults(before, object), ...resource.rules.validate(object, before)];
  if (faults.length > 0) throw invalid(resource, nameOf(before), faults);
  options.warnings.push(...(await context.admission.validate(resource, request)));

  const vanishes = isDoomed(before) && isReleased(endpoint, object);
  const where = { resource: resource.id, namespace, name, expected: old.revision };
  if (!vanishes && equalJson(withoutVersion(before), withoutVersion(object))) {
    // Nothing to write; but an answer must not hide that the object has moved on meanwhile.
    const now = context.store.newest(resource.id, namespace, name);
    if (now?.revision !== old.revision) throw new RevisionMismatch(old, old.revision, now?.revision ?? 0);
    return { bytes: view(endpoint, old), created: false };
  }
  if (options.dryRun) return { bytes: encodeAt(object, old.revision), created: false };
  const stored = toStorage(endpoint, object);
  const encode = (revision: number) => encodeAt(stored, revision);
  const version = vanishes
    ? await context.store.remove({ ...where, encode })
    : await context.store.put({ ...where, encode });
  return { bytes: view(endpoint, version), created: false };
}

/** Whether the deletion of an object has begun and its time is up, so that only finalizers still hold it. */
function isDoomed(object: JsonObject): boolean {
  const metadata = metadataOf(object);
  return metadata['deletionTimestamp'] !== undefined && (metadata['deletionGracePeriodSeconds'] ?? 0) === 0;
}

export function isReleased(endpoint: Endpoint, object: JsonObject): boolean {
  return finalizersOf(object).length === 0 && !endpoint.resource.rules.isHeld(object);
}

export function finalizersOf(object: JsonObject): string[] {
  const finalizers = metadataOf(object)['finalizers'];
  return Array.isArray(finalizers) ? finalizers.filter((finalizer) => typeof finalizer === 'string') : [];
}

export const generationOf = (object: JsonObject): number => {
  const generation = metadataOf(object)['generation'];
  return typeof generation === 'number' ? generation : 0;
};

/** Fields that a write through this address cannot change, so that nobody comes to own them by naming them. */
export function resetFields(endpoint: Endpoint, subresource: string): readonly string[] {
  if (subresource === 'status' || subresource === 'approval') return ['spec'];
  return hasStatus(endpoint) ? ['status'] : [];
}

export const hasStatus = (endpoint: Endpoint): boolean =>
  endpoint.subresources.some((subresource) => subresource.name === 'status');

function requireSameUid(target: Target, before: JsonObject, object: JsonObject): void {
  const uid = uidOf(object);
  if (uid === '' || uid === uidOf(before)) return;
  throw conflict(
    target.endpoint.resource,
    target.name,
    `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${uidOf(before)}`,
  );
}

/** A write to /status changes the status and nothing else (but who owns it, and for some kinds labels and annotations). */
function withStatusOf(endpoint: Endpoint, before: JsonObject, sent: JsonObject): JsonObject {
  const { status: _, ...kept } = before;
  const object = cloneJson(kept);
  const taken = ['managedFields', ...(endpoint.resource.rules.statusIncludesMetadata ? ['labels', 'annotations'] : [])];
  for (const field of taken) copyField(metadataOf(object), metadataOf(sent), field);
  copyField(object, sent, 'status');
  return object;
}

/** `finalize` of a namespace: only who still holds it changes. */
function withFinalizersOf(before: JsonObject, sent: JsonObject): JsonObject {
  const object = cloneJson(before);
  const spec = isJsonObject(object['spec']) ? object['spec'] : {};
  copyField(spec, isJsonObject(sent['spec']) ? sent['spec'] : {}, 'finalizers');
  return { ...object, spec };
}

/** A copy, because objects that are about to be stored are changed in place. */
function keepStatus(object: JsonObject, before: JsonObject): void {
  const { status } = before;
  if (status === undefined) delete object['status'];
  else object['status'] = cloneJson(status);
}

function copyField(into: JsonObject, from: JsonObject, field: string): void {
  const value = from[field];
  if (value === undefined) delete into[field];
  else into[field] = value;
}

const SERVER_FIELDS = [
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'generation',
  'selfLink',
  'resourceVersion',
];

function restoreServerFields(object: JsonObject, before: JsonObject): void {
  for (const field of SERVER_FIELDS) copyField(metadataOf(object), metadataOf(before), field);
}

function finalizerFaults(before: JsonObject, after: JsonObject): FieldError[] {
  if (metadataOf(before)['deletionTimestamp'] === undefined) return [];
  const known = new Set(finalizersOf(before));
  const added = finalizersOf(after).filter((finalizer) => !known.has(finalizer));
  if (added.length === 0) return [];
  return [
    {
      type: 'Forbidden',
      field: 'metadata.finalizers',
      detail: `no new finalizers can be added if the object is being deleted, found new finalizers ${JSON.stringify(added)}`,
    },
  ];
}

function withoutVersion(object: JsonObject): JsonObject {
  const { resourceVersion: _, ...metadata } = metadataOf(object);
  return { ...object, metadata };
}
