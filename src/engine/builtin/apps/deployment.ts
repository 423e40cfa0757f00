import { equalJson, type JsonObject } from '../../../api/json.ts';
import type { FieldError } from '../../../api/status.ts';
import { defineBuiltin, statusSubresource } from '../builtin-kind.ts';
import { ageColumn, column, nameColumn } from '../columns.ts';
import { forbiddenField, invalidValue, nonNegative, unsupported } from '../field-errors.ts';
import {
  fill,
  fillAbsent,
  metadataOf,
  numberAt,
  objectAt,
  objectMadeAt,
  optionalNumberAt,
  specOf,
  statusOf,
  textAt,
} from '../reading.ts';
import { numberIn, validateAmount, validateAtMostAll } from './amounts.ts';
import { defaultTemplate, templateSelector, validateTemplate } from './pod-template.ts';
import { scaleSubresource, validateSelector, validateSelectorUnchanged } from './selector.ts';
import { containerColumns, selectorColumn } from './workload-columns.ts';
import { validateCollisions, validateCounts, validateLimits } from './workload-status.ts';

const of = { group: 'apps', version: 'v1', kind: 'Deployment' };

export const deployments = defineBuiltin({
  ...of,
  plural: 'deployments',
  shortNames: ['deploy'],
  categories: ['all'],
  namespaced: true,
  subresources: [scaleSubresource, statusSubresource(of)],
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
    ...containerColumns,
    selectorColumn,
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

function validateSpec(spec: JsonObject): FieldError[] {
  return [
    ...nonNegative('spec.replicas', numberAt(spec, 'replicas')),
    ...validateSelector(spec, 'empty selector is invalid for deployment', 'invalid label selector'),
    ...validateTemplate(spec, templateSelector(spec)),
    ...validateStrategy(spec),
    ...nonNegative('spec.minReadySeconds', numberAt(spec, 'minReadySeconds')),
    ...nonNegative('spec.revisionHistoryLimit', numberAt(spec, 'revisionHistoryLimit')),
    ...validateDeadline(spec),
  ];
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
  return [...errors, ...validateAtMostAll(unavailable, `${path}.maxUnavailable`)];
}

const COUNTS = [
  'replicas',
  'updatedReplicas',
  'readyReplicas',
  'availableReplicas',
  'unavailableReplicas',
  'collisionCount',
];

const validateChange = (deployment: JsonObject, old: JsonObject): FieldError[] => [
  ...validateSelectorUnchanged(specOf(deployment), specOf(old)),
  ...validateStatus(statusOf(deployment), statusOf(old)),
];

function validateStatus(status: JsonObject, before: JsonObject): FieldError[] {
  if (equalJson(status, before)) return [];
  return [
    ...validateCounts(status, ['observedGeneration', ...COUNTS]),
    ...validateLimits(status, ['updatedReplicas', 'readyReplicas', 'availableReplicas'], 'replicas'),
    ...validateLimits(status, ['availableReplicas'], 'readyReplicas', 'cannot be greater than readyReplicas'),
    ...validateCollisions(status, before),
  ];
}
