import type { LiveReader } from '../api/admission.ts';
import { isJsonObject, type Json, type JsonObject } from '../api/json.ts';
import { apiVersionOf, type Kind } from '../api/kind.ts';
import type { ApiObject } from '../api/object.ts';
import { ApiError } from '../api/status.ts';
import type { Applied, Draft, StatusOf, Unnamed } from './draft.ts';
import { collectionPath, groupVersionPath, objectPath, query, type Scope } from './paths.ts';
import type { Ref } from './ref.ts';
import { refusal, statusOf } from './refusal.ts';
import { type ApiRequest, type Transport, Unreachable } from './transport.ts';

export interface ClientOptions {
  transport: Transport;
  /** In whose name fields are set; shown in managedFields. */
  fieldManager: string;
  /** Aborts whatever is under way, and refuses everything after. */
  signal?: AbortSignal;
  /** Receives the warnings that the server sends along with an answer. */
  warned?: (warning: string, request: string) => void;
}

export type WatchEvent<T> =
  | { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: T; resourceVersion: string }
  /** Nothing happened, up to this version. */
  | { type: 'BOOKMARK'; resourceVersion: string };

export interface WatchOptions {
  /** Events after this version; empty: what exists now comes first, as ADDED. */
  resourceVersion: string;
  timeoutSeconds: number;
  signal?: AbortSignal;
}

/** A merge patch (RFC 7386), a JSON patch (RFC 6902), or one that merges lists of built-in kinds by their keys. */
export type Patch = { merge: JsonObject } | { json: Json[] } | { strategic: JsonObject };

export interface DeleteOptions {
  /** Only if it is still this object, in this version. */
  uid?: string;
  resourceVersion?: string;
  propagation?: 'Background' | 'Foreground' | 'Orphan';
  gracePeriodSeconds?: number;
}

const PAGE = 500;

/** An API server as typed calls. What the server refuses is thrown as an ApiError. */
export class Client implements LiveReader {
  readonly #transport: Transport;
  readonly #fieldManager: string;
  readonly #signal: AbortSignal | undefined;
  readonly #warned: (warning: string, request: string) => void;

  constructor({ transport, fieldManager, signal, warned = () => {} }: ClientOptions) {
    this.#transport = transport;
    this.#fieldManager = fieldManager;
    this.#signal = signal;
    this.#warned = warned;
  }

  /** Undefined when there is no such object, or no such kind. */
  async get<T extends ApiObject>(kind: Kind<T>, name: string, namespace = ''): Promise<T | undefined> {
    try {
      return objectOf(kind, await this.#ask({ method: 'GET', path: objectPath(kind, { namespace, name }) }));
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  async list<T extends ApiObject>(kind: Kind<T>, namespace?: string): Promise<T[]> {
    return (await this.snapshot(kind, namespace === undefined ? {} : { namespace })).items;
  }

  /** All objects of a scope as they were at one moment, and the version from which a watch goes on. */
  async snapshot<T extends ApiObject>(kind: Kind<T>, scope: Scope, signal?: AbortSignal): Promise<Snapshot<T>> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        // Pages belong to the version of the first one. A server that forgets it again and again is asked for all at once.
        return await this.#pages(kind, scope, attempt <= 3 ? PAGE : undefined, signal);
      } catch (error) {
        if (!isExpired(error) || attempt > 3) throw error;
      }
    }
  }

  /** What happens from now on, until the server ends it or `signal` aborts. */
  async *watch<T extends ApiObject>(
    kind: Kind<T>,
    scope: Scope,
    { resourceVersion, timeoutSeconds, signal = this.#signal }: WatchOptions,
  ): AsyncGenerator<WatchEvent<T>, void, undefined> {
    const { labelSelector, fieldSelector } = scope;
    const parameters = { labelSelector, fieldSelector, resourceVersion, timeoutSeconds };
    const path =
      collectionPath(kind, scope.namespace) + query({ watch: true, allowWatchBookmarks: true, ...parameters });
    const request: ApiRequest = { method: 'GET', path, ...(signal === undefined ? {} : { signal }) };
    for await (const line of this.#transport.stream(request)) yield eventOf(kind, line);
  }

  async create<T extends ApiObject>(kind: Kind<T>, object: Draft<T> | Unnamed<T>): Promise<T> {
    const path = collectionPath(kind, object.metadata.namespace) + query({ fieldManager: this.#fieldManager });
    return objectOf(kind, await this.#ask({ method: 'POST', path, body: bodyOf(kind, object) }));
  }

  /** Replaces everything but the status; refused when the object was changed since it was read. */
  async update<T extends ApiObject>(kind: Kind<T>, object: T): Promise<T> {
    return this.#replace(kind, object, undefined);
  }

  /** Replaces the status alone; refused when the object was changed since it was read. */
  async updateStatus<T extends ApiObject>(kind: Kind<T>, object: T): Promise<T> {
    return this.#replace(kind, object, 'status');
  }

  /** With `metadata.resourceVersion` in the result, a patch is refused when the object was changed since. */
  async patch<T extends ApiObject>(
    kind: Kind<T>,
    ref: Ref,
    patch: Patch,
    subresource?: 'status' | 'approval',
  ): Promise<T> {
    const path = objectPath(kind, ref, subresource) + query({ fieldManager: this.#fieldManager });
    const [body, type] = bodyAndType(patch);
    return objectOf(kind, await this.#ask({ method: 'PATCH', path, body, contentType: `application/${type}+json` }));
  }

  /**
   * Server-side apply: sets exactly these fields in our name, creates the object where it is missing, and takes away
   * what we applied before and do not any more. Refused when somebody else holds a field, unless `force`.
   */
  async apply<T extends ApiObject>(kind: Kind<T>, object: Applied<T>, { force = false } = {}): Promise<T> {
    return this.#apply(kind, object, bodyOf(kind, object), undefined, force);
  }

  async applyStatus<T extends ApiObject>(
    kind: Kind<T>,
    ref: Ref,
    status: StatusOf<T>,
    { force = false } = {},
  ): Promise<T> {
    const metadata = ref.namespace === '' ? { name: ref.name } : { name: ref.name, namespace: ref.namespace };
    return this.#apply(kind, { metadata }, bodyOf(kind, { metadata, status }), 'status', force);
  }

  /** Asks for an action on an object, such as the binding of a pod to its node or a token of an account, and answers what came of it. */
  async act(kind: Kind, ref: Ref, action: string, body: JsonObject): Promise<JsonObject> {
    const path = `${objectPath(kind, ref, action)}${query({ fieldManager: this.#fieldManager })}`;
    return this.#ask({ method: 'POST', path, body });
  }

  /** False when there was nothing to delete. */
  async delete(kind: Kind, ref: Ref, options: DeleteOptions = {}): Promise<boolean> {
    const { uid, resourceVersion, propagation, gracePeriodSeconds } = options;
    const body: JsonObject = { apiVersion: 'v1', kind: 'DeleteOptions' };
    if (uid !== undefined || resourceVersion !== undefined) {
      body['preconditions'] = {
        ...(uid === undefined ? {} : { uid }),
        ...(resourceVersion === undefined ? {} : { resourceVersion }),
      };
    }
    if (propagation !== undefined) body['propagationPolicy'] = propagation;
    if (gracePeriodSeconds !== undefined) body['gracePeriodSeconds'] = gracePeriodSeconds;
    try {
      await this.#ask({ method: 'DELETE', path: objectPath(kind, ref), body });
      return true;
    } catch (error) {
      if (isMissing(error)) return false;
      throw error;
    }
  }

  /** Whether the server knows the kind. */
  async serves(kind: Kind, signal?: AbortSignal): Promise<boolean> {
    try {
      const path = groupVersionPath(kind);
      const { resources } = await this.#ask({ method: 'GET', path, ...(signal === undefined ? {} : { signal }) });
      if (!Array.isArray(resources)) return false;
      return resources.some((resource) => isJsonObject(resource) && resource['name'] === kind.plural);
    } catch (error) {
      if (isMissing(error)) return false;
      throw error;
    }
  }

  async #pages<T extends ApiObject>(
    kind: Kind<T>,
    { namespace, labelSelector, fieldSelector }: Scope,
    limit: number | undefined,
    signal: AbortSignal | undefined,
  ): Promise<Snapshot<T>> {
    const items: T[] = [];
    let next: string | undefined;
    for (;;) {
      const parameters = query({ labelSelector, fieldSelector, limit, continue: next });
      const path = collectionPath(kind, namespace) + parameters;
      const body = await this.#ask({ method: 'GET', path, ...(signal === undefined ? {} : { signal }) });
      const page = Array.isArray(body['items']) ? body['items'] : [];
      for (const item of page) if (isJsonObject(item)) items.push(objectOf(kind, item));
      const metadata = isJsonObject(body['metadata']) ? body['metadata'] : {};
      if (typeof metadata['continue'] !== 'string' || metadata['continue'] === '') {
        return { items, resourceVersion: String(metadata['resourceVersion'] ?? '') };
      }
      next = metadata['continue'];
    }
  }

  async #replace<T extends ApiObject>(kind: Kind<T>, object: T, subresource: 'status' | undefined): Promise<T> {
    const { name, namespace = '' } = object.metadata;
    const path = objectPath(kind, { namespace, name }, subresource) + query({ fieldManager: this.#fieldManager });
    return objectOf(kind, await this.#ask({ method: 'PUT', path, body: bodyOf(kind, object) }));
  }

  async #apply<T extends ApiObject>(
    kind: Kind<T>,
    { metadata: { name, namespace = '' } }: { metadata: { name: string; namespace?: string } },
    body: JsonObject,
    subresource: 'status' | undefined,
    force: boolean,
  ): Promise<T> {
    const path =
      objectPath(kind, { namespace, name }, subresource) + query({ fieldManager: this.#fieldManager, force });
    const contentType = 'application/apply-patch+yaml';
    return objectOf(kind, await this.#ask({ method: 'PATCH', path, body, contentType }));
  }

  async #ask({ signal = this.#signal, ...request }: ApiRequest): Promise<JsonObject> {
    signal?.throwIfAborted();
    const answer = await this.#transport.request({ ...request, ...(signal === undefined ? {} : { signal }) });
    for (const warning of answer.warnings) this.#warned(warning, `${request.method} ${request.path}`);
    if (answer.status >= 400) throw refusal(answer.status, answer.body);
    return answer.body;
  }
}

function bodyAndType(patch: Patch): [Json, string] {
  if ('merge' in patch) return [patch.merge, 'merge-patch'];
  return 'json' in patch ? [patch.json, 'json-patch'] : [patch.strategic, 'strategic-merge-patch'];
}

export interface Snapshot<T> {
  items: T[];
  resourceVersion: string;
}

export const isMissing = (error: unknown): error is ApiError => error instanceof ApiError && error.code === 404;
export const isConflict = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.code === 409 && error.reason !== 'AlreadyExists';
export const isExpired = (error: unknown): error is ApiError => error instanceof ApiError && error.code === 410;

function eventOf<T extends ApiObject>(kind: Kind<T>, line: JsonObject): WatchEvent<T> {
  const { type, object } = line;
  if (!isJsonObject(object)) throw new Unreachable(`a watch of ${kind.plural} sent an event without an object`);
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED': {
      const item = objectOf(kind, object);
      return { type, object: item, resourceVersion: item.metadata.resourceVersion };
    }
    case 'BOOKMARK': {
      const metadata = isJsonObject(object['metadata']) ? object['metadata'] : {};
      return { type, resourceVersion: String(metadata['resourceVersion'] ?? '') };
    }
    case 'ERROR':
      throw ApiError.from(statusOf(object));
    default:
      throw new Unreachable(`a watch of ${kind.plural} sent an event of unknown type ${JSON.stringify(type)}`);
  }
}

/** Lists of built-in kinds leave apiVersion and kind out of their items. */
function objectOf<T extends ApiObject>(kind: Kind<T>, body: JsonObject): T {
  const object: unknown = Object.hasOwn(body, 'kind')
    ? body
    : { apiVersion: apiVersionOf(kind), kind: kind.kind, ...body };
  if (isObjectOf(kind, object)) return object;
  throw new Unreachable(`the answer about ${kind.plural} is not an object with a name and a version`);
}

/** That the rest has the right types is the server's promise: it checked the schema. */
function isObjectOf<T extends ApiObject>(_kind: Kind<T>, value: unknown): value is T {
  if (!isJsonObject(value) || !isJsonObject(value['metadata'])) return false;
  const { name, resourceVersion } = value['metadata'];
  return typeof name === 'string' && typeof resourceVersion === 'string';
}

/** Our types describe JSON, but interfaces cannot say so. */
const bodyOf = (kind: Kind, object: object): JsonObject =>
  ({ apiVersion: apiVersionOf(kind), kind: kind.kind, ...object }) as JsonObject;
