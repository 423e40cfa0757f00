import type { JsonObject } from '../../../api/json.ts';
import type { FieldError } from '../../../api/status.ts';
import { defaultPodSpec } from '../core/pod-defaults.ts';
import { validatePodSpec } from '../core/pod-spec-rules.ts';
import { forbiddenField, invalidValue, unsupported } from '../field-errors.ts';
import { isEmptySelector, selects, validateLabelSelector } from '../label-selectors.ts';
import { validateAnnotations, validateLabels } from '../metadata.ts';
import { isAbsent, objectAt, objectMadeAt, objectsAt, textAt, textMapAt } from '../reading.ts';

/** Defaults of the pods that a workload makes. */
export function defaultTemplate(spec: JsonObject): void {
  defaultPodSpec(objectMadeAt(objectMadeAt(spec, 'template'), 'spec'));
}

/** The selector that the template's labels must match; undefined if it is not valid itself. */
export function templateSelector(spec: JsonObject): JsonObject | 'nothing' | undefined {
  const selector = objectAt(spec, 'selector');
  if (selector === undefined) return 'nothing';
  return validateLabelSelector(selector, '').length === 0 ? selector : undefined;
}

/** The template of a workload whose pods run for ever. */
export function validateTemplate(
  spec: JsonObject,
  selector: JsonObject | 'nothing' | undefined,
  // Deployments speak of the ReplicaSets that they make.
  kind = 'ReplicaSet',
): FieldError[] {
  if (selector === undefined) return [];
  const template = objectAt(spec, 'template') ?? {};
  const metadata = objectAt(template, 'metadata');
  const podSpec = objectAt(template, 'spec') ?? {};
  const errors: FieldError[] = [];
  const isSelected =
    selector !== 'nothing' && (isEmptySelector(selector) || selects(selector, textMapAt(metadata, 'labels')));
  if (!isSelected) {
    const detail = '`selector` does not match template `labels`';
    errors.push(invalidValue('spec.template.metadata.labels', metadata?.['labels'] ?? {}, detail));
  }
  return [
    ...errors,
    ...validateLabels(metadata?.['labels'], 'spec.template.labels'),
    ...validateAnnotations(metadata?.['annotations'], 'spec.template.annotations'),
    ...validatePodSpec(podSpec, 'spec.template.spec'),
    ...validateEndless(podSpec, kind),
  ];
}

function validateEndless(podSpec: JsonObject, kind: string): FieldError[] {
  const path = 'spec.template.spec';
  const errors: FieldError[] = [];
  if (objectsAt(podSpec, 'ephemeralContainers').length > 0) {
    errors.push(forbiddenField(`${path}.ephemeralContainers`, 'ephemeral containers not allowed in pod template'));
  }
  const policy = textAt(podSpec, 'restartPolicy');
  if (policy !== 'Always') errors.push(unsupported(`${path}.restartPolicy`, policy, ['Always']));
  if (!isAbsent(podSpec, 'activeDeadlineSeconds')) {
    const detail = `activeDeadlineSeconds in ${kind} is not Supported`;
    errors.push(forbiddenField(`${path}.activeDeadlineSeconds`, detail));
  }
  return errors;
}
