import type { PolicyRule } from './policy-rule.ts';

/** Short ways to write rules, for the roles that every cluster has. */
export const READ = ['get', 'list', 'watch'];
export const WRITE = ['create', 'delete', 'deletecollection', 'patch', 'update'];
export const READ_WRITE = [...READ, ...WRITE];

const list = (text: string): string[] => text.split(' ');

/** `verbs` may be one text with spaces; the core group is written as an empty text. */
export const on = (verbs: string | readonly string[], group: string, resources: string): PolicyRule => ({
  verbs: typeof verbs === 'string' ? list(verbs) : verbs,
  apiGroups: [group],
  resources: list(resources),
});

export const named = (rule: PolicyRule, ...resourceNames: string[]): PolicyRule => ({ ...rule, resourceNames });

export const paths = (...nonResourceURLs: string[]): PolicyRule => ({ verbs: ['get'], nonResourceURLs });
