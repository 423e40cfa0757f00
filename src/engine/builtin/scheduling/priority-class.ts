import type { JsonObject } from '../../../api/json.ts';
import type { FieldError } from '../../../api/status.ts';
import { defineBuiltin } from '../builtin-kind.ts';
import { ageColumn, column, countColumn, nameColumn } from '../columns.ts';
import { forbiddenField, IMMUTABLE, invalidValue, oneOf } from '../field-errors.ts';
import { fillAbsent, flagAt, nameOf, numberAt, textAt } from '../reading.ts';
import { HIGHEST_OF_USERS, SYSTEM_CLASSES, SYSTEM_PREFIX } from './system-classes.ts';

export const priorityClasses = defineBuiltin({
  group: 'scheduling.k8s.io',
  version: 'v1',
  kind: 'PriorityClass',
  plural: 'priorityclasses',
  shortNames: ['pc'],
  namespaced: false,
  qualifiedFinalizers: true,
  columns: [
    nameColumn,
    countColumn('Value', 'Priority of the pods: the higher, the sooner they are placed.', (priorityClass) =>
      numberAt(priorityClass, 'value'),
    ),
    column(
      'Global-Default',
      { type: 'boolean', description: 'Whether pods that name no class have this one.' },
      (priorityClass) => flagAt(priorityClass, 'globalDefault'),
    ),
    ageColumn,
    column('PreemptionPolicy', { description: 'Whether others must make room for the pods.' }, (priorityClass) =>
      textAt(priorityClass, 'preemptionPolicy'),
    ),
  ],
  hasGeneration: true,

  defaults(priorityClass) {
    fillAbsent(priorityClass, 'preemptionPolicy', 'PreemptLowerPriority');
  },

  validate: (priorityClass, old) =>
    old === undefined ? validateNew(priorityClass) : validateChange(priorityClass, old),
});

function validateNew(priorityClass: JsonObject): FieldError[] {
  const name = nameOf(priorityClass);
  const value = numberAt(priorityClass, 'value');
  const errors = oneOf('preemptionPolicy', textAt(priorityClass, 'preemptionPolicy'), [
    'PreemptLowerPriority',
    'Never',
  ]);
  if (!name.startsWith(SYSTEM_PREFIX)) {
    if (value <= HIGHEST_OF_USERS) return errors;
    const detail = `maximum allowed value of a user defined priority is ${HIGHEST_OF_USERS}`;
    return [...errors, forbiddenField('value', detail)];
  }
  const fault = systemFault(priorityClass, name, value);
  if (fault === undefined) return errors;
  const detail = `priority class names with '${SYSTEM_PREFIX}' prefix are reserved for system use only. error: ${fault}`;
  return [...errors, forbiddenField('metadata.name', detail)];
}

function systemFault(priorityClass: JsonObject, name: string, value: number): string | undefined {
  const known = SYSTEM_CLASSES.find((each) => each.name === name);
  if (known === undefined) return `${name} is not a known system priority class`;
  if (value !== known.value) return `value of ${name} PriorityClass must be ${known.value}`;
  return flagAt(priorityClass, 'globalDefault') ? `globalDefault of ${name} PriorityClass must be false` : undefined;
}

function validateChange(priorityClass: JsonObject, old: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  if (numberAt(priorityClass, 'value') !== numberAt(old, 'value')) {
    errors.push(forbiddenField('value', 'may not be changed in an update.'));
  }
  const policy = textAt(priorityClass, 'preemptionPolicy');
  if (policy !== textAt(old, 'preemptionPolicy')) errors.push(invalidValue('preemptionPolicy', policy, IMMUTABLE));
  return errors;
}
