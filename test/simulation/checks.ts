import type { Admission, AdmissionRequest, LiveReader } from '../../src/api/admission.ts';
import type { JsonObject } from '../../src/api/json.ts';
import type { Kind } from '../../src/api/kind.ts';
import type { ApiObject } from '../../src/api/object.ts';
import { methodNotAllowed } from '../../src/api/status.ts';
import { type System, sleep } from '../../src/runtime/clock.ts';
import type { ApiRequest } from '../../src/runtime/transport.ts';
import { asSent } from './as-sent.ts';
import { FieldOwners } from './field-owners.ts';
import type { Store } from './store.ts';
import { metadataOf, resourceOf, type Shelf, type Target, Writes } from './writes.ts';

/** From asking those who check to storing the object, in milliseconds, at most: others may come in between. */
const LONGEST = 5;

/** The place in the simulated server where the product checks what is written: after a request has come in, before it is stored. */
export class Checks {
  readonly #admission: readonly Admission[];
  readonly #store: Store;
  readonly #system: System;
  readonly #live: LiveReader;

  constructor({ admission, store, system }: { admission: readonly Admission[]; store: Store; system: System }) {
    this.#admission = admission;
    this.#store = store;
    this.#system = system;
    this.#live = liveReader(store);
  }

  get areNone(): boolean {
    return this.#admission.length === 0;
  }

  /** The request as it is to be carried out, or the ApiError with which it is refused. */
  async check(request: ApiRequest, target: Target, by: string): Promise<ApiRequest> {
    if (target.subresource !== undefined || this.#of(target.kind).length === 0) return request;
    for (;;) {
      const before = this.#stored(target);
      const checked = await this.#checked(request, target, by);
      await sleep(this.#system, this.#system.random() * LONGEST);
      // What was changed meanwhile is looked at anew, as it is now.
      if (this.#stored(target) === before) return checked;
    }
  }

  async #checked(request: ApiRequest, target: Target, by: string): Promise<ApiRequest> {
    const before = this.#stored(target);
    if (request.method === 'DELETE') {
      if (before !== undefined) await this.#ask('DELETE', target, by, undefined, before);
      return request;
    }
    const object = this.#preview(request, target);
    // It goes with the last of its finalizers, and nobody has a say.
    if (object === undefined) return request;
    if (request.method === 'POST') {
      await this.#ask('CREATE', target, by, object, undefined);
      const { uid: _, resourceVersion: __, ...metadata } = metadataOf(object);
      return { ...request, body: { ...object, metadata } };
    }
    await this.#ask('UPDATE', target, by, object, before);
    const { resourceVersion } = metadataOf(before ?? {});
    const body = {
      ...object,
      metadata: { ...metadataOf(object), ...(resourceVersion === undefined ? {} : { resourceVersion }) },
    };
    const { contentType: _, ...rest } = request;
    return { ...rest, method: 'PUT', body };
  }

  async #ask(
    operation: AdmissionRequest['operation'],
    { kind, namespace, name }: Target,
    by: string,
    object: JsonObject | undefined,
    before: JsonObject | undefined,
  ): Promise<void> {
    const asked: AdmissionRequest = {
      operation,
      namespace,
      name: name === '' ? String(metadataOf(object ?? {})['name']) : name,
      dryRun: false,
      user: { username: by, groups: [] },
      ...(object === undefined ? {} : { object: object as unknown as ApiObject }),
      ...(before === undefined ? {} : { oldObject: before as unknown as ApiObject }),
    };
    const concerned = this.#of(kind).filter(({ operations }) => operations.includes(operation));
    for (const { mutate } of concerned) await mutate?.(asked, this.#live);
    for (const { validate } of concerned) await validate?.(asked, this.#live);
  }

  /** What would be stored. */
  #preview({ method, body, contentType = '' }: ApiRequest, target: Target): JsonObject | undefined {
    const shelf = new Preview(this.#store);
    const writes = new Writes(shelf, this.#system);
    if (method === 'POST') writes.create(target, asSent(body as JsonObject));
    else if (method === 'PUT') writes.update(target, asSent(body as JsonObject));
    else if (contentType.startsWith('application/apply-patch')) throw methodNotAllowed(target.kind, 'apply');
    else writes.patch(target, body, contentType);
    return shelf.result;
  }

  #of({ group, plural }: Kind): readonly Admission[] {
    return this.#admission.filter(({ kind }) => kind.group === group && kind.plural === plural);
  }

  #stored({ kind, namespace, name }: Target): JsonObject | undefined {
    return this.#store.get(resourceOf(kind), `${namespace}/${name}`);
  }
}

/** Takes what would be stored, and stores nothing. */
class Preview implements Shelf {
  readonly #store: Store;
  result: JsonObject | undefined;

  constructor(store: Store) {
    this.#store = store;
  }

  get(resource: string, key: string): JsonObject | undefined {
    return this.#store.get(resource, key);
  }

  put(resource: string, key: string, object: JsonObject | undefined): JsonObject {
    this.result = object === undefined ? undefined : asSent(object);
    return object ?? this.get(resource, key) ?? {};
  }

  ownersOf(): FieldOwners {
    return new FieldOwners();
  }
}

const liveReader = (store: Store): LiveReader => ({
  get: async <T extends ApiObject>(kind: Kind<T>, name: string, namespace = '') =>
    store.get(resourceOf(kind), `${namespace}/${name}`) as unknown as T | undefined,
  list: async <T extends ApiObject>(kind: Kind<T>, namespace = '') => {
    const all = store.all(resourceOf(kind)) as unknown as T[];
    return all.filter(({ metadata }) => namespace === '' || metadata.namespace === namespace);
  },
});
