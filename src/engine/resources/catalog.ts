import type { Endpoint, Resource } from './resource.ts';

/** Everything that is served right now: the built-in resources, and the custom ones as their definitions come and go. */
export class Catalog {
  readonly #builtin: readonly Resource[];
  /** Name of the definition → what it defines. */
  readonly #custom = new Map<string, Resource>();
  /** `group/version/plural` → where it is served. */
  #endpoints = new Map<string, Endpoint>();
  /** `group/Kind` → the resource. */
  #kinds = new Map<string, Resource>();
  #ids = new Map<string, Resource>();
  readonly #listeners = new Set<() => void>();
  /** Rises with every change: what was derived from the catalog is good for as long as this stays the same. */
  #generation = 0;

  constructor(builtin: readonly Resource[]) {
    this.#builtin = builtin;
    this.#index();
  }

  get generation(): number {
    return this.#generation;
  }

  /** Built-in ones first, then custom ones by the name of their definition. */
  get resources(): readonly Resource[] {
    const names = [...this.#custom.keys()].sort();
    return [...this.#builtin, ...names.flatMap((name) => this.#custom.get(name) ?? [])];
  }

  endpoint(group: string, version: string, plural: string): Endpoint | undefined {
    return this.#endpoints.get(`${group}/${version}/${plural}`);
  }

  /** By what the store files its objects under. */
  resource(id: string): Resource | undefined {
    return this.#ids.get(id);
  }

  ofKind(group: string, kind: string): Resource | undefined {
    return this.#kinds.get(`${group}/${kind}`);
  }

  define(definition: string, resource: Resource | undefined): void {
    if (resource === undefined) this.#custom.delete(definition);
    else this.#custom.set(definition, resource);
    this.#index();
  }

  /** Called after every change, until the returned function is. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #index(): void {
    this.#generation++;
    this.#endpoints = new Map();
    this.#kinds = new Map();
    this.#ids = new Map(this.resources.map((resource) => [resource.id, resource]));
    for (const resource of this.resources) {
      if (!this.#kinds.has(`${resource.group}/${resource.kind}`)) {
        this.#kinds.set(`${resource.group}/${resource.kind}`, resource);
      }
      for (const endpoint of resource.endpoints) {
        this.#endpoints.set(`${groupOf(endpoint.apiVersion)}/${endpoint.version}/${resource.plural}`, endpoint);
      }
    }
    for (const listener of this.#listeners) listener();
  }
}

/** The group in `group/version`; the core group has none. */
export const groupOf = (apiVersion: string): string =>
  apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
