import type { Json, JsonObject } from '../../api/json.ts';
import { metadataOf } from '../../api/object.ts';
import type { Column } from '../resources/resource.ts';

/** How much of each object a row carries besides its cells. */
export type IncludeObject = 'None' | 'Metadata' | 'Object';

export const tableHead = (metadata: JsonObject): JsonObject => ({
  kind: 'Table',
  apiVersion: 'meta.k8s.io/v1',
  metadata,
});

export const columnDefinitions = (columns: readonly Column[]): Json[] =>
  columns.map(({ name, type, format, description, priority }) => ({ name, type, format, description, priority }));

export function rowOf(object: JsonObject, columns: readonly Column[], include: IncludeObject, now: Date): JsonObject {
  const cells = columns.map((column) => column.cell(object, now));
  if (include === 'None') return { cells };
  if (include === 'Object') return { cells, object };
  return {
    cells,
    object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: metadataOf(object) },
  };
}
