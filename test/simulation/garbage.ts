import { isJsonObject, type JsonObject } from '../../src/api/json.ts';
import type { Kind } from '../../src/api/kind.ts';
import type { Store } from './store.ts';
import { finalizersOf, metadataOf, resourceOf, type Target, type Writes } from './writes.ts';

/**
 * Does what the garbage collector of a cluster does, until nothing is left to do: deletes objects whose owners are all
 * gone, and carries out foreground deletions and orphaning.
 */
export function collectGarbage(store: Store, writes: Writes, kinds: readonly Kind[]): void {
  for (let changed = true; changed; ) {
    const before = store.version;
    const objects = kinds.flatMap((kind) => store.all(resourceOf(kind)).map((object) => ({ kind, object })));
    const living = new Set(objects.map(({ object }) => String(metadataOf(object)['uid'])));
    for (const { kind, object } of objects) {
      const owners = ownersOf(object);
      const orphaned = owners.length > 0 && owners.every((uid) => !living.has(uid));
      if (orphaned && metadataOf(object)['deletionTimestamp'] === undefined) writes.delete(targetOf(kind, object), {});
      if (metadataOf(object)['deletionTimestamp'] === undefined) continue;

      const dependents = objects.filter((other) => ownersOf(other.object).includes(String(metadataOf(object)['uid'])));
      if (finalizersOf(object).includes('orphan')) {
        for (const dependent of dependents) disown(writes, dependent.kind, dependent.object, object);
        dropFinalizer(writes, kind, object, 'orphan');
      } else if (finalizersOf(object).includes('foregroundDeletion')) {
        const options = { propagationPolicy: 'Foreground' };
        for (const dependent of dependents) writes.delete(targetOf(dependent.kind, dependent.object), options);
        if (dependents.length === 0) dropFinalizer(writes, kind, object, 'foregroundDeletion');
      }
    }
    changed = store.version !== before;
  }
}

function targetOf(kind: Kind, object: JsonObject): Target {
  const { namespace, name } = metadataOf(object);
  const where = { namespace: typeof namespace === 'string' ? namespace : '', name: String(name) };
  return { kind, ...where, subresource: undefined, manager: 'garbage-collector' };
}

function referencesOf(object: JsonObject): JsonObject[] {
  const references = metadataOf(object)['ownerReferences'];
  return Array.isArray(references) ? references.filter(isJsonObject) : [];
}
const ownersOf = (object: JsonObject): string[] => referencesOf(object).map(({ uid }) => String(uid));

function disown(writes: Writes, kind: Kind, object: JsonObject, owner: JsonObject): void {
  const ownerReferences = referencesOf(object).filter(({ uid }) => uid !== metadataOf(owner)['uid']);
  writes.patch(targetOf(kind, object), { metadata: { ownerReferences } }, 'application/merge-patch+json');
}

function dropFinalizer(writes: Writes, kind: Kind, object: JsonObject, name: string): void {
  const finalizers = finalizersOf(object).filter((finalizer) => finalizer !== name);
  writes.patch(targetOf(kind, object), { metadata: { finalizers } }, 'application/merge-patch+json');
}
