import type { JsonObject } from '../../../api/json.ts';
import type { FieldError } from '../../../api/status.ts';
import { invalidValue, required } from '../field-errors.ts';
import { objectsAt, textsAt } from '../reading.ts';

export const RBAC = 'rbac.authorization.k8s.io';

/** What is wrong with the rules of a role. */
export const validateRules = (role: JsonObject, namespaced: boolean): FieldError[] =>
  objectsAt(role, 'rules').flatMap((rule, i) => validateRule(rule, `rules[${i}]`, namespaced));

function validateRule(rule: JsonObject, path: string, namespaced: boolean): FieldError[] {
  const isEmpty = (field: string) => textsAt(rule, field).length === 0;
  const errors = isEmpty('verbs') ? [required(`${path}.verbs`, 'verbs must contain at least one value')] : [];
  if (!isEmpty('nonResourceURLs')) {
    const urls = textsAt(rule, 'nonResourceURLs');
    const refuse = (why: string) => errors.push(invalidValue(`${path}.nonResourceURLs`, urls, why));
    if (namespaced) refuse('namespaced rules cannot apply to non-resource URLs');
    if (!['apiGroups', 'resources', 'resourceNames'].every(isEmpty)) {
      refuse('rules cannot apply to both regular resources and non-resource URLs');
    }
    return errors;
  }
  if (isEmpty('apiGroups')) {
    errors.push(required(`${path}.apiGroups`, 'resource rules must supply at least one api group'));
  }
  if (isEmpty('resources')) {
    errors.push(required(`${path}.resources`, 'resource rules must supply at least one resource'));
  }
  return errors;
}
