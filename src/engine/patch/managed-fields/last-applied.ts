import { isJsonObject, type Json, type JsonObject } from '../../../api/json.ts';
import { isTooDeep } from '../depth.ts';
import { fieldOf } from '../own-fields.ts';
import { isOwnable } from './applied-check.ts';
import { changedFields, compare } from './compare.ts';
import { appliedFields } from './extract.ts';
import { difference, type FieldSet, noFields, union } from './field-set.ts';
import type { Shape } from './shape.ts';

/**
 * kubectl's client-side apply keeps its configuration in an annotation. When the same user moves to server-side apply (manager
 * `kubectl`), what that annotation says and is still so is theirs already: taking it over is no conflict. The annotation is then
 * kept up to date, so that they can move back.
 */
const annotation = 'kubectl.kubernetes.io/last-applied-configuration';
const mostAnnotationBytes = 256 * 1024;

/** The manager for which all this is done. */
export const kubectl = 'kubectl';

/** What client-side apply set and nobody has changed since. */
export function fieldsLastApplied(live: JsonObject, apiVersion: string, shape: Shape): FieldSet {
  const configuration = parsed(annotationsOf(live)?.[annotation]);
  const usable =
    configuration !== undefined &&
    fieldOf(configuration, 'apiVersion') === apiVersion &&
    !isTooDeep(configuration) &&
    isOwnable(configuration, shape);
  if (!usable) return noFields;
  const comparison = compare(configuration, live, shape);
  const changed = union(changedFields(comparison), comparison.removed);
  return difference(appliedFields(configuration, shape), changed);
}

/** The object with the annotation, if it has one, saying what has now been applied. */
export function withLastApplied(object: JsonObject, applied: JsonObject): JsonObject {
  const annotations = annotationsOf(object);
  const before = annotations?.[annotation];
  if (annotations === undefined || typeof before !== 'string' || before === '') return object;
  const after = `${JSON.stringify(applied, sortedWithoutAnnotation)}\n`;
  if (after === before) return object;
  const { [annotation]: _, ...others } = annotations;
  const bytes = Object.entries({ ...others, [annotation]: after }).reduce(
    (sum, [key, value]) => sum + Buffer.byteLength(key) + (typeof value === 'string' ? Buffer.byteLength(value) : 0),
    0,
  );
  const metadata = fieldOf(object, 'metadata');
  return {
    ...object,
    metadata: {
      ...(isJsonObject(metadata) ? metadata : {}),
      annotations: bytes > mostAnnotationBytes ? others : { ...annotations, [annotation]: after },
    },
  };
}

function sortedWithoutAnnotation(_: string, value: Json): Json {
  if (!isJsonObject(value)) return value;
  const names = Object.keys(value).sort();
  return Object.fromEntries(names.filter((name) => name !== annotation).map((name) => [name, value[name] ?? null]));
}

function annotationsOf(object: JsonObject): JsonObject | undefined {
  const metadata = fieldOf(object, 'metadata');
  const annotations = isJsonObject(metadata) ? fieldOf(metadata, 'annotations') : undefined;
  return isJsonObject(annotations) ? annotations : undefined;
}

function parsed(text: Json | undefined): JsonObject | undefined {
  if (typeof text !== 'string') return undefined;
  try {
    const value: Json = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
