import type { JsonObject } from '../../api/json.ts';
import { metadataOf } from '../../api/object.ts';
import type { Log } from '../../runtime/log.ts';
import type { Context } from '../objects/context.ts';
import { remove } from '../objects/delete.ts';
import { decode } from '../objects/encoding.ts';
import { inBatches } from '../objects/in-batches.ts';
import { PATCH_TYPES, patch } from '../objects/patch.ts';
import { finalizersOf } from '../objects/replace.ts';
import { customResource, type OwnRules } from '../resources/custom.ts';
import { CLEANUP, definitionOf, isEstablished } from '../resources/definition.ts';

import type { Version } from '../store/version.ts';
import { storageEndpoint } from './garbage-collector.ts';
import { internalOptions } from './internal-options.ts';
import { Jobs } from './jobs.ts';

export const DEFINITIONS = 'customresourcedefinitions.apiextensions.k8s.io';

/** Serves what CustomResourceDefinitions define for as long as they are there, and clears up behind those that go. */
export class Definitions {
  readonly #context: Context;
  readonly #ownRules: (group: string, kind: string) => OwnRules | undefined;
  readonly #jobs: Jobs;
  readonly #watches = new Map<string, { close(): void }>();
  /** Name of a definition → the generation that is served. */
  readonly #generations = new Map<string, number | undefined>();

  constructor(context: Context, options: { ownRules(group: string, kind: string): OwnRules | undefined; log: Log }) {
    this.#context = context;
    this.#ownRules = options.ownRules;
    this.#jobs = new Jobs('clearing up behind a definition', options.log);
    const { store } = context;
    for (const version of store.list({ resource: DEFINITIONS }).versions) this.#serve(version);
    const watch = store.watch({ resource: DEFINITIONS, after: store.revision }, (events) => {
      for (const { type, current } of events) {
        if (type === 'DELETED') this.#withdraw(current.name);
        else this.#serve(current);
      }
    });
    this.#watches.set(DEFINITIONS, watch);
  }

  stop(): Promise<void> {
    for (const watch of this.#watches.values()) watch.close();
    return this.#jobs.stop();
  }

  #serve(version: Version): void {
    const object = decode(version.bytes);
    const definition = definitionOf(object);
    if (!isEstablished(definition)) return;
    // A change of the status alone leaves what is served as it was; the beginning of a deletion counts a generation on.
    const { generation } = definition.metadata;
    if (this.#generations.get(version.name) !== generation) {
      this.#generations.set(version.name, generation);
      const rules = this.#ownRules(definition.spec.group, definition.spec.names.kind);
      this.#context.catalog.define(version.name, customResource(definition, version.revision, rules));
    }
    if (metadataOf(object)['deletionTimestamp'] !== undefined) this.#clearUp(version.name);
  }

  #withdraw(name: string): void {
    this.#context.catalog.define(name, undefined);
    this.#generations.delete(name);
    this.#watches.get(name)?.close();
    this.#watches.delete(name);
  }

  #clearUp(name: string): void {
    const resource = this.#context.catalog.resources.find((each) => each.definition?.name === name);
    if (resource === undefined) return;
    if (!this.#watches.has(name)) {
      const again = () => this.#jobs.add(name, () => this.#removeObjects(name));
      const watch = this.#context.store.watch({ resource: resource.id, after: this.#context.store.revision }, again);
      this.#watches.set(name, watch);
    }
    this.#jobs.add(name, () => this.#removeObjects(name));
  }

  async #removeObjects(name: string): Promise<void> {
    const { store, catalog } = this.#context;
    const resource = catalog.resources.find((each) => each.definition?.name === name);
    const found = store.newest(DEFINITIONS, '', name);
    if (resource === undefined || found === undefined) return;
    const endpoint = storageEndpoint(this.#context, resource.id);
    if (endpoint === undefined) return;
    await inBatches(store.list({ resource: resource.id }).versions, async (version) => {
      if (metadataOf(decode(version.bytes))['deletionTimestamp'] !== undefined) return;
      const target = { endpoint, namespace: version.namespace, name: version.name, subresource: '' };
      await remove(this.#context, target, {}, internalOptions('netloom'));
    });
    if (store.count(resource.id) === 0) await this.#release(name, decode(found.bytes));
  }

  async #release(name: string, definition: JsonObject): Promise<void> {
    const endpoint = storageEndpoint(this.#context, DEFINITIONS);
    if (endpoint === undefined) return;
    const finalizers = finalizersOf(definition).filter((each) => each !== CLEANUP);
    const { resourceVersion = '' } = metadataOf(definition);
    const document = { metadata: { resourceVersion, finalizers } };
    const request = { type: PATCH_TYPES.merge, patch: document, duplicates: [], force: false };
    const target = { endpoint, namespace: '', name, subresource: '' };
    await patch(this.#context, target, request, internalOptions('netloom'));
  }
}
