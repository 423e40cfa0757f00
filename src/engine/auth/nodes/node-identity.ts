import type { UserInfo } from '../../../api/admission.ts';

export const NODES = 'system:nodes';
export const NODE_PREFIX = 'system:node:';

/** Which node somebody is; empty for one that does not say which, undefined for who is none. */
export function nodeNameOf({ username, groups }: UserInfo): string | undefined {
  if (!username.startsWith(NODE_PREFIX) || !groups.includes(NODES)) return undefined;
  return username.slice(NODE_PREFIX.length);
}
