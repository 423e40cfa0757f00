import { equalJson, type JsonObject } from '../../../api/json.ts';
import type { FieldError } from '../../../api/status.ts';
import { defineBuiltin, statusSubresource } from '../builtin-kind.ts';
import { ageColumn, column, nameColumn } from '../columns.ts';
import { forbiddenField, invalidValue, nonNegative, unsupported } from '../field-errors.ts';
import { selects } from '../label-selectors.ts';
import { validateAnnotations, validateLabels } from '../metadata.ts';
import {
  fill,
  fillAbsent,
  isAbsent,
  membersAt,
  numberAt,
  objectAt,
  objectMadeAt,
  specOf,
  statusOf,
  textAt,
  textMapAt,
} from '../reading.ts';
import { defaultTemplate, templateSelector } from './pod-template.ts';
import { scaleSubresource, validateSelector } from './selector.ts';
import { containerColumns } from './workload-columns.ts';
import { validateCollisions, validateCounts, validateLimits } from './workload-status.ts';

const of = { group: 'apps', version: 'v1', kind: 'StatefulSet' };

export const statefulSets = defineBuiltin({
  ...of,
  plural: 'statefulsets',
  shortNames: ['sts'],
  categories: ['all'],
  namespaced: true,
  subresources: [scaleSubresource, statusSubresource(of)],
  qualifiedFinalizers: true,
  columns: [
    nameColumn,
    column('Ready', { description: 'Ready pods of those wanted.' }, (set) => {
      const ready = numberAt(statusOf(set), 'readyReplicas');
      return `${ready}/${numberAt(specOf(set), 'replicas')}`;
    }),
    ageColumn,
    ...containerColumns,
  ],
  hasGeneration: true,

  defaults(set) {
    const spec = objectMadeAt(set, 'spec');
    fill(spec, 'podManagementPolicy', 'OrderedReady');
    const strategy = objectMadeAt(spec, 'updateStrategy');
    if (textAt(strategy, 'type') === '') {
      strategy['type'] = 'RollingUpdate';
      fillAbsent(strategy, 'rollingUpdate', {});
    }
    const rolling = objectAt(strategy, 'rollingUpdate');
    if (strategy['type'] === 'RollingUpdate' && rolling !== undefined) fillAbsent(rolling, 'partition', 0);
    const retention = objectMadeAt(spec, 'persistentVolumeClaimRetentionPolicy');
    fill(retention, 'whenDeleted', 'Retain');
    fill(retention, 'whenScaled', 'Retain');
    fillAbsent(spec, 'replicas', 1);
    fillAbsent(spec, 'revisionHistoryLimit', 10);
    defaultTemplate(spec);
    for (const claim of membersAt(spec, 'volumeClaimTemplates')) defaultClaim(claim);
    defaultStatus(set);
  },

  prepare(set, old) {
    if (old === undefined) defaultStatus(set);
  },

  validate(set, old) {
    const spec = specOf(set);
    return [
      ...validatePolicies(spec),
      ...nonNegative('spec.replicas', numberAt(spec, 'replicas')),
      ...nonNegative('spec.minReadySeconds', numberAt(spec, 'minReadySeconds')),
      ...nonNegative('spec.ordinals.start', numberAt(objectAt(spec, 'ordinals'), 'start')),
      ...validateSelector(spec, 'empty selector is invalid for statefulset', ''),
      ...validateTemplate(spec),
      ...(old === undefined ? [] : validateSpecChange(spec, specOf(old))),
      ...(old === undefined ? [] : validateStatus(statusOf(set), statusOf(old))),
    ];
  },

  generationChangesWith: (set, old) => !equalJson(specOf(set), specOf(old)),
});

function defaultStatus(set: JsonObject): void {
  const status = objectMadeAt(set, 'status');
  fillAbsent(status, 'replicas', 0);
  fillAbsent(status, 'availableReplicas', 0);
}

/** Claims in a template are whole objects: they say what they are. */
function defaultClaim(claim: JsonObject): void {
  fill(claim, 'apiVersion', 'v1');
  fill(claim, 'kind', 'PersistentVolumeClaim');
  fill(objectMadeAt(claim, 'spec'), 'volumeMode', 'Filesystem');
  fill(objectMadeAt(claim, 'status'), 'phase', 'Pending');
}

function validatePolicies(spec: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  const management = textAt(spec, 'podManagementPolicy');
  if (!['OrderedReady', 'Parallel'].includes(management)) {
    errors.push(invalidValue('spec.podManagementPolicy', management, "must be 'OrderedReady' or 'Parallel'"));
  }
  const strategy = objectAt(spec, 'updateStrategy') ?? {};
  const rolling = objectAt(strategy, 'rollingUpdate');
  const path = 'spec.updateStrategy';
  switch (textAt(strategy, 'type')) {
    case 'RollingUpdate':
      errors.push(...nonNegative(`${path}.rollingUpdate.partition`, numberAt(rolling, 'partition')));
      break;
    case 'OnDelete':
      if (rolling !== undefined) {
        const detail = "only allowed for updateStrategy 'RollingUpdate'";
        errors.push(invalidValue(`${path}.rollingUpdate`, rolling, detail));
      }
      break;
    default:
      errors.push(invalidValue(path, strategy, "must be 'RollingUpdate' or 'OnDelete'"));
  }
  const retention = objectAt(spec, 'persistentVolumeClaimRetentionPolicy');
  for (const field of ['whenDeleted', 'whenScaled']) {
    const policy = textAt(retention, field);
    if (policy === 'Retain' || policy === 'Delete') continue;
    const at = `spec.persistentVolumeClaimRetentionPolicy.${field}`;
    errors.push(unsupported(at, policy, ['Retain', 'Delete']));
  }
  return errors;
}

/** The pods themselves are judged when they are made: only then it is known which volumes the claims bring. */
function validateTemplate(spec: JsonObject): FieldError[] {
  const template = objectAt(spec, 'template');
  const metadata = objectAt(template, 'metadata');
  const podSpec = objectAt(template, 'spec');
  const selector = templateSelector(spec);
  const errors: FieldError[] = [];
  if (selector !== undefined && selector !== 'nothing' && !selects(selector, textMapAt(metadata, 'labels'))) {
    const detail = '`selector` does not match template `labels`';
    errors.push(invalidValue('spec.template.metadata.labels', metadata?.['labels'] ?? {}, detail));
  }
  const path = 'spec.template.spec';
  const policy = textAt(podSpec, 'restartPolicy');
  if (policy !== 'Always') errors.push(unsupported(`${path}.restartPolicy`, policy, ['Always']));
  if (!isAbsent(podSpec, 'activeDeadlineSeconds')) {
    const detail = 'activeDeadlineSeconds in StatefulSet is not Supported';
    errors.push(forbiddenField(`${path}.activeDeadlineSeconds`, detail));
  }
  return [
    ...errors,
    ...validateLabels(metadata?.['labels'], 'spec.template.labels'),
    ...validateAnnotations(metadata?.['annotations'], 'spec.template.annotations'),
  ];
}

const CHANGEABLE = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
];

function validateSpecChange(spec: JsonObject, before: JsonObject): FieldError[] {
  const fixed = (of: JsonObject) => Object.fromEntries(Object.entries(of).filter(([key]) => !CHANGEABLE.includes(key)));
  if (equalJson(fixed(spec), fixed(before))) return [];
  const quoted = CHANGEABLE.map((field) => `'${field}'`);
  const named = `${quoted.slice(0, -1).join(', ')} and ${quoted.at(-1)}`;
  return [forbiddenField('spec', `updates to statefulset spec for fields other than ${named} are forbidden`)];
}

const PARTS = ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'];

function validateStatus(status: JsonObject, before: JsonObject): FieldError[] {
  if (equalJson(status, before)) return [];
  return [
    ...validateCounts(status, ['replicas', ...PARTS, 'observedGeneration', 'collisionCount']),
    ...validateLimits(status, PARTS, 'replicas'),
    ...validateLimits(status, ['availableReplicas'], 'readyReplicas'),
    ...validateCollisions(status, before),
  ];
}
