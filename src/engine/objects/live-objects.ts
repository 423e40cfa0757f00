import type { LiveReader } from '../../api/admission.ts';
import type { Kind } from '../../api/kind.ts';
import type { ApiObject } from '../../api/object.ts';
import type { Catalog } from '../resources/catalog.ts';
import type { Endpoint } from '../resources/resource.ts';
import type { Store } from '../store/store.ts';
import { sharedObjectOf } from './encoding.ts';

/** Reads straight from the store: sees every acknowledged write. What it shows is shared, and must not be changed. */
export class LiveObjects implements LiveReader {
  readonly #store: Store;
  readonly #catalog: Catalog;

  constructor(store: Store, catalog: Catalog) {
    this.#store = store;
    this.#catalog = catalog;
  }

  get<T extends ApiObject>(kind: Kind<T>, name: string, namespace = ''): Promise<T | undefined> {
    const endpoint = this.#endpoint(kind);
    const version = endpoint && this.#store.newest(endpoint.resource.id, namespace, name);
    return Promise.resolve(version && (sharedObjectOf(endpoint, version) as unknown as T));
  }

  list<T extends ApiObject>(kind: Kind<T>, namespace?: string): Promise<T[]> {
    const endpoint = this.#endpoint(kind);
    if (endpoint === undefined) return Promise.resolve([]);
    const { versions } = this.#store.list({
      resource: endpoint.resource.id,
      ...(namespace === undefined ? {} : { namespace }),
    });
    return Promise.resolve(versions.map((version) => sharedObjectOf(endpoint, version) as unknown as T));
  }

  #endpoint({ group, version, plural }: Kind): Endpoint | undefined {
    return this.#catalog.endpoint(group, version, plural);
  }
}
