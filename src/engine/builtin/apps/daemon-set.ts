import { equalJson, type JsonObject } from '../../../api/json.ts';
import type { FieldError } from '../../../api/status.ts';
import { defineBuiltin, statusSubresource } from '../builtin-kind.ts';
import { ageColumn, column, countColumn, nameColumn } from '../columns.ts';
import { invalidValue, nonNegative, required, unsupported } from '../field-errors.ts';
import {
  fill,
  fillAbsent,
  metadataOf,
  numberAt,
  objectAt,
  objectMadeAt,
  specOf,
  statusOf,
  textAt,
  textMapAt,
} from '../reading.ts';
import { numberIn, validateAmount, validateAtMostAll } from './amounts.ts';
import { defaultTemplate, templateSelector, validateTemplate } from './pod-template.ts';
import { validateSelector, validateSelectorUnchanged } from './selector.ts';
import { containerColumns, selectorColumn } from './workload-columns.ts';
import { validateCollisions, validateCounts } from './workload-status.ts';

const of = { group: 'apps', version: 'v1', kind: 'DaemonSet' };

/** Counts the templates that a set has had; older clients tell the pods of one from those of another by it. */
const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation';

const statusCount = (name: string, description: string, field: string) =>
  countColumn(name, description, (set) => numberAt(statusOf(set), field));

export const daemonSets = defineBuiltin({
  ...of,
  plural: 'daemonsets',
  shortNames: ['ds'],
  categories: ['all'],
  namespaced: true,
  subresources: [statusSubresource(of)],
  qualifiedFinalizers: true,
  columns: [
    nameColumn,
    statusCount('Desired', 'Nodes that should run the pod.', 'desiredNumberScheduled'),
    statusCount('Current', 'Nodes that run the pod and should.', 'currentNumberScheduled'),
    statusCount('Ready', 'Nodes whose pod is ready.', 'numberReady'),
    statusCount('Up-to-date', 'Nodes whose pod is made from the newest template.', 'updatedNumberScheduled'),
    statusCount('Available', 'Nodes whose pod has been ready for long enough.', 'numberAvailable'),
    column('Node Selector', { description: 'Labels of the nodes that should run the pod.' }, nodeSelector),
    ageColumn,
    ...containerColumns,
    selectorColumn,
  ],
  hasGeneration: true,

  defaults(set) {
    const spec = objectMadeAt(set, 'spec');
    const strategy = objectMadeAt(spec, 'updateStrategy');
    fill(strategy, 'type', 'RollingUpdate');
    if (strategy['type'] === 'RollingUpdate') {
      const rolling = objectMadeAt(strategy, 'rollingUpdate');
      fillAbsent(rolling, 'maxUnavailable', 1);
      fillAbsent(rolling, 'maxSurge', 0);
    }
    fillAbsent(spec, 'revisionHistoryLimit', 10);
    defaultTemplate(spec);
    defaultStatus(set);
  },

  prepare(set, old) {
    if (old === undefined) defaultStatus(set);
    const before = old === undefined ? 0 : templateGeneration(old);
    const isNew = old === undefined || !equalJson(specOf(set)['template'] ?? null, specOf(old)['template'] ?? null);
    const annotations = objectMadeAt(objectMadeAt(set, 'metadata'), 'annotations');
    annotations[TEMPLATE_GENERATION] = String(isNew ? before + 1 : Math.max(before, 1));
  },

  validate(set, old) {
    const spec = specOf(set);
    return [
      ...validateSelector(spec, 'empty selector is invalid for daemonset', 'invalid label selector'),
      ...validateTemplate(spec, templateSelector(spec), 'DaemonSet'),
      ...nonNegative('spec.minReadySeconds', numberAt(spec, 'minReadySeconds')),
      ...nonNegative('spec.revisionHistoryLimit', numberAt(spec, 'revisionHistoryLimit')),
      ...validateStrategy(spec),
      ...(old === undefined ? [] : validateSelectorUnchanged(spec, specOf(old))),
      ...(old === undefined ? [] : validateStatus(statusOf(set), statusOf(old))),
    ];
  },

  generationChangesWith: (set, old) => !equalJson(specOf(set), specOf(old)),
});

function nodeSelector(set: JsonObject): string {
  const podSpec = objectAt(objectAt(specOf(set), 'template'), 'spec');
  const labels = [...textMapAt(podSpec, 'nodeSelector')].map(([key, value]) => `${key}=${value}`);
  return labels.sort().join(',') || '<none>';
}

const templateGeneration = (set: JsonObject): number =>
  Number.parseInt(textAt(objectAt(metadataOf(set), 'annotations'), TEMPLATE_GENERATION), 10) || 0;

const ALWAYS_SAID = ['currentNumberScheduled', 'numberMisscheduled', 'desiredNumberScheduled', 'numberReady'];
const COUNTS = [...ALWAYS_SAID, 'observedGeneration', 'updatedNumberScheduled', 'numberAvailable', 'numberUnavailable'];

function defaultStatus(set: JsonObject): void {
  const status = objectMadeAt(set, 'status');
  for (const field of ALWAYS_SAID) fillAbsent(status, field, 0);
}

function validateStrategy(spec: JsonObject): FieldError[] {
  const strategy = objectAt(spec, 'updateStrategy') ?? {};
  const path = 'spec.updateStrategy';
  switch (textAt(strategy, 'type')) {
    case 'OnDelete':
      return [];
    case 'RollingUpdate':
      return validateRolling(objectAt(strategy, 'rollingUpdate') ?? {}, `${path}.rollingUpdate`);
    default:
      return [unsupported(path, strategy, ['RollingUpdate', 'OnDelete'])];
  }
}

/** On a node there is either one pod too few for a while, or one too many. */
function validateRolling(rolling: JsonObject, path: string): FieldError[] {
  const unavailable = rolling['maxUnavailable'];
  const surge = rolling['maxSurge'];
  const errors = [
    ...validateAmount(unavailable, `${path}.maxUnavailable`),
    ...validateAmount(surge, `${path}.maxSurge`),
    ...validateAtMostAll(unavailable, `${path}.maxUnavailable`),
    ...validateAtMostAll(surge, `${path}.maxSurge`),
  ];
  const [mayMiss, mayExceed] = [numberIn(unavailable) !== 0, numberIn(surge) !== 0];
  if (mayMiss && mayExceed) {
    errors.push(invalidValue(`${path}.maxSurge`, surge, 'may not be set when maxUnavailable is non-zero'));
  }
  if (!mayMiss && !mayExceed) errors.push(required(`${path}.maxUnavailable`, 'cannot be 0 when maxSurge is 0'));
  return errors;
}

function validateStatus(status: JsonObject, before: JsonObject): FieldError[] {
  if (equalJson(status, before)) return [];
  return [...validateCounts(status, COUNTS), ...validateCollisions(status, before)];
}
