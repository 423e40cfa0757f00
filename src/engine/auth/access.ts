import type { UserInfo } from '../../api/admission.ts';
import type { FieldTerm } from '../../api/field-selector.ts';
import { nodeNameOf } from '../../api/node-identity.ts';
import { ApiError } from '../../api/status.ts';
import { ADMINISTRATORS } from './identity.ts';
import type { NodeAuthorizer } from './nodes/node-authorizer.ts';
import type { PolicyRule } from './rbac/policy-rule.ts';
import type { Rbac } from './rbac/rbac.ts';

/** What a request wants to do, in the words of Kubernetes authorization. */
export interface Attempt {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  /** Of lists and watches, the one name that they select. */
  readonly name: string;
  /** What lists and watches select by. */
  readonly fields?: readonly FieldTerm[];
}

export interface Decision {
  readonly allowed: boolean;
  /** Why; empty where there is nothing to say. */
  readonly reason: string;
}

/** Decides who may do what: administrators everything, nodes what they need, and everybody what roles give them. */
export class Access {
  readonly #rbac: Rbac;
  readonly #nodes: NodeAuthorizer;

  constructor(rbac: Rbac, nodes: NodeAuthorizer) {
    this.#rbac = rbac;
    this.#nodes = nodes;
  }

  decide(user: UserInfo, attempt: Attempt): Decision {
    if (user.groups.includes(ADMINISTRATORS)) return { allowed: true, reason: '' };
    const asNode = this.#nodes.decide(user, attempt);
    if (asNode?.allowed === true) return { allowed: true, reason: '' };
    const grant = this.#rbac.grantFor(user, attempt);
    if (grant === undefined) return { allowed: false, reason: asNode?.reason ?? '' };
    const { namespace, name, role } = grant;
    const binding = namespace === '' ? `ClusterRoleBinding "${name}"` : `RoleBinding "${namespace}/${name}"`;
    return { allowed: true, reason: `RBAC: allowed by ${binding} of ${role.kind} "${role.name}"` };
  }

  mayDo(user: UserInfo, attempt: Attempt): boolean {
    return this.decide(user, attempt).allowed;
  }

  /** Throws 403, with the reason, for what may not be done. */
  require(user: UserInfo, attempt: Attempt): void {
    const { allowed, reason } = this.decide(user, attempt);
    if (!allowed) throw refuseAccess(user, attempt, reason);
  }

  mayUsePath(user: UserInfo, verb: string, path: string): boolean {
    return user.groups.includes(ADMINISTRATORS) || this.#rbac.grantForPath(user, verb, path) !== undefined;
  }

  /** Why `rulesOf` somebody may not be all; undefined where it is. */
  incompleteness(user: UserInfo): string | undefined {
    return nodeNameOf(user) === undefined ? undefined : 'node authorizer does not support user rule resolution';
  }

  /** All that roles let somebody do in a namespace, in the form in which `kubectl auth can-i --list` shows it. */
  rulesOf(user: UserInfo, namespace: string): readonly PolicyRule[] {
    return user.groups.includes(ADMINISTRATORS) ? EVERYTHING : this.#rbac.rulesOf(user, namespace);
  }
}

export const EVERYTHING: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
];

export function refuseAccess(user: UserInfo, attempt: Attempt, reason = ''): ApiError {
  const { verb, group, resource, subresource, namespace, name } = attempt;
  const plural = group === '' ? resource : `${resource}.${group}`;
  const what = subresource === '' ? resource : `${resource}/${subresource}`;
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace "${namespace}"`;
  const subject = name === '' ? `${plural} is forbidden` : `${plural} "${name}" is forbidden`;
  return new ApiError(
    403,
    'Forbidden',
    `${subject}: User "${user.username}" cannot ${verb} resource "${what}" in API group "${group}" ${where}${reason === '' ? '' : `: ${reason}`}`,
    { ...(name === '' ? {} : { name }), ...(group === '' ? {} : { group }), kind: resource },
  );
}

export const refusePath = (user: UserInfo, verb: string, path: string): ApiError =>
  new ApiError(403, 'Forbidden', `forbidden: User "${user.username}" cannot ${verb} path "${path}"`, {});
