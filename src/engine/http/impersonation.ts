import type { UserInfo } from '../../api/admission.ts';
import { badRequest } from '../../api/status.ts';
import { type Access, type Attempt, refuseAccess } from '../auth/access.ts';
import { AUTHENTICATED, accountGroups, accountIn, anonymous } from '../auth/identity.ts';

/**
 * Who a request is to be judged as: whoever its headers name, where the asker may speak for others (`kubectl --as`).
 * An answer given as the asker instead would show rights that the other does not have.
 */
export function impersonated(access: Pick<Access, 'mayDo'>, asker: UserInfo, headers: Headers): UserInfo {
  const username = headers['impersonate-user']?.[0] ?? '';
  const groups = (headers['impersonate-group'] ?? []).filter((group) => group !== '');
  const uid = headers['impersonate-uid']?.[0] ?? '';
  const extra = extraIn(headers);
  if (username === '') {
    if (groups.length === 0 && uid === '' && extra.length === 0) return asker;
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
  const group = 'authentication.k8s.io';
  if (uid !== '') requireRight({ resource: 'uids', name: uid, group });
  for (const [subresource, values] of extra) {
    for (const name of values) requireRight({ resource: 'userextras', subresource, name, group });
  }
  const own = groups.length > 0 || account === undefined ? groups : accountGroups(account.namespace);
  const all = username === anonymous.username ? [...own, ...anonymous.groups] : [...own, AUTHENTICATED];
  return {
    username,
    groups: [...new Set(all)],
    ...(uid === '' ? {} : { uid }),
    ...(extra.length === 0 ? {} : { extra: Object.fromEntries(extra) }),
  };
}

/** By their names in small letters, each with its values in the order in which they came. */
export type Headers = Readonly<Record<string, readonly string[] | undefined>>;

const EXTRA = 'impersonate-extra-';

/** What else is said of a user, by its keys: in a header's name, what may not stand there is written with percent signs. */
const extraIn = (headers: Headers): [key: string, values: readonly string[]][] =>
  Object.entries(headers).flatMap(([name, values = []]) =>
    name.startsWith(EXTRA) ? [[decoded(name.slice(EXTRA.length)).toLowerCase(), values]] : [],
  );

function decoded(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}
