import { equalJson, type JsonObject } from '../../../api/json.ts';
import type { FieldError } from '../../../api/status.ts';
import { defineBuiltin, statusSubresource } from '../builtin-kind.ts';
import { ageColumn, countColumn, nameColumn } from '../columns.ts';
import { nonNegative } from '../field-errors.ts';
import { fillAbsent, numberAt, objectMadeAt, specOf, statusOf } from '../reading.ts';
import { defaultTemplate, templateSelector, validateTemplate } from './pod-template.ts';
import { scaleSubresource, validateSelector, validateSelectorUnchanged } from './selector.ts';
import { containerColumns, selectorColumn } from './workload-columns.ts';
import { validateCounts, validateLimits } from './workload-status.ts';

const of = { group: 'apps', version: 'v1', kind: 'ReplicaSet' };

export const replicaSets = defineBuiltin({
  ...of,
  plural: 'replicasets',
  shortNames: ['rs'],
  categories: ['all'],
  namespaced: true,
  subresources: [scaleSubresource, statusSubresource(of)],
  qualifiedFinalizers: true,
  columns: [
    nameColumn,
    countColumn('Desired', 'Pods wanted.', (set) => numberAt(specOf(set), 'replicas')),
    countColumn('Current', 'Pods that there are.', (set) => numberAt(statusOf(set), 'replicas')),
    countColumn('Ready', 'Pods that are ready.', (set) => numberAt(statusOf(set), 'readyReplicas')),
    ageColumn,
    ...containerColumns,
    selectorColumn,
  ],
  hasGeneration: true,

  defaults(set) {
    const spec = objectMadeAt(set, 'spec');
    fillAbsent(spec, 'replicas', 1);
    defaultTemplate(spec);
    fillAbsent(objectMadeAt(set, 'status'), 'replicas', 0);
  },

  prepare(set, old) {
    if (old === undefined) set['status'] = { replicas: 0 };
  },

  validate(set, old) {
    const spec = specOf(set);
    return [
      ...nonNegative('spec.replicas', numberAt(spec, 'replicas')),
      ...nonNegative('spec.minReadySeconds', numberAt(spec, 'minReadySeconds')),
      // In these words, though this is none.
      ...validateSelector(spec, 'empty selector is invalid for deployment', 'invalid label selector'),
      ...validateTemplate(spec, templateSelector(spec)),
      ...(old === undefined ? [] : validateSelectorUnchanged(spec, specOf(old))),
      ...(old === undefined ? [] : validateStatus(statusOf(set), statusOf(old))),
    ];
  },

  generationChangesWith: (set, old) => !equalJson(specOf(set), specOf(old)),
});

const PARTS = ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'];

function validateStatus(status: JsonObject, before: JsonObject): FieldError[] {
  if (equalJson(status, before)) return [];
  return [
    ...validateCounts(status, ['replicas', ...PARTS, 'observedGeneration']),
    ...validateLimits(status, PARTS, 'replicas'),
    ...validateLimits(status, ['availableReplicas'], 'readyReplicas', 'cannot be greater than readyReplicas'),
  ];
}
