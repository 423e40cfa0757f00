import type { Json, JsonObject } from '../../../api/json.ts';
import type { Column } from '../builtin-kind.ts';
import { column, wideColumn } from '../columns.ts';
import { age } from '../human-duration.ts';
import { isAbsent, nameOf, numberAt, objectAt, textAt } from '../reading.ts';
import type { Reader } from './event-views.ts';

export function eventColumns(read: Reader): Column[] {
  const of = (cell: (event: JsonObject, now: Date) => Json) => (event: JsonObject, now: Date) => cell(read(event), now);
  return [
    column('Last Seen', { description: 'Time since it happened last.' }, of(lastSeen)),
    column(
      'Type',
      { description: 'Normal or Warning.' },
      of((event) => textAt(event, 'type')),
    ),
    column(
      'Reason',
      { description: 'What happened, in a word.' },
      of((event) => textAt(event, 'reason')),
    ),
    column('Object', { description: 'What it happened to.' }, of(involved)),
    wideColumn(
      'Subobject',
      'Which part of the object.',
      of((event) => textAt(objectAt(event, 'involvedObject'), 'fieldPath')),
    ),
    wideColumn('Source', 'Who reports it.', of(source)),
    column(
      'Message',
      { description: 'What happened, in a sentence.' },
      of((event) => textAt(event, 'message').trim()),
    ),
    wideColumn('First Seen', 'Time since it happened first.', of(firstSeen)),
    wideColumn('Count', 'How often it happened.', of(count)),
    column('Name', { format: 'name', description: 'Name of the event.', priority: 1 }, nameOf),
  ];
}

function firstSeen(event: JsonObject, now: Date): string {
  return age(event['firstTimestamp'] ?? event['eventTime'], now);
}

function lastSeen(event: JsonObject, now: Date): string {
  const series = objectAt(event, 'series');
  if (series !== undefined) return age(series['lastObservedTime'], now);
  return isAbsent(event, 'lastTimestamp') ? firstSeen(event, now) : age(event['lastTimestamp'], now);
}

function count(event: JsonObject): number {
  const series = objectAt(event, 'series');
  return series === undefined ? numberAt(event, 'count') || 1 : numberAt(series, 'count');
}

function involved(event: JsonObject): string {
  const object = objectAt(event, 'involvedObject');
  const kind = textAt(object, 'kind').toLowerCase();
  const name = textAt(object, 'name');
  return name === '' ? kind : `${kind}/${name}`;
}

function source(event: JsonObject): string {
  const own = objectAt(event, 'source');
  const component = textAt(own, 'component') || textAt(event, 'reportingComponent');
  const host = textAt(own, 'host') || textAt(event, 'reportingInstance');
  return host === '' ? component : `${component}, ${host}`;
}
