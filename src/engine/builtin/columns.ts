import type { Json, JsonObject } from '../../api/json.ts';
import type { Column } from './builtin-kind.ts';
import { age } from './human-duration.ts';
import { metadataOf, nameOf } from './reading.ts';

interface ColumnTraits {
  type?: 'string' | 'integer' | 'boolean' | 'date';
  format?: string;
  description: string;
  /** 1: only shown by `kubectl get -o wide`. */
  priority?: 0 | 1;
}

export const column = (
  name: string,
  { type = 'string', format = '', description, priority = 0 }: ColumnTraits,
  cell: (object: JsonObject, now: Date) => Json,
): Column => ({ name, type, format, description, priority, cell });

/** A column that only `kubectl get -o wide` shows. */
export const wideColumn = (name: string, description: string, cell: (object: JsonObject, now: Date) => Json): Column =>
  column(name, { description, priority: 1 }, cell);

/** A column of whole numbers. */
export const countColumn = (name: string, description: string, cell: (object: JsonObject) => number): Column =>
  column(name, { type: 'integer', description }, cell);

export const nameColumn: Column = column(
  'Name',
  { format: 'name', description: 'Name of the object, unique among its kind in its namespace.' },
  nameOf,
);

export const ageColumn: Column = column('Age', { description: 'Time since the object was created.' }, (object, now) =>
  age(metadataOf(object)['creationTimestamp'], now),
);

/** What kinds without columns of their own show beside the name. */
export const createdColumn: Column = column(
  'Created At',
  { type: 'date', description: 'When the object was created.' },
  (object) => metadataOf(object)['creationTimestamp'] ?? null,
);
