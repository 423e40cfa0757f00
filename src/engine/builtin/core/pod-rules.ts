import { equalJson, type JsonObject } from '../../../api/json.ts';
import type { FieldError } from '../../../api/status.ts';
import { forbiddenField, IMMUTABLE, invalidValue, required } from '../field-errors.ts';
import { isDualStack, validateIp } from '../ip-text.ts';
import { entriesAt, isAbsent, objectAt, objectsAt, optionalNumberAt, specOf, statusOf, textAt } from '../reading.ts';
import { validatePodSpec } from './pod-spec-rules.ts';
import { validateTolerations } from './scheduling-rules.ts';

export function validatePod(pod: JsonObject, old: JsonObject | undefined): FieldError[] {
  const spec = specOf(pod);
  if (old === undefined) return [...validatePodSpec(spec, 'spec'), ...validateOfPod(spec), ...validateNew(spec)];
  // The spec of a pod that has not changed passed when it was written; status updates are many.
  const isChanged = !equalJson(spec, specOf(old));
  return [
    ...(isChanged
      ? [...validatePodSpec(spec, 'spec'), ...validateOfPod(spec), ...validateChange(spec, specOf(old))]
      : []),
    ...validateStatus(statusOf(pod), statusOf(old)),
  ];
}

/** What holds for pods, though not for templates of pods. */
function validateOfPod(spec: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  if (textAt(spec, 'serviceAccountName') === '') {
    for (const [i, volume] of objectsAt(spec, 'volumes').entries()) {
      for (const [j, source] of objectsAt(objectAt(volume, 'projected'), 'sources').entries()) {
        if (objectAt(source, 'serviceAccountToken') === undefined) continue;
        const path = `spec.volumes[${i}].projected.sources[${j}].serviceAccountToken`;
        errors.push(forbiddenField(path, 'must not be specified when serviceAccountName is not set'));
      }
    }
  }
  for (const list of CONTAINER_LISTS) {
    for (const [i, container] of objectsAt(spec, list).entries()) {
      const image = textAt(container, 'image');
      if (image === image.trim()) continue;
      const detail = 'must not have leading or trailing whitespace';
      errors.push(invalidValue(`spec.${list}[${i}].image`, image, detail));
    }
  }
  return errors;
}

const CONTAINER_LISTS = ['containers', 'initContainers'] as const;

function validateNew(spec: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  if (objectsAt(spec, 'ephemeralContainers').length > 0) {
    errors.push(forbiddenField('spec.ephemeralContainers', 'cannot be set on create'));
  }
  if (textAt(spec, 'nodeName') !== '' && objectsAt(spec, 'schedulingGates').length > 0) {
    errors.push(forbiddenField('spec.nodeName', 'cannot be set until all schedulingGates have been cleared'));
  }
  return errors;
}

/** A pod runs as it was made: little of its spec can change. */
function validateChange(spec: JsonObject, before: JsonObject): FieldError[] {
  for (const list of CONTAINER_LISTS) {
    if (objectsAt(spec, list).length !== objectsAt(before, list).length) {
      return [forbiddenField(`spec.${list}`, 'pod updates may not add or remove containers')];
    }
  }
  const errors: FieldError[] = [];
  for (const list of CONTAINER_LISTS) {
    for (const [i, container] of objectsAt(spec, list).entries()) {
      if (textAt(container, 'image') === '') errors.push(required(`spec.${list}[${i}].image`));
    }
  }
  if (isGated(before) && !onlyNarrows(spec, before)) {
    const detail = 'only additions to spec.nodeSelector are allowed (no mutations or deletions)';
    errors.push(invalidValue('spec.nodeSelector', spec['nodeSelector'], detail));
  }
  if (!equalJson(withoutChangeable(spec, before), before)) {
    const detail = `pod updates may not change fields other than ${CHANGEABLE.join(',')}\n`;
    errors.push(forbiddenField('spec', detail));
  }
  return [
    ...errors,
    ...validateDeadline(spec, before),
    ...validateOnlyAdded(spec, before),
    ...validateOnlyRemovedGates(spec, before),
  ];
}

const CHANGEABLE = [
  '`spec.containers[*].image`',
  '`spec.initContainers[*].image`',
  '`spec.activeDeadlineSeconds`',
  '`spec.tolerations` (only additions to existing tolerations)',
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
];

function validateDeadline(spec: JsonObject, before: JsonObject): FieldError[] {
  const path = 'spec.activeDeadlineSeconds';
  const now = optionalNumberAt(spec, 'activeDeadlineSeconds');
  const then = optionalNumberAt(before, 'activeDeadlineSeconds');
  if (then === undefined) return [];
  if (now === undefined) return [invalidValue(path, null, 'must not update from a positive integer to nil value')];
  return now > then ? [invalidValue(path, now, 'must be less than or equal to previous value')] : [];
}

function validateOnlyAdded(spec: JsonObject, before: JsonObject): FieldError[] {
  const timeless = ({ tolerationSeconds: _, ...rest }: JsonObject): JsonObject => rest;
  const kept = new Set(objectsAt(spec, 'tolerations').map((toleration) => sorted(timeless(toleration))));
  if (objectsAt(before, 'tolerations').every((toleration) => kept.has(sorted(timeless(toleration))))) {
    return validateTolerations(spec, 'spec.tolerations');
  }
  return [forbiddenField('spec.tolerations', 'existing toleration can not be modified except its tolerationSeconds')];
}

/** A text that is the same for equal flat objects. */
const sorted = (object: JsonObject): string =>
  JSON.stringify(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1)));

function validateOnlyRemovedGates(spec: JsonObject, before: JsonObject): FieldError[] {
  const known = new Set(objectsAt(before, 'schedulingGates').map((gate) => textAt(gate, 'name')));
  return objectsAt(spec, 'schedulingGates').flatMap((gate, i) => {
    const name = textAt(gate, 'name');
    if (known.has(name)) return [];
    const detail = `only deletion is allowed, but found new scheduling gate '${name}'`;
    return [forbiddenField(`spec.schedulingGates[${i}].name`, detail)];
  });
}

const isGated = (spec: JsonObject): boolean => objectsAt(spec, 'schedulingGates').length > 0;

/** While gates hold the pod back, its node selector may become narrower. */
function onlyNarrows(spec: JsonObject, before: JsonObject): boolean {
  const selector = objectAt(spec, 'nodeSelector') ?? {};
  return entriesAt(before, 'nodeSelector').every(
    ([key, value]) => Object.hasOwn(selector, key) && selector[key] === value,
  );
}

/** The new spec with the old values of all that may change, or has been looked at already. */
function withoutChangeable(spec: JsonObject, before: JsonObject): JsonObject {
  const munged = { ...spec };
  const restore = (field: string): void => {
    const value = before[field];
    if (value === undefined) delete munged[field];
    else munged[field] = value;
  };
  for (const list of CONTAINER_LISTS) {
    if (isAbsent(spec, list)) continue;
    const images = objectsAt(before, list).map((container) => container['image'] ?? '');
    munged[list] = objectsAt(spec, list).map((container, i) => ({ ...container, image: images[i] ?? '' }));
  }
  for (const field of ['activeDeadlineSeconds', 'schedulingGates', 'tolerations']) restore(field);
  const grace = optionalNumberAt(before, 'terminationGracePeriodSeconds');
  if (grace !== undefined && grace < 0 && spec['terminationGracePeriodSeconds'] === 1) {
    restore('terminationGracePeriodSeconds');
  }
  if (isGated(before)) restore('nodeSelector');
  return munged;
}

function validateStatus(status: JsonObject, before: JsonObject): FieldError[] {
  if (equalJson(status, before)) return [];
  const errors = [...validateIps(status, before, 'podIPs'), ...validateIps(status, before, 'hostIPs')];
  const qos = textAt(status, 'qosClass');
  if (qos !== '' && qos !== textAt(before, 'qosClass')) errors.push(invalidValue('status.qosClass', qos, IMMUTABLE));
  return errors;
}

function validateIps(status: JsonObject, before: JsonObject, field: string): FieldError[] {
  const known = new Set(objectsAt(before, field).map((entry) => textAt(entry, 'ip')));
  const addresses = objectsAt(status, field).map((entry) => textAt(entry, 'ip'));
  const path = `status.${field}`;
  const errors = addresses.flatMap((address, i) => (known.has(address) ? [] : validateIp(address, `${path}[${i}]`)));
  if (addresses.length > 1 && !isDualStack(addresses)) {
    errors.push(invalidValue(path, addresses, 'may specify no more than one IP for each IP family'));
  }
  return errors;
}
