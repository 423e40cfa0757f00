import type { Node } from '../../api/core/node.ts';
import { Pod } from '../../api/core/pod.ts';
import { Service } from '../../api/core/service.ts';
import { type Cache, type Caches, index } from '../../runtime/cache.ts';
import { type Ref, refOf } from '../../runtime/ref.ts';

type Labels = Readonly<Record<string, string>>;

/** Whether somebody of ours keeps the endpoints: those of a Service that selects nothing are written by others. */
export const isSelecting = ({ spec }: Service): boolean =>
  spec.type !== 'ExternalName' && Object.keys(spec.selector ?? {}).length > 0;

export function podsOf({ metadata, spec }: Service, pods: Cache<Pod>): Pod[] {
  const selector = spec.selector ?? {};
  const [first] = Object.entries(selector);
  if (first === undefined) return [];
  const key = keyOf(metadata.namespace, first);
  return pods.by(byLabel, key).filter((pod) => selects(selector, pod.metadata.labels ?? {}));
}

/** The Services that have the pod among theirs. */
export function servicesOf({ metadata }: Pod, caches: Caches): Ref[] {
  const labels = metadata.labels ?? {};
  const services = caches.of(Service);
  return Object.entries(labels)
    .flatMap((label) => services.by(byFirstLabel, keyOf(metadata.namespace, label)))
    .filter(({ spec }) => selects(spec.selector ?? {}, labels))
    .map(refOf);
}

/** The Services that have pods on the node among theirs. */
export const servicesOn = ({ metadata }: Node, caches: Caches): Ref[] =>
  caches
    .of(Pod)
    .by(byNode, metadata.name)
    .flatMap((pod) => servicesOf(pod, caches));

const selects = (selector: Labels, labels: Labels): boolean =>
  Object.entries(selector).every(([key, value]) => Object.hasOwn(labels, key) && labels[key] === value);

const keyOf = (namespace: string | undefined, [key, value]: readonly [string, string]): string =>
  `${namespace ?? ''}/${key}=${value}`;

const byLabel = index(Pod, ({ metadata }) =>
  Object.entries(metadata.labels ?? {}).map((label) => keyOf(metadata.namespace, label)),
);

const byNode = index(Pod, ({ spec: { nodeName = '' } }) => (nodeName === '' ? [] : [nodeName]));

/** One of the labels that a Service wants is enough to find it. */
const byFirstLabel = index(Service, ({ metadata, spec }) =>
  Object.entries(spec.selector ?? {})
    .slice(0, 1)
    .map((label) => keyOf(metadata.namespace, label)),
);
