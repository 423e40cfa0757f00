import { cloneJson, isJsonObject, type Json } from '../../api/json.ts';
import { metadataOf } from '../../api/object.ts';
import { badRequest, conflict, modified, notFound, unsupportedMediaType } from '../../api/status.ts';
import { jsonPatch } from '../patch/json-patch.ts';
import { applyPatch } from '../patch/managed-fields/apply.ts';
import { mergePatch } from '../patch/merge-patch.ts';
import { strategicMergePatch } from '../patch/strategic-merge.ts';

import { RevisionMismatch } from '../store/errors.ts';
import type { Context, Target, WriteOptions, Written } from './context.ts';
import { create } from './create.ts';
import { sharedObjectOf } from './encoding.ts';
import { requireIdentity } from './intake.ts';
import { replace, resetFields } from './replace.ts';

export const PATCH_TYPES = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;

export interface PatchRequest {
  /** The Content-Type, without parameters. */
  readonly type: string;
  readonly patch: Json;
  /** Fields that the patch document names twice. */
  readonly duplicates: readonly string[];
  /** Of server-side apply: take fields from whoever has them. */
  readonly force: boolean;
}

/** PATCH, by whichever of the four types. A write that gets in between is no error: the patch is applied to what came of it. */
export async function patch(
  context: Context,
  target: Target,
  request: PatchRequest,
  options: WriteOptions,
): Promise<Written> {
  requireSupported(target, request.type);
  for (let attempt = 1; ; attempt++) {
    try {
      return request.type === PATCH_TYPES.apply
        ? await apply(context, target, request, options)
        : await change(context, target, request, options);
    } catch (error) {
      if (!(error instanceof RevisionMismatch)) throw error;
      if (attempt === 100) throw modified(target.endpoint.resource, target.name);
      options.warnings.length = 0;
    }
  }
}

async function change(
  context: Context,
  target: Target,
  { type, patch: document, duplicates }: PatchRequest,
  options: WriteOptions,
): Promise<Written> {
  const { endpoint, namespace, name } = target;
  const old = context.store.newest(endpoint.resource.id, namespace, name);
  if (old === undefined) throw notFound(endpoint.resource, name);
  const before = sharedObjectOf(endpoint, old);
  const patched =
    type === PATCH_TYPES.json
      ? jsonPatch(before, document)
      : type === PATCH_TYPES.merge
        ? mergePatch(before, document)
        : strategicMergePatch(before, document, endpoint.schema);
  if (!isJsonObject(patched)) throw badRequest('the patch makes something of the object that is no object');
  // The patch functions share structure with their input; from here on the object is changed in place.
  const object = cloneJson(patched);
  const metadata = requireIdentity(target, object);
  const asked = metadata['resourceVersion'] ?? '';
  if (asked !== '' && asked !== String(old.revision)) throw modified(endpoint.resource, name);
  return replace(context, target, old, { object, duplicates }, options, { ownership: 'track', before });
}

async function apply(
  context: Context,
  target: Target,
  { patch: document, duplicates, force }: PatchRequest,
  options: WriteOptions,
): Promise<Written> {
  const { endpoint, namespace, name, subresource } = target;
  if (!isJsonObject(document))
    throw badRequest('an apply patch is an object: the fields that the applier wants to own');
  if (document['kind'] === undefined || document['apiVersion'] === undefined) {
    throw badRequest('an apply patch says what it is: its apiVersion or its kind is missing');
  }
  const applied = cloneJson(document);
  const metadata = requireIdentity(target, applied);
  if (metadata['managedFields'] !== undefined) {
    throw badRequest('metadata.managedFields must be nil');
  }
  const old = context.store.newest(endpoint.resource.id, namespace, name);
  const live = old === undefined ? undefined : sharedObjectOf(endpoint, old);
  const asked = metadata['resourceVersion'] ?? '';
  if (old !== undefined && asked !== '' && asked !== String(old.revision)) throw modified(endpoint.resource, name);
  if (old === undefined && (metadata['uid'] ?? '') !== '') {
    throw conflict(
      endpoint.resource,
      name,
      'the patch is for an object with a uid, but there is no object of that name',
    );
  }
  delete metadata['resourceVersion'];
  const object = applyPatch({
    live,
    applied,
    manager: options.fieldManager,
    force,
    schema: endpoint.schema,
    apiVersion: endpoint.apiVersion,
    ...(subresource === '' ? {} : { subresource }),
    resetFields: resetFields(endpoint, subresource),
    now: context.timestamp(),
  });
  const submission = { object: cloneJson(object), duplicates };
  if (old === undefined || live === undefined) {
    if (subresource !== '') throw notFound(endpoint.resource, name);
    options.requireCreation?.();
    return create(context, target, submission, options, 'tracked');
  }
  metadataOf(submission.object)['resourceVersion'] = String(old.revision);
  return replace(context, target, old, submission, options, { ownership: 'tracked', before: live });
}

function requireSupported({ endpoint }: Target, type: string): void {
  const isCustom = endpoint.resource.definition !== undefined;
  const supported = Object.values(PATCH_TYPES).filter((each) => !(isCustom && each === PATCH_TYPES.strategic));
  if (supported.some((each) => each === type)) return;
  throw unsupportedMediaType(
    `the body of the request was in an unknown format - accepted media types include: ${supported.join(', ')}`,
  );
}
