import type { UserInfo } from '../../api/admission.ts';
import { ApiError } from '../../api/status.ts';
import { ADMINISTRATORS } from './identity.ts';

/** What a request wants to do, in the words of Kubernetes authorization. */
export interface Attempt {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
}

/** Administrators may do everything, nobody else anything. Roles are not there yet. */
export const mayDo = (user: UserInfo, _attempt: Attempt): boolean => user.groups.includes(ADMINISTRATORS);

export const mayReadPath = (user: UserInfo, path: string): boolean =>
  OPEN_PATHS.some((open) => path === open || path.startsWith(`${open}/`)) || user.groups.includes(ADMINISTRATORS);

/** Readable by anyone, as the public-info role of a cluster has it. */
const OPEN_PATHS = ['/healthz', '/livez', '/readyz', '/version'];

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
