import type { Admission, AdmissionRequest, UserInfo } from '../../../api/admission.ts';
import { equalJson, type JsonObject } from '../../../api/json.ts';
import { builtinKind, type Kind } from '../../../api/kind.ts';
import { forbidden, notFound } from '../../../api/status.ts';
import { objectAt, textAt } from '../../builtin/reading.ts';
import { type Access, EVERYTHING } from '../access.ts';
import { ADMINISTRATORS } from '../identity.ts';
import { type PolicyRule, rulesIn, uncovered } from './policy-rule.ts';
import type { Rbac } from './rbac.ts';

const GROUP = 'rbac.authorization.k8s.io';
const ROLES = builtinKind(GROUP, 'v1', 'Role', 'roles');
const CLUSTER_ROLES = builtinKind(GROUP, 'v1', 'ClusterRole', 'clusterroles', 'Cluster');
const BINDINGS = builtinKind(GROUP, 'v1', 'RoleBinding', 'rolebindings');
const CLUSTER_BINDINGS = builtinKind(GROUP, 'v1', 'ClusterRoleBinding', 'clusterrolebindings', 'Cluster');

/** Nobody hands out what they do not hold, unless `escalate` (for roles) or `bind` (for bindings) lets them. */
export function escalationChecks(access: Access, rbac: Rbac): Admission[] {
  const requireHeld = (kind: Kind, { user, namespace, name }: AdmissionRequest, wanted: readonly PolicyRule[]) => {
    const missing = uncovered(access.rulesOf(user, namespace), wanted);
    if (missing.length > 0) throw forbidden(kind, name, refusal(user, missing));
  };
  const may = (user: UserInfo, verb: string, resource: string, namespace: string, name: string): boolean =>
    access.mayDo(user, { verb, group: GROUP, resource, subresource: '', namespace, name });

  const role = (kind: Kind): Admission => ({
    kind,
    operations: ['CREATE', 'UPDATE'],
    validate(request) {
      const { user, namespace, name, object, oldObject } = request;
      if (user.groups.includes(ADMINISTRATORS)) return [];
      const [now, before] = [asJson(object), asJson(oldObject)];
      if (oldObject !== undefined && isSame(now, before, ['rules', 'aggregationRule'])) return [];
      if (may(user, 'escalate', kind.plural, namespace, name)) return [];
      // Who says which roles make up a role gives it whatever those come to allow.
      const wanted = now['aggregationRule'] === undefined ? rulesIn(now) : EVERYTHING;
      requireHeld(kind, request, wanted);
      return [];
    },
  });

  const binding = (kind: Kind): Admission => ({
    kind,
    operations: ['CREATE', 'UPDATE'],
    validate(request) {
      const { user, namespace, object, oldObject } = request;
      if (user.groups.includes(ADMINISTRATORS)) return [];
      const [now, before] = [asJson(object), asJson(oldObject)];
      if (oldObject !== undefined && isSame(now, before, ['subjects', 'roleRef'])) return [];
      const ref = objectAt(now, 'roleRef');
      const named = textAt(ref, 'name');
      const isLocal = textAt(ref, 'kind') === 'Role';
      const [kindOfRole, home] = isLocal ? [ROLES, namespace] : [CLUSTER_ROLES, ''];
      if (may(user, 'bind', kindOfRole.plural, namespace, named)) return [];
      const wanted = rbac.rulesOfRole(home, named);
      if (wanted === undefined) throw notFound(kindOfRole, named);
      requireHeld(kind, request, wanted);
      return [];
    },
  });

  return [role(ROLES), role(CLUSTER_ROLES), binding(BINDINGS), binding(CLUSTER_BINDINGS)];
}

const asJson = (object: unknown): JsonObject => (object ?? {}) as JsonObject;

const isSame = (now: JsonObject, before: JsonObject, fields: readonly string[]): boolean =>
  fields.every((field) => equalJson(now[field] ?? null, before[field] ?? null));

function refusal({ username, groups }: UserInfo, missing: readonly PolicyRule[]): string {
  const of = groups.length === 0 ? '' : ` (groups=${shown(groups, ' ')})`;
  const rules = missing.map((rule) => `\n${ruleText(rule)}`).join('');
  return `user ${JSON.stringify(username)}${of} is attempting to grant RBAC permissions not currently held:${rules}`;
}

function ruleText(rule: PolicyRule): string {
  const parts = [
    ['APIGroups', rule.apiGroups],
    ['Resources', rule.resources],
    ['ResourceNames', rule.resourceNames],
    ['NonResourceURLs', rule.nonResourceURLs],
    ['Verbs', rule.verbs],
  ] as const;
  return `{${parts.flatMap(([name, list]) => (list === undefined ? [] : `${name}:${shown(list, ' ')}`)).join(', ')}}`;
}

const shown = (texts: readonly string[], separator: string): string =>
  `[${texts.map((text) => JSON.stringify(text)).join(separator)}]`;
