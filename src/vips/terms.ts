import type { Address } from '../api/address.ts';
import type { Service } from '../api/core/service.ts';

/** What decides whether a Service may share an address with others. */
export interface Terms {
  /** Empty: it shares with nobody. */
  readonly sharingKey: string;
  /** Which pods it leads to, where only their own hosts may answer for it; empty where any host may. */
  readonly backends: string;
  /** Such as `TCP/80`. */
  readonly ports: readonly string[];
}

/** A Service that uses an address. */
export interface User {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly terms: Terms;
  /** Of who is on record: which promise it is. Another one is made before an address is told, also to who has one. */
  readonly since?: string;
}

export const nameOf = ({ namespace, name }: { namespace: string; name: string }): string => `${namespace}/${name}`;

export function termsOf({ spec }: Service, sharingKey: string): Terms {
  const selector = Object.entries(spec.selector ?? {}).map(([key, value]) => `${key}=${value}`);
  return {
    sharingKey,
    backends: spec.externalTrafficPolicy === 'Local' ? selector.sort().join(',') : '',
    ports: [...new Set((spec.ports ?? []).map(({ protocol = 'TCP', port }) => `${protocol}/${port}`))].sort(),
  };
}

export const sameTerms = (a: Terms, b: Terms): boolean =>
  a.sharingKey === b.sharingKey &&
  a.backends === b.backends &&
  a.ports.length === b.ports.length &&
  a.ports.every((port, i) => port === b.ports[i]);

export const mayShare = (user: User, others: readonly User[]): boolean =>
  others.every((other) => agree(user.terms, other.terms) && commonPort(user.terms, other.terms) === undefined);

/** Why a Service cannot use an address beside these others, and what would be right; nothing when it can. */
export function sharingFault(user: User, others: readonly User[], address: Address): string | undefined {
  const stranger = others.find((other) => !agree(user.terms, other.terms));
  if (stranger !== undefined) {
    const names = others.map(nameOf).sort().join(',');
    return `can't change sharing key for "${nameOf(user)}", address also in use by ${names}: ${disagreement(user, stranger)}`;
  }
  for (const other of others) {
    const port = commonPort(user.terms, other.terms);
    if (port !== undefined) return `port ${port} is already in use on "${address}" by ${nameOf(other)}`;
  }
  return undefined;
}

const agree = (a: Terms, b: Terms): boolean =>
  a.sharingKey !== '' && a.sharingKey === b.sharingKey && a.backends === b.backends;

const commonPort = (a: Terms, b: Terms): string | undefined => a.ports.find((port) => b.ports.includes(port));

function disagreement({ terms: mine }: User, other: User): string {
  const { terms: theirs } = other;
  const name = nameOf(other);
  if (mine.sharingKey === '' && theirs.sharingKey === '')
    return 'neither has a sharing key (annotation metallb.io/allow-shared-ip)';
  if (mine.sharingKey === '')
    return `${name} shares it under the key "${theirs.sharingKey}", this Service has no sharing key`;
  if (theirs.sharingKey === '') return `${name} has no sharing key and shares it with nobody`;
  if (mine.sharingKey !== theirs.sharingKey) {
    return `the sharing key of ${name} is "${theirs.sharingKey}", the one of this Service is "${mine.sharingKey}"`;
  }
  return `both share under the key "${mine.sharingKey}", but ${backendsOf(mine)} and ${name} ${backendsOf(theirs, '')}: externalTrafficPolicy must be Cluster for both, or Local with the same selector`;
}

const backendsOf = ({ backends }: Terms, who = 'this Service '): string =>
  `${who}${backends === '' ? 'is answered by any host' : `only by hosts of pods with ${backends}`}`;
