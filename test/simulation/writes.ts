import { equalJson, isJsonObject, type Json, type JsonObject } from '../../src/api/json.ts';
import { apiVersionOf, type Kind } from '../../src/api/kind.ts';
import { ApiError, alreadyExists, badRequest, conflict, invalid, modified, notFound } from '../../src/api/status.ts';
import type { System } from '../../src/runtime/clock.ts';
import { timestamp } from '../../src/runtime/timestamp.ts';
import { at } from './selectors.ts';
import type { Store } from './store.ts';

/** Where writes end up. */
export type Shelf = Pick<Store, 'get' | 'put' | 'ownersOf'>;

/** Which object a write is about, and in whose name it is done. */
export interface Target {
  kind: Kind;
  namespace: string;
  name: string;
  subresource: string | undefined;
  manager: string;
}

export const resourceOf = ({ group, plural }: Pick<Kind, 'group' | 'plural'>): string =>
  group === '' ? plural : `${plural}.${group}`;

/** Server-set metadata: whatever a request says about them, the stored ones stay. */
const FIXED = ['name', 'namespace', 'uid', 'creationTimestamp', 'deletionTimestamp', 'generation', 'managedFields'];

/** The writing side of the simulated server: the rules that every API server follows, without schemas and defaults. */
export class Writes {
  readonly #store: Shelf;
  readonly #system: System;

  constructor(store: Shelf, system: System) {
    this.#store = store;
    this.#system = system;
  }

  create({ kind, namespace, manager }: Target, body: JsonObject): JsonObject {
    const asked = metadataOf(body);
    if (asked['resourceVersion'] !== undefined && asked['resourceVersion'] !== '') {
      throw new ApiError(500, undefined, 'resourceVersion should not be set on objects to be created');
    }
    const prefix = asked['generateName'];
    const name =
      typeof asked['name'] === 'string' && asked['name'] !== ''
        ? asked['name']
        : typeof prefix === 'string'
          ? prefix + this.#system.uuid().slice(0, 5)
          : undefined;
    if (name === undefined) {
      const detail = 'name or generateName is required';
      throw invalid(kind, '', [{ type: 'Required', field: 'metadata.name', detail }]);
    }
    const key = `${namespace}/${name}`;
    if (this.#store.get(resourceOf(kind), key) !== undefined) throw alreadyExists(kind, name);
    const uid = this.#system.uuid();
    const { deletionTimestamp: _, ...rest } = asked;
    const { status: __, ...content } = body;
    const metadata = {
      ...rest,
      name,
      ...(namespace === '' ? {} : { namespace }),
      uid,
      generation: 1,
      creationTimestamp: timestamp(this.#system.now()),
    };
    const object: JsonObject = { ...content, apiVersion: apiVersionOf(kind), kind: kind.kind, metadata };
    this.#store.ownersOf(uid).updated(manager, {}, object);
    return this.#store.put(resourceOf(kind), key, object);
  }

  update(target: Target, body: JsonObject): JsonObject {
    const { kind, name } = target;
    const before = this.#existing(target);
    const { uid, resourceVersion: version } = metadataOf(body);
    const stored = metadataOf(before)['uid'];
    if (uid !== undefined && uid !== stored) {
      throw conflict(kind, name, `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${stored}`);
    }
    if (typeof version !== 'string' || version === '') {
      const detail = 'must be specified for an update';
      throw invalid(kind, name, [{ type: 'Invalid', field: 'metadata.resourceVersion', value: 0, detail }]);
    }
    return this.#replace(target, before, body);
  }

  patch(target: Target, body: Json | undefined, type: string): JsonObject {
    const before = this.#existing(target);
    if (type.startsWith('application/merge-patch+json')) {
      if (!isJsonObject(body)) throw badRequest('a merge patch is an object');
      const result = merged(withoutVersion(before), body);
      return this.#replace(target, before, isJsonObject(result) ? result : {});
    }
    if (type.startsWith('application/json-patch+json') && Array.isArray(body)) {
      return this.#replace(target, before, jsonPatched(withoutVersion(before), body));
    }
    throw new ApiError(415, 'UnsupportedMediaType', `patch type ${type} is not supported`);
  }

  apply(target: Target, body: JsonObject, force: boolean): JsonObject {
    const { kind, namespace, name, subresource } = target;
    const manager = subresource === undefined ? target.manager : `${target.manager} (${subresource})`;
    const resource = resourceOf(kind);
    const before = this.#store.get(resource, `${namespace}/${name}`);
    if (before === undefined) {
      if (subresource !== undefined) throw notFound(kind, name);
      const { resourceVersion: _, ...metadata } = metadataOf(body);
      return this.create({ ...target, manager }, { ...body, metadata: { ...metadata, name } });
    }
    const wanted: JsonObject =
      subresource === 'status' ? { status: body['status'] ?? {} } : Object.fromEntries(withoutStatus(body));
    const owners = this.#store.ownersOf(String(metadataOf(before)['uid']));
    const outcome = owners.apply(manager, before, wanted, force);
    if ('conflicts' in outcome) {
      const causes = outcome.conflicts.map(({ field, manager }) => ({
        reason: 'FieldManagerConflict',
        message: `conflict with "${manager}"`,
        field,
      }));
      const error = conflict(kind, name, `Apply failed with ${causes.length} conflicts`);
      throw new ApiError(409, 'Conflict', error.message, { ...error.status.details, causes });
    }
    return this.#finish(target, before, outcome.result);
  }

  delete(target: Target, options: JsonObject): JsonObject {
    const { kind, name } = target;
    const before = this.#existing(target);
    const metadata = metadataOf(before);
    const preconditions = isJsonObject(options['preconditions']) ? options['preconditions'] : {};
    for (const field of ['uid', 'resourceVersion']) {
      const wanted = preconditions[field];
      if (wanted !== undefined && wanted !== metadata[field]) {
        throw conflict(kind, name, `Precondition failed: ${field} is ${metadata[field]}, not ${wanted}`);
      }
    }
    const finalizers = new Set(finalizersOf(before));
    const policy = options['propagationPolicy'];
    if (policy === 'Foreground') finalizers.add('foregroundDeletion');
    if (policy === 'Orphan') finalizers.add('orphan');
    const key = keyIn(target);
    const grace = graceOf(kind, before, options);
    if (finalizers.size === 0 && grace === 0) return this.#store.put(resourceOf(kind), key, undefined);
    // Who asks once more can only shorten the time.
    const isAsked = metadata['deletionTimestamp'] !== undefined;
    if (isAsked && grace >= Number(metadata['deletionGracePeriodSeconds'] ?? 0)) return before;
    return this.#store.put(resourceOf(kind), key, {
      ...before,
      metadata: {
        ...metadata,
        ...(finalizers.size === 0 ? {} : { finalizers: [...finalizers] }),
        deletionTimestamp: timestamp(this.#system.now() + grace * 1000),
        deletionGracePeriodSeconds: grace,
        generation: Number(metadata['generation'] ?? 0) + 1,
      },
    });
  }

  /** Gives a pod its node, once. */
  bind(target: Target, body: JsonObject): JsonObject {
    const { kind, name } = target;
    const before = this.#existing(target);
    const spec = isJsonObject(before['spec']) ? before['spec'] : {};
    const node = at(body, ['target', 'name']);
    const uid = at(body, ['metadata', 'uid']);
    if (uid !== undefined && uid !== metadataOf(before)['uid']) throw conflict(kind, name, 'the pod is another one');
    if (typeof node !== 'string') throw badRequest('target.name is required');
    if (spec['nodeName'] !== undefined && spec['nodeName'] !== '') {
      throw conflict(kind, name, `pod ${name} is already assigned to node "${spec['nodeName']}"`);
    }
    if (metadataOf(before)['deletionTimestamp'] !== undefined) {
      throw conflict(kind, name, `pod ${name} is being deleted, cannot be assigned to a host`);
    }
    const status = isJsonObject(before['status']) ? before['status'] : {};
    const others = Array.isArray(status['conditions']) ? status['conditions'].filter(isJsonObject) : [];
    const lastTransitionTime = timestamp(this.#system.now());
    const conditions = [
      ...others.filter(({ type }) => type !== 'PodScheduled'),
      { type: 'PodScheduled', status: 'True', lastTransitionTime },
    ];
    return this.#store.put(resourceOf(kind), keyIn(target), {
      ...before,
      spec: { ...spec, nodeName: node },
      status: { ...status, conditions },
    });
  }

  #existing(target: Target): JsonObject {
    const object = this.#store.get(resourceOf(target.kind), keyIn(target));
    if (object === undefined) throw notFound(target.kind, target.name);
    return object;
  }

  #replace(target: Target, before: JsonObject, body: JsonObject): JsonObject {
    const { kind, name } = target;
    const asked = metadataOf(body);
    const stored = metadataOf(before);
    const version = asked['resourceVersion'];
    if (version !== undefined && version !== '' && version !== stored['resourceVersion']) throw modified(kind, name);
    if (asked['uid'] !== undefined && asked['uid'] !== stored['uid']) {
      const detail = 'field is immutable';
      throw invalid(kind, name, [{ type: 'Invalid', field: 'metadata.uid', value: asked['uid'], detail }]);
    }
    if (asked['name'] !== undefined && asked['name'] !== name)
      throw badRequest('the name of the object is another one');
    const after = this.#finish(target, before, body);
    this.#store.ownersOf(String(stored['uid'])).updated(target.manager, before, after);
    return after;
  }

  /** Keeps what this kind of write may not change, and stores the rest. */
  #finish(target: Target, before: JsonObject, result: JsonObject): JsonObject {
    const { kind, name, subresource } = target;
    if (subresource === 'status') {
      const { status: _, ...rest } = withAnnotationsOf(kind, before, result);
      const status = result['status'];
      return this.#store.put(resourceOf(kind), keyIn(target), status === undefined ? rest : { ...rest, status });
    }
    const stored = metadataOf(before);
    const { status: _, ...content } = result;
    const { resourceVersion: __, ...metadata } = metadataOf(result);
    for (const field of FIXED) {
      delete metadata[field];
      if (stored[field] !== undefined) metadata[field] = stored[field];
    }
    const dying = stored['deletionTimestamp'] !== undefined;
    const finalizers = finalizersOf({ metadata });
    const added = finalizers.find((finalizer) => !finalizersOf(before).includes(finalizer));
    if (dying && added !== undefined) {
      const detail = `no new finalizers can be added if the object is being deleted, found new finalizers ${added}`;
      throw invalid(kind, name, [{ type: 'Forbidden', field: 'metadata.finalizers', detail }]);
    }
    const isEnding = Number(stored['deletionGracePeriodSeconds'] ?? 0) > 0;
    if (dying && !isEnding && finalizers.length === 0)
      return this.#store.put(resourceOf(kind), keyIn(target), undefined);
    const after: JsonObject = {
      ...content,
      apiVersion: before['apiVersion'] ?? null,
      kind: before['kind'] ?? null,
      metadata,
      ...(before['status'] === undefined ? {} : { status: before['status'] }),
    };
    if (!equalJson(specOf(before), specOf(after))) {
      after['metadata'] = { ...metadata, generation: Number(stored['generation'] ?? 0) + 1 };
    }
    return this.#store.put(resourceOf(kind), keyIn(target), after);
  }
}

export const metadataOf = (object: JsonObject): JsonObject =>
  isJsonObject(object['metadata']) ? object['metadata'] : {};

export const finalizersOf = (object: JsonObject): string[] => {
  const finalizers = metadataOf(object)['finalizers'];
  return Array.isArray(finalizers) ? finalizers.map(String) : [];
};

/** The host lets a pod end in peace, and deletes it again when it has. */
function graceOf(kind: Kind, object: JsonObject, options: JsonObject): number {
  const spec = at(object, ['spec']);
  if (resourceOf(kind) !== 'pods' || !isJsonObject(spec) || typeof spec['nodeName'] !== 'string') return 0;
  const phase = at(object, ['status', 'phase']);
  if (phase === 'Succeeded' || phase === 'Failed') return 0;
  return Number(options['gracePeriodSeconds'] ?? spec['terminationGracePeriodSeconds'] ?? 30);
}

/** Workloads have annotations that go along with their status. */
function withAnnotationsOf({ group }: Kind, before: JsonObject, result: JsonObject): JsonObject {
  const annotations = metadataOf(result)['annotations'];
  if (group !== 'apps' || annotations === undefined) return before;
  return { ...before, metadata: { ...metadataOf(before), annotations } };
}

const keyIn = ({ namespace, name }: Target): string => `${namespace}/${name}`;

/** Everything that counts for `metadata.generation`. */
const specOf = ({ metadata: _, status: __, ...rest }: JsonObject): JsonObject => rest;

const withoutStatus = (body: JsonObject): [string, Json][] => Object.entries(body).filter(([key]) => key !== 'status');

/** A patch that names a version means it as a condition; the stored one must not pass for that. */
function withoutVersion(object: JsonObject): JsonObject {
  const { resourceVersion: _, ...metadata } = metadataOf(object);
  return { ...object, metadata };
}

function merged(target: Json | undefined, patch: Json): Json {
  if (!isJsonObject(patch)) return patch;
  const result: JsonObject = isJsonObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = merged(result[key], value);
  }
  return result;
}

/** RFC 6902 without move and copy, which no controller sends. */
function jsonPatched(object: JsonObject, operations: readonly Json[]): JsonObject {
  const result = structuredClone(object);
  for (const operation of operations) {
    if (!isJsonObject(operation)) throw badRequest('a JSON patch is a list of operations');
    const path = String(operation['path'])
      .split('/')
      .slice(1)
      .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
    const last = path.pop() ?? '';
    const parent = place(result, path);
    const value = operation['value'] ?? null;
    const unfit = new ApiError(422, 'Invalid', 'the server rejected our request due to an error in our request');
    if (Array.isArray(parent)) {
      const i = last === '-' ? parent.length : Number(last);
      if (operation['op'] === 'add') parent.splice(i, 0, value);
      else if (i >= parent.length) throw unfit;
      else if (operation['op'] === 'remove') parent.splice(i, 1);
      else if (operation['op'] === 'replace') parent[i] = value;
      else if (!equalJson(parent[i], value)) throw unfit;
    } else if (isJsonObject(parent)) {
      if (operation['op'] === 'add') parent[last] = value;
      else if (!Object.hasOwn(parent, last)) throw unfit;
      else if (operation['op'] === 'remove') delete parent[last];
      else if (operation['op'] === 'replace') parent[last] = value;
      else if (!equalJson(parent[last], value)) throw unfit;
    } else {
      throw unfit;
    }
  }
  return result;
}

function place(root: JsonObject, path: readonly string[]): Json | undefined {
  let found: Json | undefined = root;
  for (const part of path) found = Array.isArray(found) ? found[Number(part)] : at(found, [part]);
  return found;
}
