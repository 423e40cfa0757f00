import type { UserInfo } from '../../api/admission.ts';
import { ApiError } from '../../api/status.ts';
import { ADMINISTRATORS, AUTHENTICATED } from './identity.ts';

/** What a request wants to do, in the words of Kubernetes authorization. */
export interface Attempt {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
}

/** Administrators may do everything, others only ask about themselves. Roles are not there yet. */
export const mayDo = (user: UserInfo, { verb, group, resource }: Attempt): boolean =>
  rulesOf(user).resourceRules.some(
    (rule) => covers(rule.verbs, verb) && covers(rule.apiGroups, group) && covers(rule.resources, resource),
  );

export const mayReadPath = (user: UserInfo, path: string): boolean =>
  rulesOf(user).nonResourceRules.some(({ nonResourceURLs }) =>
    nonResourceURLs.some((url) => (url.endsWith('*') ? path.startsWith(url.slice(0, -1)) : path === url)),
  );

const covers = (allowed: readonly string[], asked: string): boolean => allowed.includes('*') || allowed.includes(asked);

export interface AccessRules {
  readonly resourceRules: readonly {
    readonly verbs: readonly string[];
    readonly apiGroups: readonly string[];
    readonly resources: readonly string[];
  }[];
  readonly nonResourceRules: readonly {
    readonly verbs: readonly string[];
    readonly nonResourceURLs: readonly string[];
  }[];
}

/** What somebody may do, in the form in which `kubectl auth can-i --list` shows it. */
export function rulesOf({ groups }: UserInfo): AccessRules {
  if (groups.includes(ADMINISTRATORS)) return EVERYTHING;
  return groups.includes(AUTHENTICATED) ? FOR_EVERYBODY_KNOWN : FOR_ANYONE;
}

const EVERYTHING: AccessRules = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
};

/** The public-info role of a cluster: health and version. */
const PUBLIC = ['/healthz', '/healthz/*', '/livez', '/livez/*', '/readyz', '/readyz/*', '/version', '/version/'];

const FOR_ANYONE: AccessRules = {
  resourceRules: [],
  nonResourceRules: [{ verbs: ['get'], nonResourceURLs: PUBLIC }],
};

/** The roles basic-user and discovery: who one is, what one may do, and what there is. */
const FOR_EVERYBODY_KNOWN: AccessRules = {
  resourceRules: [
    { verbs: ['create'], apiGroups: ['authentication.k8s.io'], resources: ['selfsubjectreviews'] },
    {
      verbs: ['create'],
      apiGroups: ['authorization.k8s.io'],
      resources: ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'],
    },
  ],
  nonResourceRules: [
    {
      verbs: ['get'],
      nonResourceURLs: [...PUBLIC, '/api', '/api/*', '/apis', '/apis/*', '/openapi', '/openapi/*'],
    },
  ],
};

export function refuseAccess(user: UserInfo, attempt: Attempt): ApiError {
  const { verb, group, resource, subresource, namespace, name } = attempt;
  const plural = group === '' ? resource : `${resource}.${group}`;
  const what = subresource === '' ? resource : `${resource}/${subresource}`;
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace "${namespace}"`;
  const subject = name === '' ? `${plural} is forbidden` : `${plural} "${name}" is forbidden`;
  return new ApiError(
    403,
    'Forbidden',
    `${subject}: User "${user.username}" cannot ${verb} resource "${what}" in API group "${group}" ${where}`,
    { ...(name === '' ? {} : { name }), ...(group === '' ? {} : { group }), kind: resource },
  );
}

export const refusePath = (user: UserInfo, verb: string, path: string): ApiError =>
  new ApiError(403, 'Forbidden', `forbidden: User "${user.username}" cannot ${verb} path "${path}"`, {});
