import type { JsonObject } from '../../../api/json.ts';
import type { Column } from '../builtin-kind.ts';
import { wideColumn } from '../columns.ts';
import { selectorText } from '../label-selectors.ts';
import { objectAt, objectsAt, specOf, textAt } from '../reading.ts';

/** What the pods of a workload run. */
export const containerColumns: readonly Column[] = [
  wideColumn('Containers', 'Names of the containers.', (workload) => ofContainers(specOf(workload), 'name')),
  wideColumn('Images', 'Images of the containers.', (workload) => ofContainers(specOf(workload), 'image')),
];

export const selectorColumn: Column = wideColumn('Selector', 'Labels of the pods.', (workload) =>
  selectorText(objectAt(specOf(workload), 'selector') ?? {}),
);

/** A field of every container of the template in `holder`. */
export const ofContainers = (holder: JsonObject, field: string): string =>
  objectsAt(objectAt(objectAt(holder, 'template'), 'spec'), 'containers')
    .map((container) => textAt(container, field))
    .join(',');
