import type { Kind } from '../../api/kind.ts';
import type { ApiObject } from '../../api/object.ts';
import { type Client, isConflict, isMissing } from '../../runtime/client.ts';
import { ownedBy } from '../../runtime/owner.ts';
import { refOf } from '../../runtime/ref.ts';
import { type Selecting, selectorOf } from './selecting.ts';

/**
 * Sorts out who belongs to a workload: what it controls and selects. What it controls and does not select any more is let go,
 * what it selects and nobody controls becomes its own.
 */
export async function claim<Owner extends Selecting, Child extends ApiObject>(
  owner: Owner,
  {
    ownerKind,
    kind,
    candidates,
    client,
  }: { ownerKind: Kind<Owner>; kind: Kind<Child>; candidates: readonly Child[]; client: Client },
): Promise<Child[]> {
  const selector = selectorOf(owner);
  const isEnding = owner.metadata.deletionTimestamp !== undefined;
  const own: Child[] = [];
  let mayAdopt: boolean | undefined;
  for (const child of candidates) {
    const { metadata } = child;
    const controller = metadata.ownerReferences?.find((reference) => reference.controller === true);
    const isSelected = selector.matches(metadata.labels);
    if (controller !== undefined) {
      if (controller.uid !== owner.metadata.uid) continue;
      if (isSelected) own.push(child);
      else if (!isEnding) await release(client, kind, child, owner);
      continue;
    }
    if (isEnding || !isSelected || metadata.deletionTimestamp !== undefined) continue;
    mayAdopt ??= await isStillThere(client, ownerKind, owner);
    if (!mayAdopt) continue;
    const adopted = await adopt(client, kind, child, owner);
    if (adopted !== undefined) own.push(adopted);
  }
  return own;
}

/** Asked of the server itself: a cache may not know yet that the owner is gone, and its children would go with it. */
async function isStillThere<T extends ApiObject>(client: Client, kind: Kind<T>, { metadata }: T): Promise<boolean> {
  const found = await client.get(kind, metadata.name, metadata.namespace);
  return found?.metadata.uid === metadata.uid && found.metadata.deletionTimestamp === undefined;
}

const adopt = <Child extends ApiObject>(client: Client, kind: Kind<Child>, child: Child, owner: ApiObject) =>
  setOwners(client, kind, child, [...(child.metadata.ownerReferences ?? []), ownedBy(owner)]);

const release = <Child extends ApiObject>(client: Client, kind: Kind<Child>, child: Child, owner: ApiObject) =>
  setOwners(
    client,
    kind,
    child,
    (child.metadata.ownerReferences ?? []).filter(({ uid }) => uid !== owner.metadata.uid),
  );

/** Undefined when the child is gone or was changed meanwhile: then the next pass sees how it is. */
async function setOwners<Child extends ApiObject>(
  client: Client,
  kind: Kind<Child>,
  child: Child,
  owners: readonly object[],
): Promise<Child | undefined> {
  const { uid, resourceVersion } = child.metadata;
  const ownerReferences = owners.map((reference) => ({ ...reference }));
  try {
    return await client.patch(kind, refOf(child), { merge: { metadata: { uid, resourceVersion, ownerReferences } } });
  } catch (error) {
    if (isMissing(error) || isConflict(error)) return undefined;
    throw error;
  }
}
