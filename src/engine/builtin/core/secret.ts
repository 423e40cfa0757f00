import { isJsonObject, type JsonObject } from '../../../api/json.ts';
import type { FieldError } from '../../../api/status.ts';
import { defineBuiltin } from '../builtin-kind.ts';
import { ageColumn, column, nameColumn } from '../columns.ts';
import { IMMUTABLE, invalidFor, invalidValue, required, tooLong } from '../field-errors.ts';
import { entriesAt, fill, metadataOf, objectAt, objectMadeAt, setKey, textAt, textMapAt } from '../reading.ts';
import { validateUnchanged } from './configmap.ts';
import { DATA_LIMIT, dataKeyFaults, decodedLength } from './data-keys.ts';

export const secrets = defineBuiltin({
  group: '',
  version: 'v1',
  kind: 'Secret',
  plural: 'secrets',
  namespaced: true,
  qualifiedFinalizers: true,
  columns: [
    nameColumn,
    column('Type', { description: 'What the data is meant for.' }, typeOf),
    column('Data', { description: 'Number of entries.' }, (secret) => entriesAt(secret, 'data').length),
    ageColumn,
  ],
  selectableFields: { type: typeOf },

  defaults(secret) {
    fill(secret, 'type', 'Opaque');
    foldStringData(secret);
  },

  validate(secret, old) {
    const errors: FieldError[] = [];
    if (old !== undefined) {
      if (typeOf(secret) !== typeOf(old)) errors.push(invalidValue('type', typeOf(secret), IMMUTABLE));
      errors.push(...validateUnchanged(secret, old, ['data']));
    }
    return [...errors, ...validateData(secret), ...validateByType(secret)];
  },
});

function typeOf(secret: JsonObject): string {
  return textAt(secret, 'type');
}

/** `stringData` is only a way of writing `data`, and wins over it. */
function foldStringData(secret: JsonObject): void {
  const texts = entriesAt(secret, 'stringData');
  if (texts.length > 0) {
    const data = objectMadeAt(secret, 'data');
    for (const [key, text] of texts) {
      setKey(data, key, Buffer.from(typeof text === 'string' ? text : '').toString('base64'));
    }
  }
  delete secret['stringData'];
}

function validateData(secret: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  let size = 0;
  for (const [key, value] of entriesAt(secret, 'data')) {
    errors.push(...invalidFor(`data[${key}]`, key, dataKeyFaults(key)));
    const length = decodedLength(String(value));
    // The value itself stays out of the message: it is a secret.
    if (length === undefined) errors.push(invalidValue(`data[${key}]`, REDACTED, 'must be base64'));
    size += length ?? 0;
  }
  return size > DATA_LIMIT ? [...errors, tooLong('data', DATA_LIMIT)] : errors;
}

const REDACTED = '<secret contents redacted>';

function validateByType(secret: JsonObject): FieldError[] {
  const keys = new Map(entriesAt(secret, 'data'));
  const need = (key: string): FieldError[] => (keys.has(key) ? [] : [required(`data[${key}]`)]);
  switch (typeOf(secret)) {
    case 'kubernetes.io/service-account-token': {
      const annotation = 'kubernetes.io/service-account.name';
      const named = textMapAt(metadataOf(secret), 'annotations').get(annotation) ?? '';
      return named === '' ? [required(`metadata.annotations[${annotation}]`)] : [];
    }
    case 'kubernetes.io/dockercfg':
      return [...need('.dockercfg'), ...validateJson(secret, '.dockercfg')];
    case 'kubernetes.io/dockerconfigjson':
      return [...need('.dockerconfigjson'), ...validateJson(secret, '.dockerconfigjson')];
    case 'kubernetes.io/basic-auth':
      return keys.has('username') || keys.has('password') ? [] : [...need('username'), ...need('password')];
    case 'kubernetes.io/ssh-auth':
      return textAt(objectAt(secret, 'data'), 'ssh-privatekey') === '' ? [required('data[ssh-privatekey]')] : [];
    case 'kubernetes.io/tls':
      return [...need('tls.crt'), ...need('tls.key')];
    default:
      return [];
  }
}

/** The data under the key must be a JSON object, if it is there. */
function validateJson(secret: JsonObject, key: string): FieldError[] {
  const value = objectAt(secret, 'data')?.[key];
  if (typeof value !== 'string') return [];
  let fault = 'must be a JSON object';
  try {
    if (isJsonObject(JSON.parse(Buffer.from(value, 'base64').toString()))) return [];
  } catch {
    fault = 'must be JSON';
  }
  return [invalidValue(`data[${key}]`, REDACTED, fault)];
}
