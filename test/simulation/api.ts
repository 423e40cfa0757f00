import type { Admission } from '../../src/api/admission.ts';
import { isJsonObject, type JsonObject } from '../../src/api/json.ts';
import { apiVersionOf, type Kind, type ObjectOf } from '../../src/api/kind.ts';
import { ApiError, badRequest, methodNotAllowed, notFound } from '../../src/api/status.ts';
import { CustomResourceDefinition } from '../../src/runtime/builtin.ts';
import type { System } from '../../src/runtime/clock.ts';
import { groupVersionPath } from '../../src/runtime/paths.ts';
import { type ApiRequest, type ApiResponse, type Transport, Unreachable } from '../../src/runtime/transport.ts';
import { asSent } from './as-sent.ts';
import { Checks } from './checks.ts';
import { type Faults, noFaults } from './faults.ts';
import { collectGarbage } from './garbage.ts';
import { at, matcherOf } from './selectors.ts';
import { Store } from './store.ts';
import { SimulatedTransport } from './transport.ts';
import { type Watcher, Watchers } from './watchers.ts';
import { metadataOf, resourceOf, type Target, Writes } from './writes.ts';

export interface SimulatedApiOptions {
  system: System;
  /** What the server serves from the start. */
  kinds: readonly Kind[];
  /** Who checks what is written, as on the server of the product; nobody unless it says so. */
  admission?: readonly Admission[];
}

/** From the creation of a definition to the first request that is served. */
const ESTABLISH_MS = 40;

/**
 * An API server that lives in simulated time: objects, versions, watches, finalizers, ownership of fields and garbage
 * collection as on a real one, and every fault that a network, a restart or a slow server can bring about. The same
 * seed gives the same run. It has no schemas: what is written is what is stored.
 */
export class SimulatedApi {
  readonly store = new Store();
  readonly #system: System;
  readonly #kinds = new Map<string, Kind>();
  readonly #writes: Writes;
  readonly #watchers: Watchers;
  readonly #checks: Checks;
  #up = true;
  #outages = 0;
  /** Counts requests by verb and resource, for tests of what is asked how often. */
  readonly requests = new Map<string, number>();

  constructor({ system, kinds, admission = [] }: SimulatedApiOptions) {
    this.#system = system;
    this.#checks = new Checks({ admission, store: this.store, system });
    this.#writes = new Writes(this.store, system);
    this.#watchers = new Watchers(this.store, system);
    for (const kind of [CustomResourceDefinition, ...kinds]) this.serve(kind);
    this.store.onChange(({ resource, after, deleted }) => {
      if (resource === resourceOf(CustomResourceDefinition)) this.#defined(after, deleted);
    });
  }

  /** What a client talks to. Each client has a network of its own, with the faults that are asked for. */
  transport(faults: Partial<Faults> = {}, name = 'somebody'): SimulatedTransport & Transport {
    return new SimulatedTransport({ api: this, system: this.#system, faults: { ...noFaults, ...faults }, name });
  }

  get up(): boolean {
    return this.#up;
  }

  /** How often it has stopped. */
  get outages(): number {
    return this.#outages;
  }

  /** Everything under way breaks, and nobody reaches the server until `start`. */
  stop(): void {
    this.#up = false;
    this.#outages += 1;
    this.#watchers.breakAll(new Unreachable('the server has stopped'));
  }

  /** With `forget` it does not know any more what happened before, so that everybody has to list anew. */
  start({ forget = false } = {}): void {
    this.#up = true;
    if (forget) this.store.compact();
  }

  serve(kind: Kind): void {
    this.#kinds.set(kindKey(kind), kind);
  }

  /** As when its definition is deleted: the objects go first, then the kind. */
  unserve(kind: Kind): void {
    for (const [key] of this.store.at(resourceOf(kind), this.store.version)) {
      this.store.put(resourceOf(kind), key, undefined);
    }
    this.#kinds.delete(kindKey(kind));
    this.#watchers.endAll(resourceOf(kind));
  }

  collectGarbage(): void {
    this.store.writer = 'garbage collector';
    collectGarbage(this.store, this.#writes, [...this.#kinds.values()]);
  }

  /** What is stored, seen from above. */
  objects<K extends Kind>(kind: K): ObjectOf<K>[] {
    return this.store.all(resourceOf(kind)).map((object) => structuredClone(object) as unknown as ObjectOf<K>);
  }

  /** As `objects`, without a copy: nobody may change them. */
  stored<K extends Kind>(kind: K): readonly ObjectOf<K>[] {
    return this.store.all(resourceOf(kind)) as unknown as ObjectOf<K>[];
  }

  /** `key`: the namespace and the name. */
  find<K extends Kind>(kind: K, key: string): ObjectOf<K> | undefined {
    return this.store.get(resourceOf(kind), key) as unknown as ObjectOf<K> | undefined;
  }

  /** Open watches: a client that has stopped leaves none behind. */
  get watches(): number {
    return this.#watchers.size;
  }

  /** Carries out a request when those have had their say who check it, which takes a moment. `by`: whose it is. */
  answer(request: ApiRequest, by: string): ApiResponse | Promise<ApiResponse> {
    if (request.method === 'GET' || this.#checks.areNone) return this.handle(request, by);
    return this.#answerChecked(request, by);
  }

  async #answerChecked(request: ApiRequest, by: string): Promise<ApiResponse> {
    try {
      return this.handle(await this.#checks.check(request, this.#route(request).target, by), by);
    } catch (error) {
      return refusing(error);
    }
  }

  /** Carries out a request at this moment. `by`: whose it is. */
  handle(request: ApiRequest, by = 'somebody'): ApiResponse {
    this.store.writer = by;
    try {
      return { status: request.method === 'POST' ? 201 : 200, body: this.#answer(request), warnings: [] };
    } catch (error) {
      return refusing(error);
    }
  }

  /** Opens a watch at this moment; throws the ApiError with which it is refused. */
  watch(request: ApiRequest, faults: () => Faults): Watcher {
    const { target, parameters } = this.#route(request);
    this.#count('watch', target.kind);
    return this.#watchers.open({
      kind: target.kind,
      namespace: target.namespace,
      matches: matcherOf(parameters),
      version: parameters.get('resourceVersion') ?? '',
      bookmarks: parameters.get('allowWatchBookmarks') === 'true',
      timeoutSeconds: Number(parameters.get('timeoutSeconds') ?? 1800),
      faults,
    });
  }

  #answer(request: ApiRequest): JsonObject {
    const discovered = this.#discover(request.path);
    if (discovered !== undefined) return discovered;
    const { target, parameters } = this.#route(request);
    const body = request.body ?? {};
    this.#count(target.name === '' && request.method === 'GET' ? 'list' : request.method.toLowerCase(), target.kind);
    if (request.method === 'PATCH' && !isApply(request.contentType ?? '')) {
      return this.#writes.patch(target, body, request.contentType ?? '');
    }
    if (!isJsonObject(body)) throw badRequest('the body must be an object');
    switch (request.method) {
      case 'GET':
        return target.name === '' ? this.#list(target, parameters) : this.#get(target);
      case 'POST':
        return target.subresource === 'binding' ? this.#writes.bind(target, body) : this.#writes.create(target, body);
      case 'PUT':
        return this.#writes.update(target, body);
      case 'PATCH':
        return this.#writes.apply(target, body, parameters.get('force') === 'true');
      case 'DELETE':
        this.#writes.delete(target, body);
        return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 200 };
      default:
        throw methodNotAllowed(target.kind, request.method);
    }
  }

  #route({ path, contentType = '' }: ApiRequest): { target: Target; parameters: URLSearchParams } {
    const [pathname = '', query = ''] = path.split('?', 2);
    const parameters = new URLSearchParams(query);
    const parts = pathname.split('/').map(decodeURIComponent);
    // /api/v1/… and /apis/GROUP/VERSION/…
    const [group = '', version = '', ...rest] = parts[1] === 'api' ? ['', ...parts.slice(2)] : parts.slice(2);
    const namespaced = rest[0] === 'namespaces' && rest.length >= 3;
    const [namespace = '', plural = '', object = '', subresource] = namespaced ? rest.slice(1) : ['', ...rest];
    const kind = this.#kinds.get(kindKey({ group, version, plural }));
    if (kind === undefined || (namespaced && !kind.namespaced)) {
      throw new ApiError(404, undefined, '404 page not found');
    }
    const name = parameters.get('fieldManager') ?? 'unknown';
    // Whoever applies is another manager than whoever updates, be it under the same name.
    const manager = isApply(contentType) ? name : `${name} (update)`;
    return { target: { kind, namespace, name: object, subresource, manager }, parameters };
  }

  #discover(path: string): JsonObject | undefined {
    const served = [...this.#kinds.values()].filter((kind) => groupVersionPath(kind) === path);
    const [first] = served;
    if (first === undefined) return undefined;
    const resources = served.map(({ plural: name, namespaced, kind }) => ({ name, namespaced, kind }));
    return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: apiVersionOf(first), resources };
  }

  #get({ kind, namespace, name }: Target): JsonObject {
    const object = this.store.get(resourceOf(kind), `${namespace}/${name}`);
    if (object === undefined) throw notFound(kind, name);
    return object;
  }

  #list({ kind, namespace }: Target, parameters: URLSearchParams): JsonObject {
    const matches = matcherOf(parameters);
    const limit = Number(parameters.get('limit') ?? 0);
    const token = parameters.get('continue') ?? '';
    const from = token === '' ? { version: this.store.version, start: '' } : JSON.parse(token);
    const { version, start }: { version: number; start: string } = from;
    const rest = this.store
      .at(resourceOf(kind), version)
      .filter(([key, object]) => key > start && inNamespace(object, namespace) && matches(object));
    const page = limit > 0 ? rest.slice(0, limit) : rest;
    const last = page.at(-1)?.[0];
    const more = page.length < rest.length && last !== undefined;
    const metadata: JsonObject = { resourceVersion: String(version) };
    if (more) metadata['continue'] = JSON.stringify({ version, start: last });
    return {
      kind: `${kind.kind}List`,
      apiVersion: apiVersionOf(kind),
      metadata,
      items: page.map(([, object]) => this.#shown(object)),
    };
  }

  #shown(object: JsonObject): JsonObject {
    const metadata = metadataOf(object);
    const managedFields = this.store.ownersOf(String(metadata['uid'])).entries;
    return { ...object, metadata: { ...metadata, managedFields } };
  }

  #defined(definition: JsonObject, deleted: boolean): void {
    const spec = at(definition, ['spec']);
    const versions = at(spec, ['versions']);
    if (!isJsonObject(spec) || !Array.isArray(versions)) return;
    const names = at(spec, ['names']);
    const kinds = versions.filter(isJsonObject).map((version) => ({
      group: String(spec['group']),
      version: String(version['name']),
      kind: String(at(names, ['kind'])),
      plural: String(at(names, ['plural'])),
      namespaced: spec['scope'] === 'Namespaced',
    }));
    if (deleted) {
      for (const kind of kinds) this.unserve(kind);
    } else if (at(definition, ['status', 'conditions']) === undefined) {
      this.#system.timer(ESTABLISH_MS, () => this.#establish(definition, kinds));
    }
  }

  #establish(definition: JsonObject, kinds: readonly Kind[]): void {
    const resource = resourceOf(CustomResourceDefinition);
    const key = `/${metadataOf(definition)['name']}`;
    const current = this.store.get(resource, key);
    if (current === undefined) return;
    for (const kind of kinds) this.serve(kind);
    const conditions = ['NamesAccepted', 'Established'].map((type) => ({ type, status: 'True' }));
    this.store.put(resource, key, { ...current, status: { conditions } });
  }

  #count(verb: string, kind: Kind): void {
    const what = `${verb} ${kind.plural}`;
    this.requests.set(what, (this.requests.get(what) ?? 0) + 1);
  }
}

const kindKey = ({ group, version, plural }: Pick<Kind, 'group' | 'version' | 'plural'>): string =>
  `${group}/${version}/${plural}`;

function refusing(error: unknown): ApiResponse {
  if (!(error instanceof ApiError)) throw error;
  return { status: error.code, body: asSent({ ...error.status }), warnings: [] };
}

const isApply = (contentType: string): boolean => contentType.startsWith('application/apply-patch');

const inNamespace = (object: JsonObject, namespace: string): boolean =>
  namespace === '' || metadataOf(object)['namespace'] === namespace;
