import { createHash } from 'node:crypto';
import type { Kind } from '../api/kind.ts';
import type { ApiObject } from '../api/object.ts';
import type { Caches } from './cache.ts';
import type { Client } from './client.ts';
import type { Applied } from './draft.ts';
import { ownedBy } from './owner.ts';
import { describeRef, keyOf } from './ref.ts';

/**
 * Applies the objects that a controller keeps, pass after pass, without asking the server when nothing changed: an
 * object that still has the version which our last apply of the same words left behind has nothing to be set.
 */
export class Children {
  readonly #client: Client;
  readonly #caches: Caches;
  readonly #applied = new Map<string, { resourceVersion: string; words: string }>();

  constructor({ client, caches }: { client: Client; caches: Caches }) {
    this.#client = client;
    this.#caches = caches;
  }

  /** The kind must be one that the controller owns or watches. Takes fields over from whoever set them before. */
  async apply<T extends ApiObject>(kind: Kind<T>, object: Applied<T>, owner?: ApiObject): Promise<T> {
    const wanted = owner === undefined ? object : withOwner(kind, object, owner);
    const ref = { namespace: object.metadata.namespace ?? '', name: object.metadata.name };
    const key = `${kind.group}/${kind.plural}/${keyOf(ref)}`;
    const words = createHash('sha256').update(JSON.stringify(wanted)).digest('base64');
    const cache = this.#caches.of(kind);
    const found = cache.get(ref);
    const last = this.#applied.get(key);
    if (found !== undefined && last?.words === words && last.resourceVersion === found.metadata.resourceVersion) {
      return found;
    }
    const applied = await this.#client.apply(kind, wanted, { force: true });
    this.#applied.set(key, { resourceVersion: applied.metadata.resourceVersion, words });
    return applied;
  }

  /** Forgets an object that is gone; without it the memory of objects long deleted would pile up. */
  forget(kind: Kind, key: string): void {
    this.#applied.delete(`${kind.group}/${kind.plural}/${key}`);
  }
}

function withOwner<T extends ApiObject>(kind: Kind<T>, object: Applied<T>, owner: ApiObject): Applied<T> {
  const { namespace = '', name } = object.metadata;
  const home = owner.metadata.namespace;
  if (home !== undefined && home !== namespace) {
    throw new Error(
      `${describeRef(kind, { namespace, name })} cannot be owned by ${owner.kind} ${home}/${owner.metadata.name}: an owner is in the same namespace, or in none`,
    );
  }
  const others = object.metadata.ownerReferences ?? [];
  return { ...object, metadata: { ...object.metadata, ownerReferences: [...others, ownedBy(owner)] } };
}
