import { isJsonObject, type JsonObject } from '../../api/json.ts';
import type { OwnerReference } from '../../api/object.ts';
import { metadataOf } from '../../api/object.ts';
import { ApiError } from '../../api/status.ts';
import type { Log } from '../../runtime/log.ts';
import type { Context } from '../objects/context.ts';
import { FOREGROUND, ORPHAN, remove } from '../objects/delete.ts';
import { objectOf, shared } from '../objects/encoding.ts';
import { PATCH_TYPES, patch } from '../objects/patch.ts';
import { finalizersOf } from '../objects/replace.ts';
import { groupOf } from '../resources/catalog.ts';
import { type Endpoint, type Resource, uidOf } from '../resources/resource.ts';
import type { StoredEvent, Version } from '../store/version.ts';
import { followEverything } from './changes.ts';
import { internalOptions } from './internal-options.ts';
import { Jobs } from './jobs.ts';

/** Removes what nobody owns any more: objects whose owners are all gone, in the way that the owner's deletion asked for. */
export class GarbageCollector {
  readonly #context: Context;
  readonly #jobs: Jobs;
  /** Owner's uid → its dependents: `resource namespace/name` → where that is. */
  readonly #dependents = new Map<string, Map<string, Place>>();
  /** `resource namespace/name` → uids of its owners. */
  readonly #owners = new Map<string, readonly string[]>();
  readonly #following: { close(): void };

  constructor(context: Context, log: Log) {
    this.#context = context;
    this.#jobs = new Jobs('garbage collection', log);
    this.#following = followEverything(context, (resource, events) => {
      for (const event of events) this.#see(resource, event);
    });
    for (const resource of context.catalog.resources) this.#adopt(resource);
  }

  stop(): Promise<void> {
    this.#following.close();
    return this.#jobs.stop();
  }

  /** What is stored already when the collector starts. */
  #adopt(resource: Resource): void {
    for (const version of this.#context.store.list({ resource: resource.id }).versions) {
      if (mentionsOwners(version) || mentionsCollector(version)) this.#learn(resource, version);
    }
  }

  #see(resource: Resource, { type, current, previous }: StoredEvent): void {
    const place = placeOf(resource, current);
    const wasOwned = previous !== undefined && mentionsOwners(previous);
    if (type !== 'DELETED') {
      const before = this.#owners.get(place.key) ?? [];
      if (wasOwned || mentionsOwners(current) || mentionsCollector(current)) this.#learn(resource, current);
      if (wasOwned && before.some((uid) => !this.#blocks(place, uid))) this.#free(place, previous);
      return;
    }
    this.#link(place, []);
    if (wasOwned) this.#free(place, previous);
    if (this.#dependents.size === 0) return;
    for (const dependent of this.#dependents.get(uidOf(shared.of(current.bytes)))?.values() ?? []) {
      this.#examine(dependent);
    }
  }

  /** An object that is gone, or has another owner now, may have been the last that its owner waited for. */
  #free(place: Place, previous: Version): void {
    for (const owner of ownersOf(shared.of(previous.bytes))) {
      const found = this.#find(owner, place.namespace);
      if (found !== 'absent' && found !== 'unknown' && found.isWaiting) this.#examine(found.place);
    }
  }

  #learn(resource: Resource, version: Version): void {
    const place = placeOf(resource, version);
    const object = shared.of(version.bytes);
    const owners = ownersOf(object);
    this.#link(
      place,
      owners.map((owner) => owner.uid),
    );
    const finalizers = finalizersOf(object);
    const ends = metadataOf(object)['deletionTimestamp'] !== undefined;
    if (ends && (finalizers.includes(FOREGROUND) || finalizers.includes(ORPHAN))) this.#examine(place);
    // Nearly always the owners are there; who comes too late for them is collected.
    else if (owners.some((owner) => isDoubtful(this.#find(owner, place.namespace)))) this.#examine(place);
  }

  #link(place: Place, owners: readonly string[]): void {
    for (const uid of this.#owners.get(place.key) ?? []) {
      const dependents = this.#dependents.get(uid);
      dependents?.delete(place.key);
      if (dependents?.size === 0) this.#dependents.delete(uid);
    }
    if (owners.length === 0) {
      this.#owners.delete(place.key);
      return;
    }
    this.#owners.set(place.key, owners);
    for (const uid of owners) {
      const dependents = this.#dependents.get(uid) ?? new Map<string, Place>();
      this.#dependents.set(uid, dependents);
      dependents.set(place.key, place);
    }
  }

  #examine(place: Place): void {
    this.#jobs.add(place.key, () => this.#settle(place));
  }

  /** Does whatever is due about one object. Looks at how things are now, never at what happened. */
  async #settle(place: Place): Promise<void> {
    const endpoint = storageEndpoint(this.#context, place.resource);
    const version = this.#context.store.newest(place.resource, place.namespace, place.name);
    if (version === undefined || endpoint === undefined) return;
    const object = objectOf(endpoint, version);
    const uid = uidOf(object);
    const finalizers = finalizersOf(object);
    const target = { endpoint, namespace: place.namespace, name: place.name, subresource: '' };
    if (metadataOf(object)['deletionTimestamp'] !== undefined) {
      if (finalizers.includes(ORPHAN)) {
        await Promise.all(this.#dependentsOf(uid).map((dependent) => this.#disown(dependent, new Set([uid]))));
        await this.#release(target, object, ORPHAN);
      } else if (finalizers.includes(FOREGROUND)) {
        const blocking = this.#dependentsOf(uid).filter((dependent) => this.#blocks(dependent, uid));
        for (const dependent of this.#dependentsOf(uid)) this.#examine(dependent);
        if (blocking.length === 0) await this.#release(target, object, FOREGROUND);
      }
      return;
    }
    const owners = ownersOf(object).map((owner) => ({ owner, state: this.#stateOf(owner, place.namespace) }));
    if (owners.length === 0 || owners.some(({ state }) => state === 'unknown')) return;
    const leaving = owners.filter(({ state }) => state !== 'solid');
    if (leaving.length === 0) return;
    if (leaving.length < owners.length) {
      await this.#disown(place, new Set(leaving.map(({ owner }) => owner.uid)));
      return;
    }
    const hasDependents = this.#dependentsOf(uid).length > 0;
    const inForeground = hasDependents && leaving.some(({ state }) => state === 'waiting');
    await remove(
      this.#context,
      target,
      { preconditions: { uid }, ...(inForeground ? { propagationPolicy: 'Foreground' } : {}) },
      internalOptions('garbage-collector'),
    );
  }

  #dependentsOf(uid: string): Place[] {
    return [...(this.#dependents.get(uid)?.values() ?? [])];
  }

  #blocks(dependent: Place, uid: string): boolean {
    const version = this.#context.store.newest(dependent.resource, dependent.namespace, dependent.name);
    return (
      version !== undefined &&
      ownersOf(shared.of(version.bytes)).some((owner) => owner.uid === uid && owner.blockOwnerDeletion === true)
    );
  }

  #stateOf(owner: OwnerReference, namespace: string): 'solid' | 'waiting' | 'absent' | 'unknown' {
    const found = this.#find(owner, namespace);
    if (found === 'absent' || found === 'unknown') return found;
    return found.isWaiting ? 'waiting' : 'solid';
  }

  /** A kind that nobody serves, and a namespaced owner of a cluster-scoped object, say nothing about the owner. */
  #find(owner: OwnerReference, namespace: string): { place: Place; isWaiting: boolean } | 'absent' | 'unknown' {
    const resource = this.#context.catalog.ofKind(groupOf(owner.apiVersion), owner.kind);
    if (resource === undefined || (resource.namespaced && namespace === '')) return 'unknown';
    const key = { resource: resource.id, namespace: resource.namespaced ? namespace : '', name: owner.name };
    const version = this.#context.store.newest(key.resource, key.namespace, key.name);
    if (version === undefined) return 'absent';
    const object = shared.of(version.bytes);
    if (uidOf(object) !== owner.uid) return 'absent';
    const ends = metadataOf(object)['deletionTimestamp'] !== undefined;
    return { place: placeOf(resource, key), isWaiting: ends && finalizersOf(object).includes(FOREGROUND) };
  }

  /** Takes owners off an object. */
  async #disown(place: Place, uids: ReadonlySet<string>): Promise<void> {
    const endpoint = storageEndpoint(this.#context, place.resource);
    const version = this.#context.store.newest(place.resource, place.namespace, place.name);
    if (version === undefined || endpoint === undefined) return;
    const object = objectOf(endpoint, version);
    const kept = ownersOf(object).filter((owner) => !uids.has(owner.uid));
    const metadata = { uid: uidOf(object), resourceVersion: String(version.revision), ownerReferences: kept };
    await this.#patch(
      { endpoint, namespace: place.namespace, name: place.name, subresource: '' },
      { metadata: { ...metadata, ownerReferences: kept.map((owner) => ({ ...owner })) } },
    );
  }

  #release(target: Parameters<typeof patch>[1], object: JsonObject, finalizer: string): Promise<void> {
    const { resourceVersion = '' } = metadataOf(object);
    const finalizers = finalizersOf(object).filter((each) => each !== finalizer);
    return this.#patch(target, { metadata: { resourceVersion, finalizers } });
  }

  async #patch(target: Parameters<typeof patch>[1], document: JsonObject): Promise<void> {
    try {
      const request = { type: PATCH_TYPES.merge, patch: document, duplicates: [], force: false };
      await patch(this.#context, target, request, internalOptions('garbage-collector'));
    } catch (error) {
      if (!(error instanceof ApiError && error.code === 404)) throw error;
    }
  }
}

interface Place {
  readonly key: string;
  /** The resource's id. */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
}

const placeOf = (resource: Resource, { namespace, name }: { namespace: string; name: string }): Place => ({
  key: `${resource.id} ${namespace}/${name}`,
  resource: resource.id,
  namespace,
  name,
});

const isDoubtful = (found: { isWaiting: boolean } | 'absent' | 'unknown'): boolean =>
  found === 'absent' || (found !== 'unknown' && found.isWaiting);

/** Where the object is not known, looking for a word in its bytes is a hundred times cheaper than decoding them; most have no owner. */
function mentions({ bytes }: Version, field: string): boolean {
  const known = shared.find(bytes);
  return known === undefined ? bytes.includes(`"${field}"`) : metadataOf(known)[field] !== undefined;
}
const mentionsOwners = (version: Version): boolean => mentions(version, 'ownerReferences');
const mentionsCollector = (version: Version): boolean =>
  mentions(version, 'deletionTimestamp') && mentions(version, 'finalizers');

function ownersOf(object: JsonObject): OwnerReference[] {
  const references = metadataOf(object)['ownerReferences'];
  return Array.isArray(references)
    ? references.filter(isJsonObject).map((each) => each as unknown as OwnerReference)
    : [];
}

export function storageEndpoint({ catalog }: Context, id: string): Endpoint | undefined {
  const resource = catalog.resource(id);
  return resource?.endpoints.find((endpoint) => endpoint.version === resource.storageVersion) ?? resource?.endpoints[0];
}
