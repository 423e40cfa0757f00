import { readFileSync } from 'node:fs';

/** What the host says about users: containers see its `/etc/passwd` and `/etc/group`. */
export interface HostUsers {
  /** The group that a user logs in with; root's when nobody knows the user. */
  groupOf(user: number): number;
  homeOf(user: number): string;
  /** Further groups that name the user as one of theirs. */
  groupsNaming(user: number): readonly number[];
}

interface Entry {
  readonly name: string;
  readonly group: number;
  readonly home: string;
}

export function hostUsers({ passwd = '/etc/passwd', group: groupFile = '/etc/group' } = {}): HostUsers {
  const members = membersIn(textOf(groupFile));
  const entries = new Map<number, Entry>();
  for (const line of textOf(passwd).split('\n')) {
    const [name = '', , user = '', group = '', , home = ''] = line.split(':');
    if (/^\d+$/.test(user) && /^\d+$/.test(group) && !entries.has(Number(user))) {
      entries.set(Number(user), { name, group: Number(group), home });
    }
  }
  return {
    groupOf: (user) => entries.get(user)?.group ?? 0,
    homeOf: (user) => entries.get(user)?.home || '/',
    groupsNaming: (user) => members.get(entries.get(user)?.name ?? '') ?? [],
  };
}

/** Names of users → the groups that name them. */
function membersIn(groups: string): ReadonlyMap<string, readonly number[]> {
  const found = new Map<string, number[]>();
  for (const line of groups.split('\n')) {
    const [, , group = '', names = ''] = line.split(':');
    if (!/^\d+$/.test(group)) continue;
    for (const name of names.split(',').filter((each) => each !== '')) {
      found.set(name, [...(found.get(name) ?? []), Number(group)]);
    }
  }
  return found;
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // A host without users of its own knows nobody.
    return '';
  }
}
