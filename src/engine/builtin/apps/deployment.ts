import { equalJson, type Json, type JsonObject } from '../../../api/json.ts';
import type { FieldError } from '../../../api/status.ts';
import { defineBuiltin, statusSubresource } from '../builtin-kind.ts';
import { ageColumn, column, nameColumn, wideColumn } from '../columns.ts';
import { forbiddenField, IMMUTABLE, invalidValue, nonNegative, required, unsupported } from '../field-errors.ts';
import { isEmptySelector, selectorText, validateLabelSelector } from '../label-selectors.ts';
import {
  fill,
  fillAbsent,
  metadataOf,
  numberAt,
  objectAt,
  objectMadeAt,
  objectsAt,
  optionalNumberAt,
  specOf,
  statusOf,
  textAt,
} from '../reading.ts';
import { defaultTemplate, templateSelector, validateTemplate } from './pod-template.ts';

const of = { group: 'apps', version: 'v1', kind: 'Deployment' };

export const deployments = defineBuiltin({
  ...of,
  plural: 'deployments',
  shortNames: ['deploy'],
  categories: ['all'],
  namespaced: true,
  subresources: [
    {
      name: 'scale',
      verbs: ['get', 'patch', 'update'],
      responseKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
      scale: { specReplicas: '.spec.replicas', statusReplicas: '.status.replicas', labelSelector: '.spec.selector' },
    },
    statusSubresource(of),
  ],
  qualifiedFinalizers: true,
  columns: [
    nameColumn,
    column('Ready', { description: 'Ready pods of those wanted.' }, (deployment) => {
      const ready = numberAt(statusOf(deployment), 'readyReplicas');
      return `${ready}/${numberAt(specOf(deployment), 'replicas')}`;
    }),
    column('Up-to-date', { description: 'Pods made from the newest template.' }, (deployment) =>
      numberAt(statusOf(deployment), 'updatedReplicas'),
    ),
    column('Available', { description: 'Pods that have been ready for long enough.' }, (deployment) =>
      numberAt(statusOf(deployment), 'availableReplicas'),
    ),
    ageColumn,
    wideColumn('Containers', 'Names of the containers.', (deployment) => ofContainers(deployment, 'name')),
    wideColumn('Images', 'Images of the containers.', (deployment) => ofContainers(deployment, 'image')),
    wideColumn('Selector', 'Labels of the pods.', (deployment) =>
      selectorText(objectAt(specOf(deployment), 'selector') ?? {}),
    ),
  ],
  hasGeneration: true,

  defaults(deployment) {
    const spec = objectMadeAt(deployment, 'spec');
    fillAbsent(spec, 'replicas', 1);
    const strategy = objectMadeAt(spec, 'strategy');
    fill(strategy, 'type', 'RollingUpdate');
    if (strategy['type'] === 'RollingUpdate') {
      const rolling = objectMadeAt(strategy, 'rollingUpdate');
      fillAbsent(rolling, 'maxUnavailable', '25%');
      fillAbsent(rolling, 'maxSurge', '25%');
    }
    fillAbsent(spec, 'revisionHistoryLimit', 10);
    fillAbsent(spec, 'progressDeadlineSeconds', 600);
    defaultTemplate(spec);
  },

  validate(deployment, old) {
    const spec = specOf(deployment);
    return [...validateSpec(spec), ...(old === undefined ? [] : validateChange(deployment, old))];
  },

  // Annotations count too: they are copied to what the deployment makes.
  generationChangesWith: (deployment, old) =>
    !equalJson(specOf(deployment), specOf(old)) ||
    !equalJson(metadataOf(deployment)['annotations'] ?? {}, metadataOf(old)['annotations'] ?? {}),
});

function ofContainers(deployment: JsonObject, field: string): string {
  const containers = objectsAt(objectAt(objectAt(specOf(deployment), 'template'), 'spec'), 'containers');
  return containers.map((container) => textAt(container, field)).join(',');
}

function validateSpec(spec: JsonObject): FieldError[] {
  return [
    ...nonNegative('spec.replicas', numberAt(spec, 'replicas')),
    ...validateSelector(spec),
    ...validateTemplate(spec, templateSelector(spec)),
    ...validateStrategy(spec),
    ...nonNegative('spec.minReadySeconds', numberAt(spec, 'minReadySeconds')),
    ...nonNegative('spec.revisionHistoryLimit', numberAt(spec, 'revisionHistoryLimit')),
    ...validateDeadline(spec),
  ];
}

function validateSelector(spec: JsonObject): FieldError[] {
  const selector = objectAt(spec, 'selector');
  if (selector === undefined) return [required('spec.selector')];
  const errors = validateLabelSelector(selector, 'spec.selector');
  if (isEmptySelector(selector)) {
    errors.push(invalidValue('spec.selector', selector, 'empty selector is invalid for deployment'));
  }
  return errors.length > 0 && !isEmptySelector(selector)
    ? [...errors, invalidValue('spec.selector', selector, 'invalid label selector')]
    : errors;
}

function validateDeadline(spec: JsonObject): FieldError[] {
  const deadline = optionalNumberAt(spec, 'progressDeadlineSeconds');
  const path = 'spec.progressDeadlineSeconds';
  if (deadline === undefined) return [];
  const errors = nonNegative(path, deadline);
  if (deadline > numberAt(spec, 'minReadySeconds')) return errors;
  return [...errors, invalidValue(path, deadline, 'must be greater than minReadySeconds')];
}

function validateStrategy(spec: JsonObject): FieldError[] {
  const strategy = objectAt(spec, 'strategy') ?? {};
  const rolling = objectAt(strategy, 'rollingUpdate');
  const path = 'spec.strategy.rollingUpdate';
  switch (textAt(strategy, 'type')) {
    case 'Recreate':
      if (rolling === undefined) return [];
      return [forbiddenField(path, "may not be specified when strategy `type` is 'Recreate'")];
    case 'RollingUpdate':
      return validateRolling(rolling ?? {}, path);
    default:
      return [unsupported('spec.strategy', strategy, ['Recreate', 'RollingUpdate'])];
  }
}

function validateRolling(rolling: JsonObject, path: string): FieldError[] {
  const unavailable = rolling['maxUnavailable'];
  const surge = rolling['maxSurge'];
  const errors = [
    ...validateAmount(unavailable, `${path}.maxUnavailable`),
    ...validateAmount(surge, `${path}.maxSurge`),
  ];
  if (numberIn(unavailable) === 0 && numberIn(surge) === 0) {
    errors.push(invalidValue(`${path}.maxUnavailable`, unavailable, 'may not be 0 when `maxSurge` is 0'));
  }
  if (typeof unavailable === 'string' && PERCENT.test(unavailable) && numberIn(unavailable) > 100) {
    errors.push(invalidValue(`${path}.maxUnavailable`, unavailable, 'must not be greater than 100%'));
  }
  return errors;
}

const PERCENT = /^[0-9]+%$/;
const PERCENT_FAULT =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";

/** A number of pods, or a percentage of them. */
function validateAmount(amount: Json | undefined, path: string): FieldError[] {
  if (typeof amount === 'string') return PERCENT.test(amount) ? [] : [invalidValue(path, amount, PERCENT_FAULT)];
  return nonNegative(path, typeof amount === 'number' ? amount : 0);
}

const numberIn = (amount: Json | undefined): number => {
  if (typeof amount === 'number') return amount;
  return typeof amount === 'string' ? Number.parseInt(amount, 10) || 0 : 0;
};

const COUNTS = [
  'replicas',
  'updatedReplicas',
  'readyReplicas',
  'availableReplicas',
  'unavailableReplicas',
  'collisionCount',
];

function validateChange(deployment: JsonObject, old: JsonObject): FieldError[] {
  const selector = objectAt(specOf(deployment), 'selector');
  const errors: FieldError[] = [];
  if (!equalJson(selector ?? null, specOf(old)['selector'] ?? null)) {
    errors.push(invalidValue('spec.selector', selector, IMMUTABLE));
  }
  return [...errors, ...validateStatus(statusOf(deployment), statusOf(old))];
}

function validateStatus(status: JsonObject, before: JsonObject): FieldError[] {
  if (equalJson(status, before)) return [];
  const count = (field: string): number => numberAt(status, field);
  const errors = ['observedGeneration', ...COUNTS].flatMap((field) => nonNegative(`status.${field}`, count(field)));
  const most = (field: string, limit: string, detail: string): void => {
    if (count(field) > count(limit)) errors.push(invalidValue(`status.${field}`, count(field), detail));
  };
  for (const field of ['updatedReplicas', 'readyReplicas', 'availableReplicas']) {
    most(field, 'replicas', 'cannot be greater than status.replicas');
  }
  most('availableReplicas', 'readyReplicas', 'cannot be greater than readyReplicas');
  if (count('collisionCount') < numberAt(before, 'collisionCount')) {
    errors.push(invalidValue('status.collisionCount', count('collisionCount'), 'cannot be decremented'));
  }
  return errors;
}
