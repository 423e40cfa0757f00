import type { AdmissionRequest } from '../../api/admission.ts';
import type { Json, JsonObject } from '../../api/json.ts';
import type { ApiObject } from '../../api/object.ts';
import { metadataOf } from '../../api/object.ts';
import { conflict, notFound } from '../../api/status.ts';
import { timestamp } from '../../runtime/timestamp.ts';
import { uidOf } from '../resources/resource.ts';
import { RevisionMismatch } from '../store/errors.ts';
import type { Version } from '../store/version.ts';
import type { Context, Target, WriteOptions } from './context.ts';
import { encodeAt, objectOf, toStorage, view } from './encoding.ts';
import { finalizersOf, generationOf, isReleased } from './replace.ts';

export interface DeleteOptions {
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: 'Orphan' | 'Background' | 'Foreground';
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
}

export interface Deleted {
  /** The object as the endpoint shows it: its last state, or its state while something still holds it. */
  readonly bytes: Buffer;
  readonly object: JsonObject;
  readonly isGone: boolean;
}

/** Ends an object, or begins to: finalizers, a grace period or dependents in the foreground hold it for a while. */
export async function remove(
  context: Context,
  target: Target,
  wishes: DeleteOptions,
  options: WriteOptions,
): Promise<Deleted> {
  for (;;) {
    const old = context.store.newest(target.endpoint.resource.id, target.namespace, target.name);
    if (old === undefined) throw notFound(target.endpoint.resource, target.name);
    try {
      return await removeVersion(context, target, old, wishes, options);
    } catch (error) {
      if (!(error instanceof RevisionMismatch)) throw error;
    }
  }
}

async function removeVersion(
  context: Context,
  target: Target,
  old: Version,
  wishes: DeleteOptions,
  options: WriteOptions,
): Promise<Deleted> {
  const { endpoint, namespace, name } = target;
  const { resource } = endpoint;
  const object = objectOf(endpoint, old);
  requirePreconditions(target, old, object, wishes);
  const request = {
    operation: 'DELETE' as const,
    namespace,
    name,
    dryRun: options.dryRun,
    user: options.user,
    oldObject: object as unknown as ApiObject,
  };
  return context.admission.inTurn(resource, request, () =>
    removeChecked(context, target, { old, object }, wishes, request, options),
  );
}

async function removeChecked(
  context: Context,
  target: Target,
  { old, object }: { old: Version; object: JsonObject },
  wishes: DeleteOptions,
  request: AdmissionRequest,
  options: WriteOptions,
): Promise<Deleted> {
  const { endpoint, namespace, name } = target;
  const { resource } = endpoint;
  options.warnings.push(...(await context.admission.validate(resource, request)));

  const metadata = metadataOf(object);
  const wasDeleting = metadata['deletionTimestamp'] !== undefined;
  if (!wasDeleting) resource.rules.beginDeletion(object);
  const finalizers = withPropagation(finalizersOf(object), wishes.propagationPolicy);
  if (finalizers.length > 0) metadata['finalizers'] = finalizers;
  else delete metadata['finalizers'];
  const grace = graceOf(target, object, wishes);
  const isGone = grace === 0 && isReleased(endpoint, object);
  let isChanged = finalizers.join() !== finalizersOf(objectOf(endpoint, old)).join();
  if (!isGone && (!wasDeleting || grace < numberOf(metadata['deletionGracePeriodSeconds']))) {
    metadata['deletionTimestamp'] = timestamp(beginOf(metadata, context.now()) + grace * 1000);
    metadata['deletionGracePeriodSeconds'] = grace;
    if (resource.rules.hasGeneration) metadata['generation'] = generationOf(object) + 1;
    isChanged = true;
  }
  if (options.dryRun || (!isGone && !isChanged)) {
    return { bytes: options.dryRun ? encodeAt(object, old.revision) : view(endpoint, old), object, isGone };
  }
  const stored = toStorage(endpoint, object);
  const write = {
    resource: resource.id,
    namespace,
    name,
    expected: old.revision,
    encode: (revision: number) => encodeAt(stored, revision),
  };
  const version = isGone ? await context.store.remove(write) : await context.store.put(write);
  return { bytes: view(endpoint, version), object, isGone };
}

/** Orphan and Foreground are finalizers for the garbage collector, and exclude each other. */
function withPropagation(finalizers: string[], policy: DeleteOptions['propagationPolicy']): string[] {
  if (policy === undefined) return finalizers;
  const others = finalizers.filter((finalizer) => finalizer !== ORPHAN && finalizer !== FOREGROUND);
  if (policy === 'Orphan') return [...others, ORPHAN];
  if (policy === 'Foreground') return [...others, FOREGROUND];
  return others;
}

export const ORPHAN = 'orphan';
export const FOREGROUND = 'foregroundDeletion';

/** How long the object may take, from the first request on. Once deletion has begun, another request can only shorten it. */
function graceOf({ endpoint }: Target, object: JsonObject, wishes: DeleteOptions): number {
  const metadata = metadataOf(object);
  const own = endpoint.resource.rules.gracefulDeletionSeconds(object);
  const asked = wishes.gracePeriodSeconds;
  if (metadata['deletionTimestamp'] === undefined) {
    return own === undefined ? 0 : sensible(asked ?? own);
  }
  const left = numberOf(metadata['deletionGracePeriodSeconds']);
  return asked === undefined ? left : Math.min(sensible(asked), left);
}

/** A second is the least that a client means who gives no number that makes sense. */
const sensible = (seconds: number): number => (seconds < 0 ? 1 : seconds);

/** When deletion was first asked for, in milliseconds. */
function beginOf({ deletionTimestamp, deletionGracePeriodSeconds }: JsonObject, now: Date): number {
  if (typeof deletionTimestamp !== 'string') return now.getTime();
  return Date.parse(deletionTimestamp) - numberOf(deletionGracePeriodSeconds) * 1000;
}

const numberOf = (value: Json | undefined): number => (typeof value === 'number' ? value : 0);

function requirePreconditions(target: Target, old: Version, object: JsonObject, wishes: DeleteOptions): void {
  const { uid, resourceVersion } = wishes.preconditions ?? {};
  const { resource } = target.endpoint;
  // The real server names the kind here, not the plural.
  const named = { ...resource, plural: resource.kind, group: '' };
  if (uid !== undefined && uid !== uidOf(object)) {
    throw conflict(
      named,
      target.name,
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${uidOf(object)}`,
    );
  }
  if (resourceVersion !== undefined && resourceVersion !== String(old.revision)) {
    throw conflict(
      named,
      target.name,
      `Precondition failed: ResourceVersion in precondition: ${resourceVersion}, ResourceVersion in object meta: ${old.revision}`,
    );
  }
}
