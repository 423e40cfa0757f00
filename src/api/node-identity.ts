import type { UserInfo } from './admission.ts';
import type { Kind } from './kind.ts';

export const NODES = 'system:nodes';
export const NODE_PREFIX = 'system:node:';

/** Which node somebody is; empty for one that does not say which, undefined for who is none. */
export function nodeNameOf({ username, groups }: UserInfo): string | undefined {
  if (!username.startsWith(NODE_PREFIX) || !groups.includes(NODES)) return undefined;
  return username.slice(NODE_PREFIX.length);
}

/**
 * What is said against a node that writes an object which belongs to a host: an agent may write only what belongs to its own.
 * `hosts`: of the object before and after the write, as far as there is one.
 */
export function hostObjection(
  node: string,
  { kind }: Pick<Kind, 'kind'>,
  hosts: readonly string[],
): string | undefined {
  const other = hosts.find((host) => host !== node);
  if (other === undefined) return undefined;
  const whose = other === '' ? 'for no host' : `for host "${other}"`;
  return `node "${node}" can only write objects of kind ${kind} that belong to itself, and this one is ${whose}`;
}
