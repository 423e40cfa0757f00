import type { Kind } from '../api/kind.ts';

/** What a server must let controllers do, in the words of Kubernetes roles. */
export interface Right {
  readonly verbs: readonly string[];
  readonly kind: Kind;
  /** Empty for the objects themselves. */
  readonly subresource: string;
  /** Only objects of these names; of whatever name when left out. */
  readonly names?: readonly string[];
  /** Only there; everywhere when left out. */
  readonly namespace?: string;
}

/** Verbs are words with spaces between: `get list watch`. */
export const may = (verbs: string, kinds: readonly Kind[], subresource = ''): Right[] =>
  kinds.map((kind) => ({ verbs: verbs.split(' '), kind, subresource }));

/** What every informer of a kind does. */
export const mayHear = (...kinds: readonly Kind[]): Right[] => may('list watch', kinds);

/** To make an owner wait for its children, as `ownedBy` does: some servers ask for it with every child that is made. */
export const mayBlockDeletion = (...owners: readonly Kind[]): Right[] => may('update', owners, 'finalizers');
