import type { ApiObject } from '../api/object.ts';
import { asError } from '../runtime/log.ts';
import { done, failed, type Outcome } from '../runtime/outcome.ts';

/**
 * Each namespace has a NetConfig of its own: its objects are worked on together, and fail together. One outcome for each, in
 * their order.
 */
export async function byNamespace<T extends ApiObject, Status>(
  objects: readonly T[],
  work: (namespace: string, group: readonly T[]) => Promise<readonly Outcome<Status>[]>,
): Promise<Outcome<Status>[]> {
  const groups = Map.groupBy(objects, ({ metadata }) => metadata.namespace ?? '');
  const outcomes = new Map<T, Outcome<Status>>();
  await Promise.all(
    [...groups].map(async ([namespace, group]) => {
      try {
        const worked = await work(namespace, group);
        for (const [i, object] of group.entries()) outcomes.set(object, worked[i] ?? done());
      } catch (error) {
        for (const object of group) outcomes.set(object, failed(asError(error)));
      }
    }),
  );
  return objects.map((object) => outcomes.get(object) ?? done());
}
