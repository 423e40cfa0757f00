import type { JsonObject } from '../../../api/json.ts';
import type { FieldError } from '../../../api/status.ts';
import { type BuiltinKind, defineBuiltin } from '../builtin-kind.ts';
import { createdColumn, nameColumn } from '../columns.ts';
import { required } from '../field-errors.ts';
import { validateLabelSelector } from '../label-selectors.ts';
import { objectAt, objectsAt } from '../reading.ts';
import { RBAC, validateRules } from './policy-rules.ts';

const common = {
  group: RBAC,
  version: 'v1',
  nameRule: 'path' as const,
  qualifiedFinalizers: false,
  columns: [nameColumn, createdColumn],
};

export const roles: BuiltinKind = defineBuiltin({
  ...common,
  kind: 'Role',
  plural: 'roles',
  namespaced: true,
  validate: (role) => validateRules(role, true),
});

export const clusterRoles: BuiltinKind = defineBuiltin({
  ...common,
  kind: 'ClusterRole',
  plural: 'clusterroles',
  namespaced: false,
  validate: (role) => [...validateRules(role, false), ...validateAggregation(role)],
});

function validateAggregation(role: JsonObject): FieldError[] {
  const aggregation = objectAt(role, 'aggregationRule');
  if (aggregation === undefined) return [];
  const path = 'aggregationRule.clusterRoleSelectors';
  const selectors = objectsAt(aggregation, 'clusterRoleSelectors');
  if (selectors.length === 0) {
    return [required(path, 'at least one clusterRoleSelector required if aggregationRule is non-nil')];
  }
  return selectors.flatMap((selector, i) => validateLabelSelector(selector, `${path}[${i}]`));
}
