import { equalJson, isJsonObject, type Json, type JsonObject } from '../../api/json.ts';
import type { JsonSchema } from '../../api/json-schema.ts';
import { badRequest } from '../../api/status.ts';
import { refuseTooDeep } from './depth.ts';
import { fieldOf, setField } from './own-fields.ts';
import { mergeKeyedList, mergeScalarList, removeScalars } from './strategic-lists.ts';
import { orderWithoutMerge, shownPath, unknownDirective } from './strategic-refusals.ts';

/**
 * The patch type of kubectl apply and edit for built-in kinds: like a merge patch, but lists merge where the schema says so
 * (x-kubernetes-patch-strategy, x-kubernetes-patch-merge-key), and `$`-directives say what content alone cannot. The document is
 * left as it was, and comes back itself when the patch changes nothing.
 */
export function strategicMergePatch(document: JsonObject, patch: Json, schema: JsonSchema): JsonObject {
  if (!isJsonObject(patch)) throw badRequest('a strategic merge patch is an object');
  refuseTooDeep(patch, 'the strategic merge patch');
  return mergeObject(document, patch, schema, '');
}

const orderOf = '$setElementOrder/';
const deletionsFrom = '$deleteFromPrimitiveList/';

function mergeObject(
  original: JsonObject | undefined,
  patch: JsonObject,
  schema: JsonSchema | undefined,
  at: string,
): JsonObject {
  const directive = fieldOf(patch, '$patch');
  if (directive === 'delete') return {};
  if (directive === 'replace') return mergeObject(undefined, without(patch, '$patch'), schema, at);
  if (directive !== undefined && directive !== 'merge') throw unknownDirective(directive, at);

  const merged = new Changing(original);
  const retained = retainedKeys(patch, at);
  if (retained !== undefined) merged.keepOnly(retained);
  const directives = { deletions: new Map<string, Json[]>(), orders: new Map<string, Json[]>() };
  const fields: string[] = [];
  for (const key of Object.keys(patch)) {
    if (key.startsWith('$deleteFromPrimitiveList')) {
      directives.deletions.set(targetOf(key, deletionsFrom, at), listOf(patch, key, at));
    } else if (key.startsWith('$setElementOrder')) {
      directives.orders.set(targetOf(key, orderOf, at), listOf(patch, key, at));
    } else if (key !== '$patch' && key !== '$retainKeys') fields.push(key);
  }
  for (const [field, removed] of directives.deletions) {
    const list = merged.get(field);
    if (Array.isArray(list)) merged.set(field, removeScalars(list, removed));
  }
  for (const field of fields) {
    const path = `${at}.${field}`;
    const value = mergeField(
      merged.get(field),
      fieldOf(patch, field) ?? null,
      schemaOf(schema, field),
      path,
      directives.orders.get(field),
    );
    if (value === undefined) merged.delete(field);
    else merged.set(field, value);
  }
  for (const [field, order] of directives.orders) {
    const list = merged.get(field);
    if (Object.hasOwn(patch, field) || !Array.isArray(list)) continue;
    merged.set(field, mergeField(list, [], schemaOf(schema, field), `${at}.${field}`, order) ?? list);
  }
  return merged.result();
}

/** What becomes of one field; undefined when it goes. */
function mergeField(
  original: Json | undefined,
  patch: Json,
  schema: JsonSchema | undefined,
  at: string,
  order?: Json[],
): Json | undefined {
  if (patch === null) return undefined;
  const strategies = (schema?.['x-kubernetes-patch-strategy'] ?? '').split(',');
  if (isJsonObject(patch)) {
    const base = isJsonObject(original) && !strategies.includes('replace') ? original : undefined;
    if (base === undefined && fieldOf(patch, '$patch') === 'delete') return undefined;
    return mergeObject(base, patch, schema, at);
  }
  if (Array.isArray(patch) && strategies.includes('merge')) {
    const base = Array.isArray(original) ? original : [];
    const key = schema?.['x-kubernetes-patch-merge-key'];
    if (key === undefined) return mergeScalarList({ original: base, patch, order, at });
    const merge = (item: JsonObject | undefined, change: JsonObject) => mergeObject(item, change, schema?.items, at);
    return mergeKeyedList({ original: base, patch, order, key, at, merge });
  }
  if (Array.isArray(patch) && order !== undefined) throw orderWithoutMerge(at);
  return original !== undefined && equalJson(original, patch) ? original : patch;
}

function schemaOf(schema: JsonSchema | undefined, field: string): JsonSchema | undefined {
  if (schema?.properties !== undefined && Object.hasOwn(schema.properties, field)) return schema.properties[field];
  return typeof schema?.additionalProperties === 'object' ? schema.additionalProperties : undefined;
}

/** `$retainKeys` lists every field the object may keep; a patch that sets another contradicts itself. */
function retainedKeys(patch: JsonObject, at: string): Set<string> | undefined {
  const list = fieldOf(patch, '$retainKeys');
  if (list === undefined) return undefined;
  if (!Array.isArray(list) || !list.every((key) => typeof key === 'string')) {
    throw badRequest(`${shownPath(at)} has a $retainKeys that is not a list of field names`);
  }
  const retained = new Set(list);
  for (const key of Object.keys(patch)) {
    if (key.startsWith('$') || patch[key] === null || retained.has(key)) continue;
    throw badRequest(`${shownPath(at)} sets ${JSON.stringify(key)}, which its $retainKeys does not list; add it there`);
  }
  return retained;
}

function targetOf(key: string, prefix: string, at: string): string {
  if (key.startsWith(prefix)) return key.slice(prefix.length);
  throw badRequest(`${shownPath(at)} has the directive ${JSON.stringify(key)}, which must be "${prefix}<field>"`);
}

function listOf(patch: JsonObject, key: string, at: string): Json[] {
  const list = fieldOf(patch, key);
  if (Array.isArray(list)) return list;
  throw badRequest(`${shownPath(at)} has a ${JSON.stringify(key)} that is not a list`);
}

function without(object: JsonObject, key: string): JsonObject {
  const { [key]: _, ...rest } = object;
  return rest;
}

/** An object that is copied on the first change. */
class Changing {
  readonly #original: JsonObject | undefined;
  #copy: JsonObject | undefined;

  constructor(original: JsonObject | undefined) {
    this.#original = original;
  }

  get(field: string): Json | undefined {
    const object = this.#copy ?? this.#original;
    return object === undefined ? undefined : fieldOf(object, field);
  }

  set(field: string, value: Json): void {
    if (this.get(field) !== value) setField(this.#writable(), field, value);
  }

  delete(field: string): void {
    if (this.get(field) !== undefined) delete this.#writable()[field];
  }

  keepOnly(fields: ReadonlySet<string>): void {
    for (const field of Object.keys(this.#original ?? {})) if (!fields.has(field)) this.delete(field);
  }

  result(): JsonObject {
    return this.#copy ?? this.#original ?? {};
  }

  #writable(): JsonObject {
    this.#copy ??= { ...this.#original };
    return this.#copy;
  }
}
