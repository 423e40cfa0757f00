import { readFileSync } from 'node:fs';

/** What the host says about users: containers see its `/etc/passwd`. */
export interface HostUsers {
  /** The group that a user logs in with; root's when nobody knows the user. */
  groupOf(user: number): number;
  homeOf(user: number): string;
}

interface Entry {
  readonly group: number;
  readonly home: string;
}

export function hostUsers(file = '/etc/passwd'): HostUsers {
  const entries = new Map<number, Entry>();
  for (const line of textOf(file).split('\n')) {
    const [, , user = '', group = '', , home = ''] = line.split(':');
    if (/^\d+$/.test(user) && /^\d+$/.test(group) && !entries.has(Number(user))) {
      entries.set(Number(user), { group: Number(group), home });
    }
  }
  return {
    groupOf: (user) => entries.get(user)?.group ?? 0,
    homeOf: (user) => entries.get(user)?.home || '/',
  };
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // A host without users of its own knows nobody.
    return '';
  }
}
