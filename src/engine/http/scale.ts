import { isJsonObject, type Json, type JsonObject } from '../../api/json.ts';
import { metadataOf } from '../../api/object.ts';
import { badRequest, notFound, unsupportedMediaType } from '../../api/status.ts';
import { ageColumn, nameColumn } from '../builtin/columns.ts';
import type { Context, Target, WriteOptions, Written } from '../objects/context.ts';
import { objectOf } from '../objects/encoding.ts';
import { PATCH_TYPES, patch } from '../objects/patch.ts';
import { jsonPatch } from '../patch/json-patch.ts';
import { mergePatch } from '../patch/merge-patch.ts';
import type { Column, ScalePaths, Verb } from '../resources/resource.ts';
import { mediaTypeOf, objectIn, valueIn } from './body.ts';
import type { Call } from './call.ts';

/** The autoscaling/v1 Scale of an object: how many there should be, and how many there are. */
export function readScale(object: JsonObject, paths: ScalePaths): JsonObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metadataOf(object);
  const selector = paths.labelSelector === undefined ? undefined : valueAt(object, paths.labelSelector);
  const metadata: JsonObject = {};
  for (const [field, value] of Object.entries({ name, namespace, uid, resourceVersion, creationTimestamp })) {
    if (value !== undefined) metadata[field] = value;
  }
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata,
    spec: { replicas: valueAt(object, paths.specReplicas) ?? 0 },
    status: {
      replicas: valueAt(object, paths.statusReplicas) ?? 0,
      ...(selector === undefined ? {} : { selector: typeof selector === 'string' ? selector : selectorText(selector) }),
    },
  };
}

/** What `kubectl get --subresource=scale` shows. */
export const scaleColumns: readonly Column[] = [
  nameColumn,
  count('Desired', 'How many there should be.', '.spec.replicas'),
  count('Available', 'How many there are.', '.status.replicas'),
  ageColumn,
];

function count(name: string, description: string, path: string): Column {
  const cell = (scale: JsonObject) => valueAt(scale, path) ?? 0;
  return { name, type: 'integer', format: '', description, priority: 0, cell };
}

/** Writes the number of a Scale back into the object that it belongs to. */
export async function writeScale(
  context: Context,
  target: Target,
  paths: ScalePaths,
  verb: Verb,
  call: Call,
  options: WriteOptions,
): Promise<Written> {
  const { endpoint, namespace, name } = target;
  const old = context.store.newest(endpoint.resource.id, namespace, name);
  if (old === undefined) throw notFound(endpoint.resource, name);
  const before = readScale(objectOf(endpoint, old), paths);
  const wanted = verb === 'update' ? (await objectIn(call)).object : await patched(before, call);
  const replicas = valueAt(wanted, '.spec.replicas') ?? 0;
  if (typeof replicas !== 'number' || !Number.isInteger(replicas) || replicas < 0) {
    throw badRequest(`spec.replicas must be a whole number that is not negative, not ${JSON.stringify(replicas)}`);
  }
  const version = metadataOf(wanted)['resourceVersion'];
  const document = nested(paths.specReplicas, replicas);
  if (typeof version === 'string' && version !== '') document['metadata'] = { resourceVersion: version };
  return patch(context, target, { type: PATCH_TYPES.merge, patch: document, duplicates: [], force: false }, options);
}

async function patched(scale: JsonObject, call: Call): Promise<JsonObject> {
  const type = mediaTypeOf(call.contentType);
  const { value } = await valueIn(call, type);
  if (type === PATCH_TYPES.apply) throw unsupportedMediaType('a Scale cannot be applied: send a merge patch');
  const result = type === PATCH_TYPES.json ? jsonPatch(scale, value) : mergePatch(scale, value);
  return isJsonObject(result) ? result : {};
}

/** Scale paths are plain: `.spec.replicas`, no indexes. */
const segments = (path: string): string[] => path.split('.').filter((part) => part !== '');

function valueAt(object: JsonObject, path: string): Json | undefined {
  let value: Json | undefined = object;
  for (const field of segments(path)) {
    value = isJsonObject(value) && Object.hasOwn(value, field) ? value[field] : undefined;
  }
  return value;
}

const nested = (path: string, value: Json): JsonObject =>
  segments(path).reduceRight<Json>((inner, field) => ({ [field]: inner }), value) as JsonObject;

function selectorText(selector: Json): string {
  const labels = isJsonObject(selector) && isJsonObject(selector['matchLabels']) ? selector['matchLabels'] : {};
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
}
