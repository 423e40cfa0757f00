import { equalJson, type JsonObject } from '../../../api/json.ts';
import type { FieldError } from '../../../api/status.ts';
import { dnsSubdomainFaults, qualifiedNameFaults } from '../../../api/syntax.ts';
import { IMMUTABLE, invalidFor, invalidValue, required } from '../field-errors.ts';
import { metadataOf, numberAt, objectAt, textAt } from '../reading.ts';
import { TO_STORED } from './event-views.ts';

const LIMITS = [
  ['reportingInstance', 128],
  ['action', 128],
  ['reason', 128],
] as const;
const LONGEST_MESSAGE = 1024;

/** What holds for events however they are written. `reporter` is what the writer calls the reporting controller. */
export function validateAnyEvent(event: JsonObject, reporter: string): FieldError[] {
  const namespace = textAt(metadataOf(event), 'namespace');
  const objectNamespace = textAt(objectAt(event, 'involvedObject'), 'namespace');
  const mismatch = invalidValue('involvedObject.namespace', objectNamespace, 'does not match event.namespace');
  const errors: FieldError[] = [];
  if (textAt(event, 'eventTime') === '') {
    const expected = objectNamespace === '' ? ['', 'default'] : [objectNamespace];
    if (!expected.includes(namespace)) errors.push(mismatch);
  } else {
    if (objectNamespace === '' && namespace !== 'default' && namespace !== 'kube-system') errors.push(mismatch);
    const controller = textAt(event, 'reportingComponent');
    if (controller === '') errors.push(required(reporter));
    errors.push(...invalidFor(reporter, controller, qualifiedNameFaults(controller)));
    for (const [field, limit] of LIMITS) {
      const text = textAt(event, field);
      if (text === '') errors.push(required(field));
      if (Buffer.byteLength(text) > limit) errors.push(invalidValue(field, '', `can have at most ${limit} characters`));
    }
    if (Buffer.byteLength(textAt(event, 'message')) > LONGEST_MESSAGE) {
      errors.push(invalidValue('message', '', `can have at most ${LONGEST_MESSAGE} characters`));
    }
  }
  return [...errors, ...invalidFor('namespace', namespace, dnsSubdomainFaults(namespace))];
}

export function validateNewEvent(event: JsonObject): FieldError[] {
  const errors = validateSeries(event);
  if (textAt(event, 'eventTime') === '') errors.push(required('eventTime'));
  const type = textAt(event, 'type');
  if (type !== 'Normal' && type !== 'Warning') errors.push(invalidValue('type', '', `has invalid value: ${type}`));
  for (const field of ['firstTimestamp', 'lastTimestamp', 'count', 'source']) {
    const value = event[field] ?? '';
    const isEmpty = value === '' || value === 0 || equalJson(value, {});
    if (!isEmpty) errors.push(invalidValue(field, '', 'needs to be unset'));
  }
  return errors;
}

function validateSeries(event: JsonObject): FieldError[] {
  const series = objectAt(event, 'series');
  if (series === undefined) return [];
  return [
    ...(numberAt(series, 'count') < 2 ? [invalidValue('series.count', '', 'should be at least 2')] : []),
    ...(textAt(series, 'lastObservedTime') === '' ? [required('series.lastObservedTime')] : []),
  ];
}

const FIXED = [
  'involvedObject',
  'reason',
  'message',
  'source',
  'firstTimestamp',
  'lastTimestamp',
  'count',
  'type',
  'eventTime',
  'action',
  'related',
  'reportingController',
  'reportingInstance',
];

/** An event tells what has happened: only how often it happens may change. */
export function validateEventChange(event: JsonObject, before: JsonObject): FieldError[] {
  const errors = equalJson(event['series'] ?? null, before['series'] ?? null) ? [] : validateSeries(event);
  for (const field of FIXED) {
    const stored = TO_STORED.get(field) ?? field;
    if (equalJson(event[stored] ?? null, before[stored] ?? null)) continue;
    errors.push(invalidValue(field, event[stored], IMMUTABLE));
  }
  return errors;
}
