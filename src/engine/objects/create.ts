import { randomUUID } from 'node:crypto';
import type { AdmissionRequest } from '../../api/admission.ts';
import type { JsonObject } from '../../api/json.ts';
import type { ApiObject } from '../../api/object.ts';
import { metadataOf } from '../../api/object.ts';
import { ApiError, alreadyExists, forbidden, invalid, methodNotAllowed, notFound } from '../../api/status.ts';
import { trackUpdate } from '../patch/managed-fields/update.ts';
import { type Endpoint, nameOf, type Resource } from '../resources/resource.ts';
import { RevisionMismatch } from '../store/errors.ts';
import type { Version } from '../store/version.ts';
import type { Context, Target, WriteOptions, Written } from './context.ts';
import { decode, encodeAt, toStorage, view } from './encoding.ts';
import { generatedName } from './generated-name.ts';
import { fillIn, requireIdentity, type Submission, takeIn } from './intake.ts';
import { resetFields } from './replace.ts';

/** Stores a new object. `track` is left out where the fields' owners are known already (server-side apply). */
export async function create(
  context: Context,
  target: Target,
  submission: Submission,
  options: WriteOptions,
  ownership: 'track' | 'tracked' = 'track',
): Promise<Written> {
  const { object } = submission;
  const { resource } = target.endpoint;
  const metadata = requireIdentity(target, object);
  if ((metadata['resourceVersion'] ?? '') !== '') {
    throw new ApiError(500, undefined, 'resourceVersion should not be set on objects to be created');
  }
  takeIn(target.endpoint, submission, options);
  const prefix = metadata['generateName'];
  const generates = (metadata['name'] ?? '') === '' && typeof prefix === 'string' && prefix !== '';
  for (let attempt = 1; ; attempt++) {
    if (generates) metadata['name'] = generatedName(prefix);
    try {
      return await store(context, target, object, options, ownership);
    } catch (error) {
      if (!(error instanceof RevisionMismatch)) throw error;
      // Somebody has that name: another one is drawn, but not for ever.
      if (!generates || attempt === 8) throw alreadyExists(resource, nameOf(object));
    }
  }
}

async function store(
  context: Context,
  target: Target,
  object: JsonObject,
  options: WriteOptions,
  ownership: 'track' | 'tracked',
): Promise<Written> {
  const { endpoint, namespace } = target;
  const { resource } = endpoint;
  const now = context.timestamp();
  stamp(endpoint, object, now);
  const name = nameOf(object);
  const request = {
    operation: 'CREATE' as const,
    namespace,
    name,
    dryRun: options.dryRun,
    user: options.user,
    object: object as unknown as ApiObject,
  };
  if (await context.admission.mutate(resource, request)) fillIn(endpoint, object);
  const owned =
    ownership === 'tracked'
      ? object
      : trackUpdate({
          live: undefined,
          updated: object,
          manager: options.fieldManager,
          schema: endpoint.schema,
          apiVersion: endpoint.apiVersion,
          resetFields: resetFields(endpoint, ''),
          now,
        });
  const allocated = resource.rules.allocate?.(owned, undefined);
  try {
    return await context.admission.inTurn(resource, request, () =>
      storeOwned(context, target, owned, request, options),
    );
  } finally {
    allocated?.();
  }
}

async function storeOwned(
  context: Context,
  { endpoint, namespace }: Target,
  owned: JsonObject,
  request: AdmissionRequest,
  options: WriteOptions,
): Promise<Written> {
  const { resource } = endpoint;
  const { name } = request;
  const faults = resource.rules.validate(owned, undefined);
  if (faults.length > 0) throw invalid(resource, name, faults);
  options.warnings.push(...(await context.admission.validate(resource, request)));
  requireOpenNamespace(context, resource, namespace, name);
  if (resource.definition?.terminating) throw methodNotAllowed(resource, 'create');
  const stored = toStorage(endpoint, owned);
  if (options.dryRun) {
    const there = context.store.newest(resource.id, namespace, name);
    if (there !== undefined) throw new RevisionMismatch(there, 0, there.revision);
    return { bytes: encodeAt(owned, 0), created: true };
  }
  const version = await context.store.put({
    resource: resource.id,
    namespace,
    name,
    expected: 0,
    encode: (revision) => encodeAt(stored, revision),
  });
  return { bytes: view(endpoint, version), created: true };
}

/** What the server alone says about a new object. */
function stamp(endpoint: Endpoint, object: JsonObject, now: string): void {
  const metadata = metadataOf(object);
  for (const field of ['deletionTimestamp', 'deletionGracePeriodSeconds', 'selfLink', 'resourceVersion']) {
    delete metadata[field];
  }
  metadata['uid'] = randomUUID();
  metadata['creationTimestamp'] = now;
  if (endpoint.resource.rules.hasGeneration) metadata['generation'] = 1;
  else delete metadata['generation'];
  endpoint.resource.rules.prepare(object, undefined);
}

/** Objects live only in namespaces that exist and are not about to vanish. */
function requireOpenNamespace(context: Context, resource: Resource, namespace: string, name: string): void {
  if (!resource.namespaced) return;
  const found = context.store.newest('namespaces', '', namespace);
  if (found === undefined) throw notFound({ group: '', plural: 'namespaces', kind: 'Namespace' }, namespace);
  if (!isEnding(found)) return;
  throw forbidden(
    resource,
    name,
    `unable to create new content in namespace ${namespace} because it is being terminated`,
    [
      {
        reason: 'NamespaceTerminating',
        message: `namespace ${namespace} is being terminated`,
        field: 'metadata.namespace',
      },
    ],
  );
}

/** Looking for the word first spares nearly every create from decoding its namespace. */
const isEnding = ({ bytes }: Version): boolean =>
  bytes.includes('"deletionTimestamp"') && metadataOf(decode(bytes))['deletionTimestamp'] !== undefined;
