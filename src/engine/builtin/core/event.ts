import type { JsonObject } from '../../../api/json.ts';
import { type BuiltinKind, defineBuiltin } from '../builtin-kind.ts';
import { objectAt, textAt } from '../reading.ts';
import { eventColumns } from './event-columns.ts';
import { validateAnyEvent, validateEventChange, validateNewEvent } from './event-rules.ts';
import { fromStored, type Reader, toStored } from './event-views.ts';

const REFERENCE = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'];

/** Events of the core group. They are stored in this form; events.k8s.io shows the same ones under other names. */
export const events: BuiltinKind = defineBuiltin({
  ...common('', readAsStored),
  selectableFields: selectable(readAsStored, {
    object: 'involvedObject',
    reporter: 'reportingComponent',
    others: {
      source: (event) => textAt(objectAt(event, 'source'), 'component') || textAt(event, 'reportingComponent'),
    },
  }),
  validate: (event) => validateAnyEvent(event, 'reportingComponent'),
});

/** Events of events.k8s.io: the newer names, and stricter rules. */
export const newEvents: BuiltinKind = defineBuiltin({
  ...common('events.k8s.io', toStored),
  selectableFields: selectable(toStored, { object: 'regarding', reporter: 'reportingController', others: {} }),
  toStorage: toStored,
  fromStorage: fromStored,

  validate(event, old) {
    const stored = toStored(event);
    const errors = validateAnyEvent(stored, 'reportingController');
    return [...errors, ...(old === undefined ? validateNewEvent(stored) : validateEventChange(stored, toStored(old)))];
  },
});

function readAsStored(event: JsonObject): JsonObject {
  return event;
}

function common(group: string, read: Reader) {
  return {
    group,
    version: 'v1',
    kind: 'Event',
    plural: 'events',
    shortNames: ['ev'],
    namespaced: true,
    qualifiedFinalizers: false,
    createOnUpdate: true,
    columns: eventColumns(read),
  };
}

function selectable(
  read: Reader,
  { object, reporter, others }: { object: string; reporter: string; others: BuiltinKind['selectableFields'] },
): BuiltinKind['selectableFields'] {
  const ofObject = REFERENCE.map((field) => [
    `${object}.${field}`,
    (event: JsonObject) => textAt(objectAt(read(event), 'involvedObject'), field),
  ]);
  return {
    ...Object.fromEntries(ofObject),
    reason: (event) => textAt(event, 'reason'),
    type: (event) => textAt(event, 'type'),
    [reporter]: (event) => textAt(read(event), 'reportingComponent'),
    ...others,
  };
}
