import { equalJson, isJsonObject, type JsonObject } from '../../api/json.ts';
import { metadataOf } from '../../api/object.ts';
import { ApiError } from '../../api/status.ts';
import type { Log } from '../../runtime/log.ts';
import type { Context, Target } from '../objects/context.ts';
import { create } from '../objects/create.ts';
import { remove } from '../objects/delete.ts';
import { decode, objectOf } from '../objects/encoding.ts';
import { inBatches } from '../objects/in-batches.ts';
import { finalizersOf, update } from '../objects/replace.ts';
import type { Endpoint, Resource } from '../resources/resource.ts';
import type { StoredEvent } from '../store/version.ts';
import { followEverything } from './changes.ts';
import { storageEndpoint } from './garbage-collector.ts';
import { internalOptions } from './internal-options.ts';
import { Jobs } from './jobs.ts';
import { SYSTEM_NAMESPACES } from './lasting-namespaces.ts';

/** Furnishes new namespaces with what every one has, and empties those that are to go. */
export class Namespaces {
  readonly #context: Context;
  readonly #authority: string;
  readonly #jobs: Jobs;
  readonly #ending = new Set<string>();
  #following: { close(): void } | undefined;

  constructor(context: Context, options: { authority: string; log: Log }) {
    this.#context = context;
    this.#authority = options.authority;
    this.#jobs = new Jobs('a namespace', options.log);
  }

  /** Resolves when the system's namespaces are there. */
  async start(): Promise<void> {
    for (const name of SYSTEM_NAMESPACES) {
      if (this.#context.store.newest('namespaces', '', name) === undefined)
        await this.#create('namespaces', '', { metadata: { name } });
    }
    for (const version of this.#context.store.list({ resource: 'namespaces' }).versions) this.#tend(version.name);
    this.#following = followEverything(this.#context, (resource, events) => this.#see(resource, events));
  }

  stop(): Promise<void> {
    this.#following?.close();
    return this.#jobs.stop();
  }

  #see(resource: Resource, events: readonly StoredEvent[]): void {
    for (const { type, current } of events) {
      if (resource.id === 'namespaces') {
        if (type === 'DELETED') this.#ending.delete(current.name);
        else this.#tend(current.name);
      } else if (this.#ending.has(current.namespace) || (type === 'DELETED' && isFurniture(resource, current.name))) {
        this.#tend(current.namespace);
      }
    }
  }

  #tend(name: string): void {
    this.#jobs.add(name, async () => {
      const version = this.#context.store.newest('namespaces', '', name);
      if (version === undefined) return;
      const namespace = decode(version.bytes);
      if (metadataOf(namespace)['deletionTimestamp'] === undefined) await this.#furnish(name);
      else await this.#empty(name, namespace);
    });
  }

  async #furnish(namespace: string): Promise<void> {
    const { store } = this.#context;
    if (store.newest('serviceaccounts', namespace, ACCOUNT) === undefined) {
      await this.#create('serviceaccounts', namespace, { metadata: { name: ACCOUNT } });
    }
    if (store.newest('configmaps', namespace, ROOT) === undefined) {
      await this.#create('configmaps', namespace, { metadata: { name: ROOT }, data: { 'ca.crt': this.#authority } });
    }
  }

  async #create(id: string, namespace: string, content: JsonObject): Promise<void> {
    const endpoint = storageEndpoint(this.#context, id);
    if (endpoint === undefined) return;
    const target: Target = { endpoint, namespace, name: '', subresource: '' };
    try {
      await create(this.#context, target, { object: content, duplicates: [] }, internalOptions('netloom'));
    } catch (error) {
      // Somebody was faster, or the namespace has just begun to go.
      if (!(error instanceof ApiError && (error.code === 409 || error.code === 403 || error.code === 404))) throw error;
    }
  }

  /** Begins the deletion of all that is in it; the namespace goes when the last of it has gone. */
  async #empty(name: string, namespace: JsonObject): Promise<void> {
    this.#ending.add(name);
    const left: { resource: Resource; finalizers: string[] }[] = [];
    for (const resource of this.#context.catalog.resources.filter((each) => each.namespaced)) {
      const endpoint = storageEndpoint(this.#context, resource.id);
      if (endpoint === undefined) continue;
      await inBatches(
        this.#context.store.list({ resource: resource.id, namespace: name }).versions,
        async (version) => {
          const object = objectOf(endpoint, version);
          const isGone =
            metadataOf(object)['deletionTimestamp'] === undefined && (await this.#remove(endpoint, name, version.name));
          if (!isGone) left.push({ resource, finalizers: finalizersOf(object) });
        },
      );
    }
    if (left.length > 0) await this.#report(name, namespace, left);
    else await this.#finish(name);
  }

  async #remove(endpoint: Endpoint, namespace: string, name: string): Promise<boolean> {
    const target = { endpoint, namespace, name, subresource: '' };
    try {
      const wishes = { propagationPolicy: 'Background' as const };
      return (await remove(this.#context, target, wishes, internalOptions('netloom'))).isGone;
    } catch (error) {
      if (error instanceof ApiError && error.code === 404) return true;
      // A kind may refuse to let go of an object that others in the same namespace still need: it goes after them.
      if (error instanceof ApiError && error.code < 500) return false;
      throw error;
    }
  }

  /** Says on the namespace what it still waits for. */
  async #report(
    name: string,
    namespace: JsonObject,
    left: readonly { resource: Resource; finalizers: string[] }[],
  ): Promise<void> {
    const counts = countBy(left.map(({ resource }) => `${resource.plural}.${resource.group}`.replace(/\.$/, '')));
    const finalizers = countBy(left.flatMap((each) => each.finalizers));
    const now = this.#context.timestamp();
    const wanted = [
      condition(
        'NamespaceContentRemaining',
        'SomeResourcesRemain',
        counts,
        (kind, n) => `${kind} has ${n} resource instances`,
        now,
      ),
      condition(
        'NamespaceFinalizersRemaining',
        'SomeFinalizersRemain',
        finalizers,
        (finalizer, n) => `${finalizer} in ${n} resource instances`,
        now,
      ),
    ].filter((each): each is JsonObject => each !== undefined);
    const status = isJsonObject(namespace['status']) ? namespace['status'] : {};
    const before = Array.isArray(status['conditions']) ? status['conditions'].filter(isJsonObject) : [];
    const conditions = wanted.map((each): JsonObject => {
      const old = before.find((other) => other['type'] === each['type']);
      return old !== undefined && old['message'] === each['message'] ? old : each;
    });
    if (equalJson(conditions, before)) return;
    await this.#write(name, 'status', { ...namespace, status: { ...status, conditions } });
  }

  async #finish(name: string): Promise<void> {
    const version = this.#context.store.newest('namespaces', '', name);
    if (version === undefined) return;
    const namespace = decode(version.bytes);
    await this.#write(name, 'finalize', { ...namespace, spec: { finalizers: [] } });
  }

  async #write(name: string, subresource: string, object: JsonObject): Promise<void> {
    const endpoint = storageEndpoint(this.#context, 'namespaces');
    if (endpoint === undefined) return;
    const target = { endpoint, namespace: '', name, subresource };
    await update(this.#context, target, { object, duplicates: [] }, internalOptions('netloom'));
  }
}

const ACCOUNT = 'default';
const ROOT = 'kube-root-ca.crt';

const isFurniture = (resource: Resource, name: string): boolean =>
  (resource.id === 'serviceaccounts' && name === ACCOUNT) || (resource.id === 'configmaps' && name === ROOT);

function countBy(words: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return new Map([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function condition(
  type: string,
  reason: string,
  counts: ReadonlyMap<string, number>,
  say: (word: string, count: number) => string,
  now: string,
): JsonObject | undefined {
  if (counts.size === 0) return undefined;
  const message = `${type === 'NamespaceContentRemaining' ? 'Some resources are remaining' : 'Some content in the namespace has finalizers remaining'}: ${[...counts].map(([word, count]) => say(word, count)).join(', ')}`;
  return { type, status: 'True', lastTransitionTime: now, reason, message };
}
