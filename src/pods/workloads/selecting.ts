import type { Json } from '../../api/json.ts';
import type { Kind } from '../../api/kind.ts';
import type { ApiObject } from '../../api/object.ts';
import { type LabelSelector, labelSelector, nothing, type Selector } from '../../api/selector.ts';
import { type Caches, type Index, index } from '../../runtime/cache.ts';
import { type Ref, refOf } from '../../runtime/ref.ts';

export type Selecting = ApiObject & { spec: { selector: LabelSelector } };

const known = new WeakMap<LabelSelector, Selector>();

/** Which objects a workload calls its own by their labels. One that cannot be read selects nothing. */
export function selectorOf({ spec }: Selecting): Selector {
  let selector = known.get(spec.selector);
  if (selector === undefined) {
    try {
      selector = labelSelector(spec.selector as Json);
    } catch {
      selector = nothing;
    }
    known.set(spec.selector, selector);
  }
  return selector;
}

/** Workloads by one label that they want; those that want none in particular are by namespace alone. */
export const bySelector = <T extends Selecting>(kind: Kind<T>): Index<T> =>
  index(kind, ({ metadata, spec }) => {
    const [first] = Object.entries(spec.selector.matchLabels ?? {});
    return [first === undefined ? `${metadata.namespace}/` : `${metadata.namespace}/${first[0]}=${first[1]}`];
  });

/** The workloads that would take an object which nobody controls. */
export function suitors<T extends Selecting>(orphan: ApiObject, kind: Kind<T>, by: Index<T>, caches: Caches): Ref[] {
  const { namespace, labels = {}, ownerReferences = [] } = orphan.metadata;
  if (ownerReferences.some(({ controller }) => controller === true)) return [];
  const keys = [`${namespace}/`, ...Object.entries(labels).map(([key, value]) => `${namespace}/${key}=${value}`)];
  return keys
    .flatMap((key) => caches.of(kind).by(by, key))
    .filter((workload) => selectorOf(workload).matches(labels))
    .map(refOf);
}

/** Objects by who controls them, and those without anybody by their namespace. */
export const byController = <T extends ApiObject>(kind: Kind<T>): Index<T> =>
  index(kind, ({ metadata }) => {
    const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
    return [owner === undefined ? `orphans of ${metadata.namespace}` : owner.uid];
  });

export const orphansOf = (namespace: string | undefined): string => `orphans of ${namespace}`;
