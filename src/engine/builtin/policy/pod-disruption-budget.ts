import { equalJson, type Json, type JsonObject } from '../../../api/json.ts';
import type { FieldError } from '../../../api/status.ts';
import { validateAmount, validateAtMostAll } from '../apps/amounts.ts';
import { validateCounts } from '../apps/workload-status.ts';
import { defineBuiltin, statusSubresource } from '../builtin-kind.ts';
import { ageColumn, column, countColumn, nameColumn } from '../columns.ts';
import { invalidValue, unsupported } from '../field-errors.ts';
import { validateLabelSelector } from '../label-selectors.ts';
import { fillAbsent, isAbsent, numberAt, objectAt, objectMadeAt, specOf, statusOf, textAt } from '../reading.ts';

const of = { group: 'policy', version: 'v1', kind: 'PodDisruptionBudget' };
const COUNTS = ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'];

export const podDisruptionBudgets = defineBuiltin({
  ...of,
  plural: 'poddisruptionbudgets',
  shortNames: ['pdb'],
  namespaced: true,
  subresources: [statusSubresource(of)],
  qualifiedFinalizers: true,
  unconditionalUpdate: false,
  columns: [
    nameColumn,
    column('Min Available', { description: 'Pods that must stay.' }, (budget) =>
      amount(specOf(budget)['minAvailable']),
    ),
    column('Max Unavailable', { description: 'Pods that may be missing.' }, (budget) =>
      amount(specOf(budget)['maxUnavailable']),
    ),
    countColumn('Allowed Disruptions', 'Pods that may be evicted right now.', (budget) =>
      numberAt(statusOf(budget), 'disruptionsAllowed'),
    ),
    ageColumn,
  ],
  hasGeneration: true,

  defaults: defaultStatus,
  prepare(budget, old) {
    if (old === undefined) defaultStatus(budget);
  },

  validate(budget, old) {
    const isNewStatus = old !== undefined && !equalJson(statusOf(budget), statusOf(old));
    return [...validateSpec(specOf(budget)), ...(isNewStatus ? validateCounts(statusOf(budget), COUNTS) : [])];
  },

  generationChangesWith: (budget, old) => !equalJson(specOf(budget), specOf(old)),
});

const amount = (value: Json | undefined): string =>
  typeof value === 'number' || typeof value === 'string' ? String(value) : 'N/A';

function defaultStatus(budget: JsonObject): void {
  const status = objectMadeAt(budget, 'status');
  for (const field of COUNTS) fillAbsent(status, field, 0);
}

const EVICTION_POLICIES = ['AlwaysAllow', 'IfHealthyBudget'];

function validateSpec(spec: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  if (!isAbsent(spec, 'minAvailable') && !isAbsent(spec, 'maxUnavailable')) {
    errors.push(invalidValue('spec', spec, 'minAvailable and maxUnavailable cannot be both set'));
  }
  for (const field of ['minAvailable', 'maxUnavailable']) {
    if (isAbsent(spec, field)) continue;
    errors.push(...validateAmount(spec[field], `spec.${field}`), ...validateAtMostAll(spec[field], `spec.${field}`));
  }
  const policy = textAt(spec, 'unhealthyPodEvictionPolicy');
  if (!isAbsent(spec, 'unhealthyPodEvictionPolicy') && !EVICTION_POLICIES.includes(policy)) {
    errors.push(unsupported('spec.unhealthyPodEvictionPolicy', policy, EVICTION_POLICIES));
  }
  return [...errors, ...validateLabelSelector(objectAt(spec, 'selector') ?? {}, 'spec.selector')];
}
