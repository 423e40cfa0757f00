import type { JsonObject } from '../../../api/json.ts';
import { specOf, textAt } from '../../builtin/reading.ts';
import { decode } from '../../objects/encoding.ts';
import type { Store } from '../../store/store.ts';
import { isMirror, referencesOf } from './pod-references.ts';

export type Related = 'pods' | 'secrets' | 'configmaps' | 'serviceaccounts';

/**
 * What the pods on each node have to do with. Kept as pods come and go, so that a question costs the same whatever the number of
 * pods: it is one look into a map.
 */
export class NodeGraph {
  /** `namespace/name` of a pod → what is counted for it. */
  readonly #pods = new Map<string, readonly string[]>();
  /** `node kind namespace/name` → for how many pods. */
  readonly #counts = new Map<string, number>();

  setPod(namespace: string, name: string, pod: JsonObject | undefined): void {
    const key = `${namespace}/${name}`;
    for (const edge of this.#pods.get(key) ?? []) this.#count(edge, -1);
    this.#pods.delete(key);
    const node = pod === undefined ? '' : textAt(specOf(pod), 'nodeName');
    if (pod === undefined || node === '') return;
    const edges = [edgeOf(node, 'pods', namespace, name)];
    if (!isMirror(pod)) {
      const { secrets, configMaps, serviceAccount } = referencesOf(pod);
      for (const secret of secrets) edges.push(edgeOf(node, 'secrets', namespace, secret));
      for (const map of configMaps) edges.push(edgeOf(node, 'configmaps', namespace, map));
      if (serviceAccount !== '') edges.push(edgeOf(node, 'serviceaccounts', namespace, serviceAccount));
    }
    this.#pods.set(key, edges);
    for (const edge of edges) this.#count(edge, 1);
  }

  relates(node: string, kind: Related, namespace: string, name: string): boolean {
    return this.#counts.has(edgeOf(node, kind, namespace, name));
  }

  #count(edge: string, by: 1 | -1): void {
    const count = (this.#counts.get(edge) ?? 0) + by;
    if (count === 0) this.#counts.delete(edge);
    else this.#counts.set(edge, count);
  }
}

const edgeOf = (node: string, kind: Related, namespace: string, name: string): string =>
  `${node} ${kind} ${namespace}/${name}`;

/** Keeps the graph as the store has the pods. */
export function followPods(store: Store, graph: NodeGraph): { close(): void } {
  for (const { namespace, name, bytes } of store.list({ resource: 'pods' }).versions) {
    graph.setPod(namespace, name, decode(bytes));
  }
  return store.watch({ resource: 'pods', after: store.revision }, (events) => {
    for (const { type, current } of events) {
      graph.setPod(current.namespace, current.name, type === 'DELETED' ? undefined : decode(current.bytes));
    }
  });
}
