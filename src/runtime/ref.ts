import type { Kind } from '../api/kind.ts';
import type { ApiObject } from '../api/object.ts';

/** Which object of a kind. The namespace is empty for kinds that live outside of namespaces. */
export interface Ref {
  readonly namespace: string;
  readonly name: string;
}

export const refOf = ({ metadata }: Pick<ApiObject, 'metadata'>): Ref => ({
  namespace: metadata.namespace ?? '',
  name: metadata.name,
});

/** A ref as one string, for maps and queues: neither part may contain a slash. */
export const keyOf = ({ namespace, name }: Ref): string => `${namespace}/${name}`;
export const keyOfObject = ({ metadata }: ApiObject): string => `${metadata.namespace ?? ''}/${metadata.name}`;

export function refOfKey(key: string): Ref {
  const slash = key.indexOf('/');
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

/** How people write it: `ipsets.network.openstack.org openstack/edpm-0`. */
export const describeRef = ({ group, plural }: Kind, { namespace, name }: Ref): string =>
  `${group === '' ? plural : `${plural}.${group}`} ${namespace === '' ? name : `${namespace}/${name}`}`;
