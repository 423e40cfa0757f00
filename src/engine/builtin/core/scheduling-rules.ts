import type { JsonObject } from '../../../api/json.ts';
import type { FieldError } from '../../../api/status.ts';
import { dnsLabelFaults, dnsSubdomainFaults, labelValueFaults, qualifiedNameFaults } from '../../../api/syntax.ts';
import { duplicate, forbiddenField, invalidFor, invalidValue, required, unsupported } from '../field-errors.ts';
import { validateLabelSelector } from '../label-selectors.ts';
import { isAbsent, numberAt, objectAt, objectsAt, optionalNumberAt, textAt, textMapAt, textsAt } from '../reading.ts';

export const TAINT_EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

export function validateTolerations(spec: JsonObject, path: string): FieldError[] {
  return objectsAt(spec, 'tolerations').flatMap((toleration, i) => validateToleration(toleration, `${path}[${i}]`));
}

function validateToleration(toleration: JsonObject, path: string): FieldError[] {
  const [key, operator, value, effect] = ['key', 'operator', 'value', 'effect'].map((field) =>
    textAt(toleration, field),
  );
  const errors = key ? invalidFor(`${path}.key`, key, qualifiedNameFaults(key)) : [];
  if (!key && operator !== 'Exists') {
    const detail = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
    errors.push(invalidValue(`${path}.operator`, operator, detail));
  }
  if (!isAbsent(toleration, 'tolerationSeconds') && effect !== 'NoExecute') {
    const detail = "effect must be 'NoExecute' when `tolerationSeconds` is set";
    errors.push(invalidValue(`${path}.effect`, effect, detail));
  }
  if (operator === '' || operator === 'Equal') {
    const faults = labelValueFaults(value ?? '');
    if (faults.length > 0) errors.push(invalidValue(`${path}.operator`, value, faults.join(';')));
  } else if (operator === 'Exists') {
    if (value) errors.push(invalidValue(`${path}.operator`, value, "value must be empty when `operator` is 'Exists'"));
  } else errors.push(unsupported(`${path}.operator`, operator, ['Equal', 'Exists']));
  if (effect && !TAINT_EFFECTS.includes(effect)) errors.push(unsupported(`${path}.effect`, effect, TAINT_EFFECTS));
  return errors;
}

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

export function validateAffinity(spec: JsonObject, path: string): FieldError[] {
  const affinity = objectAt(spec, 'affinity');
  const node = objectAt(affinity, 'nodeAffinity');
  const needed = objectAt(node, REQUIRED);
  return [
    ...(needed === undefined ? [] : validateNodeSelector(needed, `${path}.nodeAffinity.${REQUIRED}`)),
    ...objectsAt(node, PREFERRED).flatMap((term, i) => {
      const at = `${path}.nodeAffinity.${PREFERRED}[${i}]`;
      const preference = objectAt(term, 'preference') ?? {};
      return [...validateWeight(term, at), ...validateNodeTerm(preference, `${at}.preference`, 'any values')];
    }),
    ...['podAffinity', 'podAntiAffinity'].flatMap((kind) =>
      validatePodAffinity(objectAt(affinity, kind), `${path}.${kind}`),
    ),
  ];
}

function validateWeight(term: JsonObject, path: string): FieldError[] {
  const weight = numberAt(term, 'weight');
  return weight >= 1 && weight <= 100 ? [] : [invalidValue(`${path}.weight`, weight, 'must be in the range 1-100')];
}

function validateNodeSelector(selector: JsonObject, path: string): FieldError[] {
  const terms = objectsAt(selector, 'nodeSelectorTerms');
  if (terms.length === 0) return [required(`${path}.nodeSelectorTerms`, 'must have at least one node selector term')];
  return terms.flatMap((term, i) => validateNodeTerm(term, `${path}.nodeSelectorTerms[${i}]`, 'label values'));
}

function validateNodeTerm(term: JsonObject, path: string, values: 'label values' | 'any values'): FieldError[] {
  return [
    ...objectsAt(term, 'matchExpressions').flatMap((requirement, i) =>
      validateNodeLabel(requirement, `${path}.matchExpressions[${i}]`, values),
    ),
    ...objectsAt(term, 'matchFields').flatMap((requirement, i) =>
      validateNodeField(requirement, `${path}.matchFields[${i}]`),
    ),
  ];
}

function validateNodeLabel(
  requirement: JsonObject,
  path: string,
  valueRule: 'label values' | 'any values',
): FieldError[] {
  const errors: FieldError[] = [];
  const values = textsAt(requirement, 'values');
  const operator = textAt(requirement, 'operator');
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
  } else if (operator === 'Gt' || operator === 'Lt') {
    if (values.length !== 1) {
      errors.push(required(`${path}.values`, "must be specified single value when `operator` is 'Lt' or 'Gt'"));
    }
  } else errors.push(invalidValue(`${path}.operator`, operator, 'not a valid selector operator'));
  const key = textAt(requirement, 'key');
  errors.push(...invalidFor(`${path}.key`, key, qualifiedNameFaults(key)));
  if (valueRule === 'any values') return errors;
  return [
    ...errors,
    ...values.flatMap((value, i) => invalidFor(`${path}.values[${i}]`, value, labelValueFaults(value))),
  ];
}

function validateNodeField(requirement: JsonObject, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const values = textsAt(requirement, 'values');
  const operator = textAt(requirement, 'operator');
  if (operator !== 'In' && operator !== 'NotIn') {
    errors.push(invalidValue(`${path}.operator`, operator, 'not a valid selector operator'));
  } else if (values.length !== 1) {
    const detail = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
    errors.push(required(`${path}.values`, detail));
  }
  const key = textAt(requirement, 'key');
  if (key !== 'metadata.name') {
    return [...errors, invalidValue(`${path}.key`, key, 'not a valid field selector key')];
  }
  return [
    ...errors,
    ...values.flatMap((name, i) => invalidFor(`${path}.values[${i}]`, name, dnsSubdomainFaults(name))),
  ];
}

function validatePodAffinity(affinity: JsonObject | undefined, path: string): FieldError[] {
  return [
    ...objectsAt(affinity, REQUIRED).flatMap((term, i) => validatePodTerm(term, `${path}.${REQUIRED}[${i}]`)),
    ...objectsAt(affinity, PREFERRED).flatMap((weighted, i) => {
      const at = `${path}.${PREFERRED}[${i}]`;
      const term = objectAt(weighted, 'podAffinityTerm') ?? {};
      return [...validateWeight(weighted, at), ...validatePodTerm(term, `${at}.podAffinityTerm`)];
    }),
  ];
}

function validatePodTerm(term: JsonObject, path: string): FieldError[] {
  const selector = objectAt(term, 'labelSelector');
  const namespaces = objectAt(term, 'namespaceSelector');
  const topology = textAt(term, 'topologyKey');
  return [
    ...(selector === undefined ? [] : validateLabelSelector(selector, `${path}.labelSelector`)),
    ...(namespaces === undefined ? [] : validateLabelSelector(namespaces, `${path}.namespaceSelector`)),
    ...textsAt(term, 'namespaces').flatMap((name) => invalidFor(`${path}.namespace`, name, dnsLabelFaults(name))),
    ...['matchLabelKeys', 'mismatchLabelKeys'].flatMap((field) => validateLabelKeys(term, selector, field, path)),
    ...(topology === '' ? [required(`${path}.topologyKey`, 'can not be empty')] : []),
    ...invalidFor(`${path}.topologyKey`, topology, qualifiedNameFaults(topology)),
  ];
}

function validateLabelKeys(
  term: JsonObject,
  selector: JsonObject | undefined,
  field: string,
  path: string,
): FieldError[] {
  const keys = textsAt(term, field);
  if (keys.length === 0) return [];
  if (selector === undefined) {
    return [forbiddenField(`${path}.${field}`, 'must not be specified when labelSelector is not set')];
  }
  return keys.flatMap((key, i) => invalidFor(`${path}.${field}[${i}]`, key, qualifiedNameFaults(key)));
}

const WHEN_UNSATISFIABLE = ['DoNotSchedule', 'ScheduleAnyway'];
const INCLUSION_POLICIES = ['Honor', 'Ignore'];

export function validateTopologySpread(spec: JsonObject, path: string): FieldError[] {
  const constraints = objectsAt(spec, 'topologySpreadConstraints');
  const errors = constraints.flatMap((constraint, i) => validateConstraint(constraint, `${path}[${i}]`));
  const last = new Map<string, number>();
  const pairs = constraints.map((at) => `{${textAt(at, 'topologyKey')}, ${textAt(at, 'whenUnsatisfiable')}}`);
  for (const [i, pair] of pairs.entries()) last.set(pair, i);
  for (const [i, pair] of pairs.entries()) {
    if (last.get(pair) !== i) errors.push(duplicate(`${path}[${i}].{topologyKey, whenUnsatisfiable}`, pair));
  }
  return errors;
}

function validateConstraint(constraint: JsonObject, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const positive = (field: string, value: number): void => {
    if (value <= 0) errors.push(invalidValue(`${path}.${field}`, value, 'must be greater than zero'));
  };
  positive('maxSkew', numberAt(constraint, 'maxSkew'));
  if (textAt(constraint, 'topologyKey') === '') errors.push(required(`${path}.topologyKey`, 'can not be empty'));
  const action = textAt(constraint, 'whenUnsatisfiable');
  if (!WHEN_UNSATISFIABLE.includes(action)) {
    errors.push(unsupported(`${path}.whenUnsatisfiable`, action, WHEN_UNSATISFIABLE));
  }
  const domains = optionalNumberAt(constraint, 'minDomains');
  if (domains !== undefined) {
    positive('minDomains', domains);
    if (action !== 'DoNotSchedule') {
      const detail = `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${action}`;
      errors.push(invalidValue(`${path}.minDomains`, domains, detail));
    }
  }
  for (const field of ['nodeAffinityPolicy', 'nodeTaintsPolicy']) {
    const policy = textAt(constraint, field);
    if (!isAbsent(constraint, field) && !INCLUSION_POLICIES.includes(policy)) {
      errors.push(unsupported(`${path}.${field}`, policy, INCLUSION_POLICIES));
    }
  }
  const selector = objectAt(constraint, 'labelSelector');
  return [
    ...errors,
    ...validateSpreadKeys(constraint, selector, `${path}.matchLabelKeys`),
    ...(selector === undefined ? [] : validateLabelSelector(selector, `${path}.labelSelector`)),
  ];
}

function validateSpreadKeys(constraint: JsonObject, selector: JsonObject | undefined, path: string): FieldError[] {
  const keys = textsAt(constraint, 'matchLabelKeys');
  if (keys.length === 0) return [];
  const used = new Set(textMapAt(selector, 'matchLabels').keys());
  for (const requirement of objectsAt(selector, 'matchExpressions')) used.add(textAt(requirement, 'key'));
  return [
    ...(selector === undefined ? [forbiddenField(path, 'must not be specified when labelSelector is not set')] : []),
    ...keys.flatMap((key, i) => [
      ...invalidFor(`${path}[${i}]`, key, qualifiedNameFaults(key)),
      ...(used.has(key) ? [invalidValue(`${path}[${i}]`, key, 'exists in both matchLabelKeys and labelSelector')] : []),
    ]),
  ];
}
