import type { JsonObject } from '../../../api/json.ts';
import type { FieldError } from '../../../api/status.ts';
import { dns1035LabelFaults } from '../../../api/syntax.ts';
import { duplicate, invalidFor, invalidValue, required, tooMany } from '../field-errors.ts';
import { compileJsonPath } from '../jsonpath.ts';
import { flagAt, isAbsent, objectAt, objectsAt, textAt } from '../reading.ts';

/** One version of a CustomResourceDefinition, but for the inside of its schema. */
export function validateVersion(version: JsonObject, path: string): FieldError[] {
  const schema = objectAt(objectAt(version, 'schema'), 'openAPIV3Schema');
  const name = textAt(version, 'name');
  const faults = dns1035LabelFaults(name);
  return [
    ...(schema === undefined ? [required(`${path}.schema.openAPIV3Schema`, 'schemas are required')] : []),
    ...(faults.length === 0 ? [] : [invalidValue(`${path}.name`, name, faults.join(','))]),
    ...validateDeprecation(version, `${path}.deprecationWarning`),
    ...(schema?.['nullable'] === true ? [NULLABLE(`${path}.schema.openAPIV3Schema.nullable`)] : []),
    ...validateScale(objectAt(objectAt(version, 'subresources'), 'scale'), `${path}.subresources.scale`),
    ...objectsAt(version, 'additionalPrinterColumns').flatMap((column, i) =>
      validateColumn(column, `${path}.additionalPrinterColumns[${i}]`),
    ),
    ...validateSelectableFields(version, schema, `${path}.selectableFields`),
  ];
}

const NULLABLE = (field: string): FieldError => ({
  type: 'Forbidden',
  field,
  detail: 'nullable cannot be true at the root',
});

const LONGEST_WARNING = 256;

function validateDeprecation(version: JsonObject, path: string): FieldError[] {
  if (isAbsent(version, 'deprecationWarning')) return [];
  const warning = textAt(version, 'deprecationWarning');
  if (!flagAt(version, 'deprecated')) return [invalidValue(path, warning, 'can only be set for deprecated versions')];
  const faults: string[] = [];
  if (Buffer.byteLength(warning) > LONGEST_WARNING) faults.push(`must be <= ${LONGEST_WARNING} characters long`);
  if (warning === '') faults.push('must not be an empty string');
  const unprintable = /[\p{C}\p{Zl}\p{Zp}]/u.exec(warning);
  if (unprintable !== null) {
    const index = Buffer.byteLength(warning.slice(0, unprintable.index));
    faults.push(`must only contain printable UTF-8 characters; non-printable character found at index ${index}`);
  }
  return invalidFor(path, warning, faults);
}

function validateScale(scale: JsonObject | undefined, path: string): FieldError[] {
  if (scale === undefined) return [];
  const selector = textAt(scale, 'labelSelectorPath');
  return [
    ...validateScalePath(scale, 'specReplicasPath', ['.spec.'], 'should be a json path under .spec', path),
    ...validateScalePath(scale, 'statusReplicasPath', ['.status.'], 'should be a json path under .status', path),
    ...(selector === ''
      ? []
      : validateScalePath(
          scale,
          'labelSelectorPath',
          ['.spec.', '.status.'],
          'should be a json path under either .spec or .status',
          path,
        )),
  ];
}

function validateScalePath(
  scale: JsonObject,
  field: string,
  roots: readonly string[],
  detail: string,
  path: string,
): FieldError[] {
  const value = textAt(scale, field);
  const at = `${path}.${field}`;
  if (value === '') return [required(at)];
  if (!value.startsWith('.')) return [invalidValue(at, value, NO_SIMPLE_PATH)];
  return roots.some((root) => value.startsWith(root)) ? [] : [invalidValue(at, value, detail)];
}

const NO_SIMPLE_PATH = 'must be a simple json path starting with .';
const COLUMN_TYPES = ['boolean', 'date', 'integer', 'number', 'string'];
const COLUMN_FORMATS = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];

function validateColumn(column: JsonObject, path: string): FieldError[] {
  const type = textAt(column, 'type');
  const format = textAt(column, 'format');
  const jsonPath = textAt(column, 'jsonPath');
  const errors = textAt(column, 'name') === '' ? [required(`${path}.name`)] : [];
  const types = `must be one of ${COLUMN_TYPES.join(',')}`;
  if (type === '') errors.push(required(`${path}.type`, types));
  else if (!COLUMN_TYPES.includes(type)) errors.push(invalidValue(`${path}.type`, type, types));
  if (format !== '' && !COLUMN_FORMATS.includes(format)) {
    errors.push(invalidValue(`${path}.format`, format, `must be one of ${COLUMN_FORMATS.join(',')}`));
  }
  if (jsonPath === '') errors.push(required(`${path}.JSONPath`));
  else if (!jsonPath.startsWith('.')) errors.push(invalidValue(`${path}.JSONPath`, jsonPath, NO_SIMPLE_PATH));
  else errors.push(...validateJsonPath(jsonPath, `${path}.JSONPath`));
  return errors;
}

/** kube-apiserver takes any path and then shows none of the columns; it is kinder to say what is wrong with it. */
function validateJsonPath(jsonPath: string, path: string): FieldError[] {
  try {
    compileJsonPath(jsonPath);
    return [];
  } catch (error) {
    return [invalidValue(path, jsonPath, error instanceof Error ? error.message : String(error))];
  }
}

const MOST_SELECTABLE = 8;
const SELECTABLE_TYPES = ['string', 'boolean', 'integer'];

function validateSelectableFields(version: JsonObject, schema: JsonObject | undefined, path: string): FieldError[] {
  const seen = new Set<string>();
  const errors = objectsAt(version, 'selectableFields').flatMap((field, i) => {
    const at = `${path}[${i}].jsonPath`;
    const jsonPath = textAt(field, 'jsonPath');
    if (jsonPath === '') return [required(at)];
    const wrong = (detail: string): FieldError[] => [invalidValue(at, jsonPath, detail)];
    const found = schema === undefined ? undefined : fieldAt(schema, jsonPath);
    if (found === undefined) return wrong('is an invalid path: does not refer to a valid field');
    const isTaken = seen.has(jsonPath);
    seen.add(jsonPath);
    return [
      ...(/^\.metadata\b/.test(jsonPath) ? wrong('must not point to fields in metadata') : []),
      ...(SELECTABLE_TYPES.includes(textAt(found, 'type'))
        ? []
        : wrong(
            'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
          )),
      ...(isTaken ? [duplicate(at, jsonPath)] : []),
    ];
  });
  return seen.size > MOST_SELECTABLE ? [...errors, tooMany(path, seen.size, MOST_SELECTABLE)] : errors;
}

/** The schema of the field that `.spec.colour` or `.spec['my.colour']` names. */
function fieldAt(schema: JsonObject, jsonPath: string): JsonObject | undefined {
  if (!/^(?:\.[A-Za-z_$][\w$-]*|\['[^']*'\])+$/.test(jsonPath)) return undefined;
  let found: JsonObject | undefined = schema;
  for (const [, plain, quoted] of jsonPath.matchAll(/\.([\w$-]+)|\['([^']*)'\]/g)) {
    const properties: JsonObject | undefined = objectAt(found, 'properties');
    const name = plain ?? quoted ?? '';
    found = properties !== undefined && Object.hasOwn(properties, name) ? objectAt(properties, name) : undefined;
  }
  return found;
}
