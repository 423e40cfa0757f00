import type { Kind } from '../api/kind.ts';
import type { Ref } from './ref.ts';

/** Which objects of a kind: all of them unless it says less. */
export interface Scope {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

export const groupVersionPath = ({ group, version }: Pick<Kind, 'group' | 'version'>): string =>
  group === '' ? `/api/${version}` : `/apis/${group}/${version}`;

export const collectionPath = (kind: Kind, namespace = ''): string =>
  namespace === ''
    ? `${groupVersionPath(kind)}/${kind.plural}`
    : `${groupVersionPath(kind)}/namespaces/${encodeURIComponent(namespace)}/${kind.plural}`;

export const objectPath = (kind: Kind, { namespace, name }: Ref, subresource?: string): string =>
  `${collectionPath(kind, namespace)}/${encodeURIComponent(name)}${subresource === undefined ? '' : `/${subresource}`}`;

/** `?a=b&c=d` of what is set, or nothing. */
export function query(parameters: Readonly<Record<string, string | number | boolean | undefined>>): string {
  const set = Object.entries(parameters).filter(([, value]) => value !== undefined);
  return set.length === 0
    ? ''
    : `?${set.map(([key, value]) => `${key}=${encodeURIComponent(String(value))}`).join('&')}`;
}
