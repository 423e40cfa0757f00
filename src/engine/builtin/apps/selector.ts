import { equalJson, type JsonObject } from '../../../api/json.ts';
import type { FieldError } from '../../../api/status.ts';
import type { Subresource } from '../builtin-kind.ts';
import { IMMUTABLE, invalidValue, required } from '../field-errors.ts';
import { isEmptySelector, validateLabelSelector } from '../label-selectors.ts';
import { objectAt } from '../reading.ts';

/** `/scale` of workloads that are so and so many pods. */
export const scaleSubresource: Subresource = {
  name: 'scale',
  verbs: ['get', 'patch', 'update'],
  responseKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
  scale: { specReplicas: '.spec.replicas', statusReplicas: '.status.replicas', labelSelector: '.spec.selector' },
};

/** A selector that must be there and select something; what it says of an empty and of a wrong one differs by kind. */
export function validateSelector(spec: JsonObject, ifEmpty: string, ifWrong: string): FieldError[] {
  const selector = objectAt(spec, 'selector');
  if (selector === undefined) return [required('spec.selector')];
  if (isEmptySelector(selector)) return [invalidValue('spec.selector', selector, ifEmpty)];
  const errors = validateLabelSelector(selector, 'spec.selector');
  return errors.length === 0 ? [] : [...errors, invalidValue('spec.selector', selector, ifWrong)];
}

/** Whose pods a workload calls its own does not change: nobody would own those of before. */
export function validateSelectorUnchanged(spec: JsonObject, before: JsonObject): FieldError[] {
  if (equalJson(spec['selector'] ?? null, before['selector'] ?? null)) return [];
  return [invalidValue('spec.selector', spec['selector'], IMMUTABLE)];
}
