import type { IncomingHttpHeaders } from 'node:http';
import type { UserInfo } from '../../api/admission.ts';
import { badRequest } from '../../api/status.ts';
import { type Access, type Attempt, refuseAccess } from '../auth/access.ts';
import { AUTHENTICATED, accountGroups, accountIn, anonymous } from '../auth/identity.ts';

/**
 * Who a request is to be judged as: whoever its headers name, where the asker may speak for others (`kubectl --as`).
 * An answer given as the asker instead would show rights that the other does not have.
 */
export function impersonated(access: Pick<Access, 'mayDo'>, asker: UserInfo, headers: IncomingHttpHeaders): UserInfo {
  const username = textOf(headers['impersonate-user']);
  const groups = groupsOf(headers['impersonate-group']);
  const uid = textOf(headers['impersonate-uid']);
  if (username === '') {
    if (groups.length === 0 && uid === '' && !Object.keys(headers).some((name) => name.startsWith(EXTRA))) return asker;
    throw badRequest('Impersonate-Group, Impersonate-Uid and Impersonate-Extra headers need an Impersonate-User');
  }
  const requireRight = (attempt: Pick<Attempt, 'resource' | 'name'> & Partial<Attempt>): void => {
    const whole: Attempt = { verb: 'impersonate', group: '', subresource: '', namespace: '', ...attempt };
    if (!access.mayDo(asker, whole)) throw refuseAccess(asker, whole);
  };
  const account = accountIn(username);
  if (account === undefined) requireRight({ resource: 'users', name: username });
  else requireRight({ resource: 'serviceaccounts', ...account });
  for (const group of groups) requireRight({ resource: 'groups', name: group });
  if (uid !== '') requireRight({ resource: 'uids', name: uid, group: 'authentication.k8s.io' });
  const own = groups.length > 0 || account === undefined ? groups : accountGroups(account.namespace);
  const all = username === anonymous.username ? [...own, ...anonymous.groups] : [...own, AUTHENTICATED];
  return { username, groups: [...new Set(all)], ...(uid === '' ? {} : { uid }) };
}

const EXTRA = 'impersonate-extra-';

const textOf = (header: string | string[] | undefined): string => [header ?? ''].flat().join(', ');

/** Node.js joins headers that come several times; no group of ours holds a comma. */
const groupsOf = (header: string | string[] | undefined): string[] =>
  textOf(header)
    .split(',')
    .map((group) => group.trim())
    .filter((group) => group !== '');
