import type { Kind } from '../api/kind.ts';
import type { ApiObject, OwnerReference } from '../api/object.ts';
import type { Ref } from './ref.ts';

/** Makes `owner` the controller of a child: the child is garbage when the owner is gone. */
export const ownedBy = ({ apiVersion, kind, metadata }: ApiObject): OwnerReference => ({
  apiVersion,
  kind,
  name: metadata.name,
  uid: metadata.uid,
  controller: true,
  blockOwnerDeletion: true,
});

/** The object of this kind, in whatever version, that controls the child. */
export function controllerOf(child: ApiObject, kind: Kind): Ref | undefined {
  const reference = child.metadata.ownerReferences?.find(({ controller }) => controller === true);
  if (reference === undefined || reference.kind !== kind.kind) return undefined;
  const slash = reference.apiVersion.indexOf('/');
  if (reference.apiVersion.slice(0, Math.max(slash, 0)) !== kind.group) return undefined;
  return { namespace: kind.namespaced ? (child.metadata.namespace ?? '') : '', name: reference.name };
}
