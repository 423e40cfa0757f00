import type { Context } from '../objects/context.ts';
import type { Resource } from '../resources/resource.ts';
import type { StoredEvent } from '../store/version.ts';

/** Follows the objects of every resource, those that are defined later included. */
export function followEverything(
  { store, catalog }: Context,
  listener: (resource: Resource, events: readonly StoredEvent[]) => void,
): { close(): void } {
  const watches = new Map<string, { close(): void }>();
  const refresh = () => {
    const present = new Map(catalog.resources.map((resource) => [resource.id, resource]));
    for (const [id, watch] of watches) {
      if (present.has(id)) continue;
      watch.close();
      watches.delete(id);
    }
    for (const id of present.keys()) {
      if (watches.has(id)) continue;
      watches.set(
        id,
        store.watch({ resource: id, after: store.revision }, (events) => {
          const resource = catalog.resource(id);
          if (resource !== undefined) listener(resource, events);
        }),
      );
    }
  };
  refresh();
  const forget = catalog.onChange(refresh);
  return {
    close() {
      forget();
      for (const watch of watches.values()) watch.close();
    },
  };
}
