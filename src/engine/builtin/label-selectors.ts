import type { JsonObject } from '../../api/json.ts';
import type { FieldError } from '../../api/status.ts';
import { labelValueFaults, qualifiedNameFaults } from '../../api/syntax.ts';
import { forbiddenField, invalidFor, invalidValue, required } from './field-errors.ts';
import { validateLabels } from './metadata.ts';
import { entriesAt, objectsAt, textAt, textMapAt, textsAt } from './reading.ts';

/** What is wrong with a LabelSelector (`matchLabels` and `matchExpressions`). */
export function validateLabelSelector(selector: JsonObject, path: string): FieldError[] {
  return [
    ...validateLabels(selector['matchLabels'], `${path}.matchLabels`),
    ...objectsAt(selector, 'matchExpressions').flatMap((requirement, i) =>
      validateRequirement(requirement, `${path}.matchExpressions[${i}]`),
    ),
  ];
}

export const isEmptySelector = (selector: JsonObject): boolean =>
  entriesAt(selector, 'matchLabels').length + objectsAt(selector, 'matchExpressions').length === 0;

/** Whether a valid LabelSelector selects what has these labels. */
export function selects(selector: JsonObject, labels: ReadonlyMap<string, string>): boolean {
  for (const [key, value] of textMapAt(selector, 'matchLabels')) if (labels.get(key) !== value) return false;
  return objectsAt(selector, 'matchExpressions').every((requirement) => {
    const label = labels.get(textAt(requirement, 'key'));
    const isListed = label !== undefined && textsAt(requirement, 'values').includes(label);
    switch (textAt(requirement, 'operator')) {
      case 'In':
        return isListed;
      case 'NotIn':
        return !isListed;
      case 'Exists':
        return label !== undefined;
      default:
        return label === undefined;
    }
  });
}

/** A LabelSelector in the one-line form of list queries, sorted by key. */
export function selectorText(selector: JsonObject): string {
  const parts: [string, string][] = entriesAt(selector, 'matchLabels').map(([key, value]) => [key, `${key}=${value}`]);
  for (const requirement of objectsAt(selector, 'matchExpressions')) {
    const key = textAt(requirement, 'key');
    const values = textsAt(requirement, 'values').sort().join(',');
    const texts: Record<string, string> = {
      In: `${key} in (${values})`,
      NotIn: `${key} notin (${values})`,
      Exists: key,
      DoesNotExist: `!${key}`,
    };
    const text = texts[textAt(requirement, 'operator')];
    if (text === undefined) return '<invalid>';
    parts.push([key, text]);
  }
  return parts
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([, text]) => text)
    .join(',');
}

function validateRequirement(requirement: JsonObject, path: string): FieldError[] {
  const operator = textAt(requirement, 'operator');
  const key = textAt(requirement, 'key');
  const values = textsAt(requirement, 'values');
  const errors: FieldError[] = [];
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length === 0) {
      errors.push(required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
    }
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (values.length > 0) {
      errors.push(
        forbiddenField(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"),
      );
    }
  } else errors.push(invalidValue(`${path}.operator`, operator, 'not a valid selector operator'));
  errors.push(...invalidFor(`${path}.key`, key, qualifiedNameFaults(key)));
  for (const [i, value] of values.entries()) {
    errors.push(...invalidFor(`${path}.values[${i}]`, value, labelValueFaults(value)));
  }
  return errors;
}
