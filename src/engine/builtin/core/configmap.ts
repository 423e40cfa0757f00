import { equalJson, type JsonObject } from '../../../api/json.ts';
import type { FieldError } from '../../../api/status.ts';
import { defineBuiltin } from '../builtin-kind.ts';
import { ageColumn, column, nameColumn } from '../columns.ts';
import { forbiddenField, invalidFor, invalidValue, tooLong } from '../field-errors.ts';
import { entriesAt, flagAt } from '../reading.ts';
import { DATA_LIMIT, dataKeyFaults, decodedLength } from './data-keys.ts';

export const configMaps = defineBuiltin({
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  shortNames: ['cm'],
  namespaced: true,
  qualifiedFinalizers: true,
  columns: [
    nameColumn,
    column(
      'Data',
      { description: 'Number of entries.' },
      (object) => entriesAt(object, 'data').length + entriesAt(object, 'binaryData').length,
    ),
    ageColumn,
  ],

  validate(configMap, old) {
    return [
      ...(old === undefined ? [] : validateUnchanged(configMap, old, ['data', 'binaryData'])),
      ...validateData(configMap),
    ];
  },
});

/** Once `immutable` is set, neither it nor the data changes again. */
export function validateUnchanged(object: JsonObject, old: JsonObject, dataFields: readonly string[]): FieldError[] {
  if (!flagAt(old, 'immutable')) return [];
  const detail = 'field is immutable when `immutable` is set';
  const errors = flagAt(object, 'immutable') ? [] : [forbiddenField('immutable', detail)];
  for (const field of dataFields) {
    if (!equalJson(object[field] ?? {}, old[field] ?? {})) errors.push(forbiddenField(field, detail));
  }
  return errors;
}

function validateData(configMap: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  const binary = new Map(entriesAt(configMap, 'binaryData'));
  let size = 0;
  for (const [key, value] of entriesAt(configMap, 'data')) {
    errors.push(...invalidFor(`data[${key}]`, key, dataKeyFaults(key)));
    if (binary.has(key)) errors.push(invalidValue(`data[${key}]`, key, 'duplicate of key present in binaryData'));
    size += Buffer.byteLength(String(value));
  }
  for (const [key, value] of binary) {
    errors.push(...invalidFor(`binaryData[${key}]`, key, dataKeyFaults(key)));
    const length = decodedLength(String(value));
    if (length === undefined) errors.push(invalidValue(`binaryData[${key}]`, '', 'must be base64'));
    size += length ?? 0;
  }
  if (size > DATA_LIMIT) errors.push(tooLong('[]', DATA_LIMIT));
  return errors;
}
